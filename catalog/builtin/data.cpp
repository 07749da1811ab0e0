#include "catalog/builtin/data.hpp"

namespace ouzel::catalog {

namespace {

struct Entry {
   std::string_view name, text;
   // The length comes from the array's type: counting it at compile time would exceed gcc's loop limit.
   template <size_t size>
   constexpr Entry(std::string_view entryName, const char (&literal)[size])
      : name(entryName), text(literal, size - 1) {}
};

// One string literal for each catalog: it compiles fast, and the start of the process does not parse it.
constexpr Entry entries[] = {
    {
        "keywords",
#include "catalog/builtin/data/keywords.inc"
    },
    {
        "ouzel_proc",
#include "catalog/builtin/data/ouzel_proc.inc"
    },
    {
        "ouzel_relation",
#include "catalog/builtin/data/ouzel_relation.inc"
    },
    {
        "pg_aggregate",
#include "catalog/builtin/data/pg_aggregate.inc"
    },
    {
        "pg_am",
#include "catalog/builtin/data/pg_am.inc"
    },
    {
        "pg_amop",
#include "catalog/builtin/data/pg_amop.inc"
    },
    {
        "pg_amproc",
#include "catalog/builtin/data/pg_amproc.inc"
    },
    {
        "pg_auth_members",
#include "catalog/builtin/data/pg_auth_members.inc"
    },
    {
        "pg_authid",
#include "catalog/builtin/data/pg_authid.inc"
    },
    {
        "pg_cast",
#include "catalog/builtin/data/pg_cast.inc"
    },
    {
        "pg_collation",
#include "catalog/builtin/data/pg_collation.inc"
    },
    {
        "pg_conversion",
#include "catalog/builtin/data/pg_conversion.inc"
    },
    {
        "pg_description",
#include "catalog/builtin/data/pg_description.inc"
    },
    {
        "pg_language",
#include "catalog/builtin/data/pg_language.inc"
    },
    {
        "pg_namespace",
#include "catalog/builtin/data/pg_namespace.inc"
    },
    {
        "pg_opclass",
#include "catalog/builtin/data/pg_opclass.inc"
    },
    {
        "pg_operator",
#include "catalog/builtin/data/pg_operator.inc"
    },
    {
        "pg_opfamily",
#include "catalog/builtin/data/pg_opfamily.inc"
    },
    {
        "pg_proc",
#include "catalog/builtin/data/pg_proc.inc"
    },
    {
        "pg_range",
#include "catalog/builtin/data/pg_range.inc"
    },
    {
        "pg_shdescription",
#include "catalog/builtin/data/pg_shdescription.inc"
    },
    {
        "pg_tablespace",
#include "catalog/builtin/data/pg_tablespace.inc"
    },
    {
        "pg_ts_config",
#include "catalog/builtin/data/pg_ts_config.inc"
    },
    {
        "pg_ts_config_map",
#include "catalog/builtin/data/pg_ts_config_map.inc"
    },
    {
        "pg_ts_dict",
#include "catalog/builtin/data/pg_ts_dict.inc"
    },
    {
        "pg_ts_parser",
#include "catalog/builtin/data/pg_ts_parser.inc"
    },
    {
        "pg_ts_template",
#include "catalog/builtin/data/pg_ts_template.inc"
    },
    {
        "stop_words",
#include "catalog/builtin/data/stop_words.inc"
    },
    {
        "pg_type",
#include "catalog/builtin/data/pg_type.inc"
    },
    {
        "sql_features",
#include "catalog/builtin/data/sql_features.inc"
    },
    {
        "sql_implementation_info",
#include "catalog/builtin/data/sql_implementation_info.inc"
    },
    {
        "sql_parts",
#include "catalog/builtin/data/sql_parts.inc"
    },
    {
        "sql_sizing",
#include "catalog/builtin/data/sql_sizing.inc"
    },
    {
        "system_column",
#include "catalog/builtin/data/system_column.inc"
    },
    {
        "system_relation",
#include "catalog/builtin/data/system_relation.inc"
    },
};

} // namespace

std::string_view builtinText(std::string_view catalog) {
   for (const Entry& entry : entries)
      if (entry.name == catalog) return entry.text;
   return {};
}

std::string_view builtinName(std::string_view catalog) {
   for (const Entry& entry : entries)
      if (entry.name == catalog) return entry.name;
   return {};
}

} // namespace ouzel::catalog
