#include "engine/setting/relation_options.hpp"

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"
#include "common/type/text_codec.hpp"
#include "sql/parse/node_access.hpp"

// Which options tables, views, indexes and columns have, as PostgreSQL's reloptions.c lists them.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

enum class OptionType : uint8_t { Boolean, Integer, Real, Enum };

struct OptionInfo {
   std::string_view name;
   unsigned owners; ///< bits of OptionOwner
   OptionType type = OptionType::Boolean;
   double minimum = 0, maximum = 0;
   std::span<const std::string_view> words = {}; ///< of an Enum
   std::string_view wordsDetail = {};
};

constexpr unsigned bit(OptionOwner owner) {
   return static_cast<unsigned>(owner);
}
constexpr unsigned table = bit(OptionOwner::Table), view = bit(OptionOwner::View), gin = bit(OptionOwner::Gin),
                   tables = table | bit(OptionOwner::ToastTable), btree = bit(OptionOwner::Btree),
                   gist = bit(OptionOwner::Gist), brin = bit(OptionOwner::Brin), column = bit(OptionOwner::Column),
                   filled = table | btree | bit(OptionOwner::Hash) | gist | bit(OptionOwner::SpGist);
constexpr std::string_view cleanupWords[] = {"auto", "on", "off", "true", "false", "yes", "no", "1", "0"},
                           bufferingWords[] = {"auto", "on", "off"}, checkWords[] = {"local", "cascaded"};
constexpr std::string_view onOffAuto = R"(Valid values are "on", "off", and "auto".)",
                           localCascaded = R"(Valid values are "local" and "cascaded".)";
using enum OptionType;

constexpr OptionInfo optionTable[] = {
    {"autosummarize", brin},
    {"autovacuum_enabled", tables},
    {"user_catalog_table", table},
    {"fastupdate", gin},
    {"security_barrier", view},
    {"security_invoker", view},
    {"vacuum_truncate", tables},
    {"deduplicate_items", btree},
    {"fillfactor", filled, Integer, 10, 100},
    {"autovacuum_vacuum_threshold", tables, Integer, 0, INT_MAX},
    {"autovacuum_vacuum_insert_threshold", tables, Integer, -1, INT_MAX},
    {"autovacuum_analyze_threshold", table, Integer, 0, INT_MAX},
    {"autovacuum_vacuum_cost_limit", tables, Integer, 1, 10000},
    {"autovacuum_freeze_min_age", tables, Integer, 0, 1000000000},
    {"autovacuum_multixact_freeze_min_age", tables, Integer, 0, 1000000000},
    {"autovacuum_freeze_max_age", tables, Integer, 100000, 2000000000},
    {"autovacuum_multixact_freeze_max_age", tables, Integer, 10000, 2000000000},
    {"autovacuum_freeze_table_age", tables, Integer, 0, 2000000000},
    {"autovacuum_multixact_freeze_table_age", tables, Integer, 0, 2000000000},
    {"log_autovacuum_min_duration", tables, Integer, -1, INT_MAX},
    {"toast_tuple_target", table, Integer, 128, 8160},
    {"pages_per_range", brin, Integer, 1, 131072},
    {"gin_pending_list_limit", gin, Integer, 64, INT_MAX},
    {"parallel_workers", table, Integer, 0, 1024},
    {"autovacuum_vacuum_cost_delay", tables, Real, 0, 100},
    {"autovacuum_vacuum_scale_factor", tables, Real, 0, 100},
    {"autovacuum_vacuum_insert_scale_factor", tables, Real, 0, 100},
    {"autovacuum_analyze_scale_factor", table, Real, 0, 100},
    {"vacuum_cleanup_index_scale_factor", btree, Real, 0, 1e10},
    {"n_distinct", column, Real, -1, DBL_MAX},
    {"n_distinct_inherited", column, Real, -1, DBL_MAX},
    {"vacuum_index_cleanup", tables, Enum, 0, 0, cleanupWords, onOffAuto},
    {"buffering", gist, Enum, 0, 0, bufferingWords, onOffAuto},
    {"check_option", view, Enum, 0, 0, checkWords, localCascaded},
};

[[noreturn]] void throwUnrecognized(std::string_view what, std::string_view name) {
   throw SqlError(sqlstate::invalidParameterValue,
                  "unrecognized " + std::string(what) + " \"" + std::string(name) + "\"");
}

[[noreturn]] void throwInvalid(std::string_view type, const OptionInfo& option, std::string_view value) {
   throw SqlError(sqlstate::invalidParameterValue, "invalid value for " + std::string(type) + " option \"" +
                                                       std::string(option.name) + "\": " + std::string(value));
}

/// A whole number, or one with a fraction that is rounded away; hexadecimal and octal as in C.
bool parseInteger(const std::string& text, double& out) {
   char* end = nullptr;
   out = static_cast<double>(std::strtoll(text.c_str(), &end, 0));
   if (*end == '.' || *end == 'e' || *end == 'E') out = std::rint(std::strtod(text.c_str(), &end));
   return end != text.c_str() && trimBlanks(end).empty() && out >= INT_MIN && out <= INT_MAX;
}

bool parseReal(const std::string& text, double& out) {
   char* end = nullptr;
   out = std::strtod(text.c_str(), &end);
   return end != text.c_str() && trimBlanks(end).empty() && !std::isnan(out);
}

void checkRange(const OptionInfo& option, double number, const std::string& value) {
   if (number >= option.minimum && number <= option.maximum) return;
   const auto print = [&](double limit) { // PostgreSQL prints the limits of real options with %f
      return option.type == Integer ? std::to_string(static_cast<int64_t>(limit)) : std::to_string(limit);
   };
   throw SqlError(sqlstate::invalidParameterValue,
                  "value " + value + " out of bounds for option \"" + std::string(option.name) + "\"")
       .detail("Valid values are between \"" + print(option.minimum) + "\" and \"" + print(option.maximum) + "\".");
}

void checkValue(const OptionInfo& option, const std::string& value) {
   double number = 0;
   bool truth = false;
   switch (option.type) {
   case Boolean:
      if (parseBoolean(value, truth) != ParseStatus::Ok) throwInvalid("boolean", option, value);
      return;
   case Integer:
      if (!parseInteger(value, number)) throwInvalid("integer", option, value);
      return checkRange(option, number, value);
   case Real:
      if (!parseReal(value, number)) throwInvalid("floating point", option, value);
      return checkRange(option, number, value);
   case Enum:
      if (std::find(option.words.begin(), option.words.end(), lowerCase(value)) == option.words.end())
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid value for enum option \"" + std::string(option.name) + "\": " + value)
             .detail(std::string(option.wordsDetail));
   }
}

std::string_view nameOf(std::string_view option) {
   return option.substr(0, option.find('='));
}

/// Checks options "name=value" in their order.
void checkAll(OptionOwner owner, const RelationOptions& options) {
   for (size_t i = 0; i < options.size(); ++i) {
      const std::string_view name = nameOf(options[i]);
      const auto* const info = std::find_if(std::begin(optionTable), std::end(optionTable), [&](const OptionInfo& o) {
         return o.name == name && (o.owners & bit(owner)) != 0;
      });
      if (info == std::end(optionTable)) throwUnrecognized("parameter", name);
      const auto before = options.begin() + static_cast<ptrdiff_t>(i);
      if (std::any_of(options.begin(), before, [&](const std::string& other) { return nameOf(other) == name; }))
         throw SqlError(sqlstate::invalidParameterValue,
                        "parameter \"" + std::string(name) + "\" specified more than once");
      checkValue(*info, options[i].substr(name.size() + 1));
   }
}

/// The value as its text is kept. A word without quotes has come as the name of a type.
std::string valueOf(const ::DefElem& option) {
   const ::Node* arg = option.arg;
   if (!arg) return "true";
   switch (nodeTag(arg)) {
   case T_Integer: return std::to_string(as<::Integer>(arg)->ival);
   case T_Float: return as<::Float>(arg)->fval;
   case T_Boolean: return as<::Boolean>(arg)->boolval ? "true" : "false";
   case T_String: return as<::String>(arg)->sval;
   case T_TypeName: return sql::joinNames(ListOf<>(as<::TypeName>(arg)->names));
   case T_List: return sql::joinNames(ListOf<>(as<::List>(arg)));
   default: throwInternal("value of a relation's option");
   }
}

/// The part of a list that stands in a namespace; "" for what stands in none.
RelationOptions inNamespace(const ::List* list, std::string_view space) {
   RelationOptions result;
   for (const ::DefElem* option : ListOf<::DefElem>(list))
      if (textOf(option->defnamespace) == space) result.push_back(option->defname + ("=" + valueOf(*option)));
   return result;
}

void requireNamespaces(OptionOwner owner, const ::List* list) {
   const bool hasToast = owner == OptionOwner::Table || owner == OptionOwner::View;
   for (const ::DefElem* option : ListOf<::DefElem>(list))
      if (option->defnamespace && !(hasToast && textOf(option->defnamespace) == "toast"))
         throwUnrecognized("parameter namespace", option->defnamespace);
}

/// `old` without the options that the list names.
RelationOptions without(RelationOptions old, const ::List* list) {
   for (const ::DefElem* named : ListOf<::DefElem>(list))
      if (!named->defnamespace)
         std::erase_if(old, [&](const std::string& option) { return nameOf(option) == named->defname; });
   return old;
}

/// Tables once had hidden OIDs: WITH (oids=false) still passes, at CREATE only.
bool takeOids(std::string_view option) {
   if (nameOf(option) != "oids") return false;
   bool wanted = false;
   if (parseBoolean(option.substr(nameOf(option).size() + 1), wanted) != ParseStatus::Ok)
      throw SqlError(sqlstate::syntaxError, "oids requires a Boolean value");
   if (wanted) throw SqlError(sqlstate::featureNotSupported, "tables declared WITH OIDS are not supported");
   return true;
}

} // namespace

OptionOwner indexOptionOwner(std::string_view method) {
   if (method == "btree") return OptionOwner::Btree;
   if (method == "hash") return OptionOwner::Hash;
   if (method == "gist") return OptionOwner::Gist;
   if (method == "spgist") return OptionOwner::SpGist;
   if (method == "gin") return OptionOwner::Gin;
   if (method == "brin") return OptionOwner::Brin;
   throw SqlError(sqlstate::undefinedObject, "access method \"" + std::string(method) + "\" does not exist");
}

RelationOptions checkedOptions(OptionOwner owner, const ::List* options) {
   requireNamespaces(owner, options);
   RelationOptions result = inNamespace(options, "");
   if (owner == OptionOwner::Table) std::erase_if(result, takeOids);
   checkAll(owner, result);
   checkAll(OptionOwner::ToastTable, inNamespace(options, "toast"));
   return result;
}

RelationOptions withOptions(OptionOwner owner, const RelationOptions& old, const ::List* changes) {
   requireNamespaces(owner, changes);
   RelationOptions result = without(old, changes);
   for (std::string& option : inNamespace(changes, ""))
      result.push_back(std::move(option));
   checkAll(owner, result);
   checkAll(OptionOwner::ToastTable, inNamespace(changes, "toast"));
   return result;
}

RelationOptions withoutOptions(OptionOwner owner, const RelationOptions& old, const ::List* names) {
   for (const ::DefElem* option : ListOf<::DefElem>(names))
      if (option->arg) throw SqlError(sqlstate::syntaxError, "RESET must not include values for parameters");
   requireNamespaces(owner, names);
   return without(old, names);
}

bool hasCheckOption(const RelationOptions& options) {
   return std::any_of(options.begin(), options.end(),
                      [](const std::string& option) { return nameOf(option) == "check_option"; });
}

} // namespace ouzel::engine
