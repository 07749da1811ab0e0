#include "engine/query/object_kind.hpp"

#include <array>

#include "common/error/sql_error.hpp"

namespace ouzel::engine {

namespace {

struct KindNames {
   ::ObjectType type;
   std::string_view name, noun;
};

constexpr KindNames kinds[] = {
    {OBJECT_ACCESS_METHOD, "ACCESS METHOD", "access method"},
    {OBJECT_AGGREGATE, "AGGREGATE", "aggregate"},
    {OBJECT_ATTRIBUTE, "TYPE", "type"},
    {OBJECT_CAST, "CAST", "cast"},
    {OBJECT_COLLATION, "COLLATION", "collation"},
    {OBJECT_COLUMN, "TABLE", "column"},
    {OBJECT_CONVERSION, "CONVERSION", "conversion"},
    {OBJECT_DATABASE, "DATABASE", "database"},
    {OBJECT_DOMAIN, "DOMAIN", "type"},
    {OBJECT_DOMCONSTRAINT, "DOMAIN", "type"},
    {OBJECT_EVENT_TRIGGER, "EVENT TRIGGER", "event trigger"},
    {OBJECT_EXTENSION, "EXTENSION", "extension"},
    {OBJECT_FDW, "FOREIGN DATA WRAPPER", "foreign-data wrapper"},
    {OBJECT_FOREIGN_SERVER, "SERVER", "server"},
    {OBJECT_FOREIGN_TABLE, "FOREIGN TABLE", "foreign table"},
    {OBJECT_FUNCTION, "FUNCTION", "function"},
    {OBJECT_INDEX, "INDEX", "index"},
    {OBJECT_LANGUAGE, "LANGUAGE", "language"},
    {OBJECT_LARGEOBJECT, "LARGE OBJECT", "large object"},
    {OBJECT_MATVIEW, "MATERIALIZED VIEW", "materialized view"},
    {OBJECT_OPCLASS, "OPERATOR CLASS", "operator class"},
    {OBJECT_OPERATOR, "OPERATOR", "operator"},
    {OBJECT_OPFAMILY, "OPERATOR FAMILY", "operator family"},
    {OBJECT_POLICY, "POLICY", "policy"},
    {OBJECT_PROCEDURE, "PROCEDURE", "procedure"},
    {OBJECT_PUBLICATION, "PUBLICATION", "publication"},
    {OBJECT_ROLE, "ROLE", "role"},
    {OBJECT_ROUTINE, "ROUTINE", "routine"},
    {OBJECT_RULE, "RULE", "rule"},
    {OBJECT_SCHEMA, "SCHEMA", "schema"},
    {OBJECT_SEQUENCE, "SEQUENCE", "sequence"},
    {OBJECT_STATISTIC_EXT, "STATISTICS", "statistics object"},
    {OBJECT_SUBSCRIPTION, "SUBSCRIPTION", "subscription"},
    {OBJECT_TABCONSTRAINT, "TABLE", "constraint"},
    {OBJECT_TABLE, "TABLE", "table"},
    {OBJECT_TABLESPACE, "TABLESPACE", "tablespace"},
    {OBJECT_TRANSFORM, "TRANSFORM", "transform"},
    {OBJECT_TRIGGER, "TRIGGER", "trigger"},
    {OBJECT_TSCONFIGURATION, "TEXT SEARCH CONFIGURATION", "text search configuration"},
    {OBJECT_TSDICTIONARY, "TEXT SEARCH DICTIONARY", "text search dictionary"},
    {OBJECT_TSPARSER, "TEXT SEARCH PARSER", "text search parser"},
    {OBJECT_TSTEMPLATE, "TEXT SEARCH TEMPLATE", "text search template"},
    {OBJECT_TYPE, "TYPE", "type"},
    {OBJECT_USER_MAPPING, "USER MAPPING", "user mapping"},
    {OBJECT_VIEW, "VIEW", "view"},
};

const KindNames& namesOf(::ObjectType type) {
   for (const KindNames& kind : kinds)
      if (kind.type == type) return kind;
   throwInternal("an unknown kind of objects");
}

} // namespace

std::string_view objectKindName(::ObjectType type) {
   return namesOf(type).name;
}

std::string_view objectKindNoun(::ObjectType type) {
   return namesOf(type).noun;
}

std::string_view tagOf(Verb verb, ::ObjectType type) {
   using Tags = std::array<std::string, std::size(kinds)>;
   static const std::array<Tags, 3> tags = [] {
      constexpr std::string_view verbs[] = {"CREATE ", "ALTER ", "DROP "};
      std::array<Tags, 3> all;
      for (size_t i = 0; i < all.size(); ++i)
         for (size_t k = 0; k < std::size(kinds); ++k)
            all[i][k] = std::string(verbs[i]) + std::string(kinds[k].name);
      return all;
   }();
   return tags[static_cast<size_t>(verb)][static_cast<size_t>(&namesOf(type) - kinds)];
}

} // namespace ouzel::engine
