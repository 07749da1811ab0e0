#include "engine/setting/set_statement.hpp"

#include <algorithm>

#include "catalog/object/search_path.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/type/text_codec.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

/// Settings whose value is a list; elements are quoted where needed and joined.
bool isListSetting(std::string_view name) {
   static constexpr std::string_view lists[] = {"search_path",
                                                "datestyle",
                                                "ouzel.audit",
                                                "local_preload_libraries",
                                                "session_preload_libraries",
                                                "shared_preload_libraries",
                                                "temp_tablespaces",
                                                "listen_addresses",
                                                "log_destination",
                                                "synchronous_standby_names",
                                                "unix_socket_directories",
                                                "wal_consistency_checking"};
   return std::ranges::find(lists, lowerCase(name)) != std::end(lists);
}

/// Those whose elements are names, with quotes in the value where a name needs them.
bool quotesElements(std::string_view name) {
   return name == "search_path" || name == "temp_tablespaces" || name.ends_with("_preload_libraries") ||
          name == "unix_socket_directories";
}

} // namespace

std::string constantText(const ::Node* node) {
   if (isNode(node, T_TypeCast)) return constantText(as<::TypeCast>(node)->arg); // SET TIME ZONE INTERVAL '...'
   if (!isNode(node, T_A_Const)) throwNotSupported("SET with an expression");
   const auto& constant = *as<::A_Const>(node);
   switch (nodeTag(&constant.val)) {
   case T_Integer: return std::to_string(constant.val.ival.ival);
   case T_Float: return constant.val.fval.fval;
   case T_Boolean: return constant.val.boolval.boolval ? "on" : "off";
   case T_String: return constant.val.sval.sval;
   default: throwNotSupported("SET with this kind of value");
   }
}

std::string valueOf(const ::VariableSetStmt& statement) {
   std::string value;
   const ListOf<> args(statement.args);
   if (args.size() > 1 && !isListSetting(textOf(statement.name)))
      throw SqlError(sqlstate::invalidParameterValue,
                     "SET " + std::string(statement.name) + " takes only one argument");
   for (const ::Node* arg : args) {
      std::string element = constantText(arg);
      // SET TIME ZONE INTERVAL '-08:00': east is positive, as in SET TIME ZONE with a number and unlike in a POSIX
      // zone's name.
      if (textOf(statement.name) == "timezone" && isNode(arg, T_TypeCast)) {
         const Value offset = parseText({oid::interval, -1, invalidOid}, element, SessionFormat());
         element = std::to_string(static_cast<double>(intervalSpan(offset.interval)) / 3.6e9);
      }
      if (quotesElements(textOf(statement.name))) element = catalog::quoteIdentifier(element);
      value += (value.empty() ? "" : ", ") + element;
   }
   return value;
}

} // namespace ouzel::engine
