#include <fmt/format.h>

#include "catalog/object/function_text.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"

// CREATE FUNCTION and CREATE PROCEDURE as pg_get_functiondef() prints them.

namespace ouzel::catalog {

namespace {

std::string attributesOf(const Function& function) {
   std::string text;
   if (function.functionKind == FunctionKind::Window) text += " WINDOW";
   if (function.volatility == Volatility::Immutable) text += " IMMUTABLE";
   if (function.volatility == Volatility::Stable) text += " STABLE";
   if (function.parallel == 's') text += " PARALLEL SAFE";
   if (function.parallel == 'r') text += " PARALLEL RESTRICTED";
   if (function.isStrict) text += " STRICT";
   if (function.isSecurityDefiner) text += " SECURITY DEFINER";
   if (function.isLeakproof) text += " LEAKPROOF";
   if (function.cost != defaultCost(function.language)) text += fmt::format(" COST {:g}", function.cost);
   if (function.rows > 0 && function.rows != 1000) text += fmt::format(" ROWS {:g}", function.rows);
   return text.empty() ? text : text + "\n";
}

std::string literal(std::string_view value) {
   std::string text = "'";
   for (const char c : value)
      text += c == '\'' ? "''" : std::string(1, c);
   return text + "'";
}

/// Settings that are lists of names are shown with each name quoted.
std::string settingsOf(const Function& function) {
   std::string text;
   for (const auto& [name, value] : function.settings) {
      text += " SET " + quoteIdentifier(name) + " TO ";
      if (name != "search_path") {
         text += literal(value) + "\n";
         continue;
      }
      std::string list;
      for (size_t at = 0; at < value.size();) {
         const size_t end = std::min(value.find(',', at), value.size());
         std::string part = value.substr(at, end - at);
         part.erase(0, part.find_first_not_of(' '));
         if (part.size() > 1 && part.front() == '"') part = part.substr(1, part.size() - 2);
         list += (list.empty() ? "" : ", ") + literal(part);
         at = end + 1;
      }
      text += list + "\n";
   }
   return text;
}

} // namespace

std::optional<std::string> writtenBody(const Snapshot& snapshot, Oid oid) {
   const FunctionPtr function = snapshot.function(oid);
   if (!function || function->bodyForm == 's') return std::nullopt;
   constexpr std::string_view select = "SELECT ";
   if (function->bodyForm == 'r') return "RETURN " + function->source.substr(select.size());
   return "BEGIN ATOMIC\n " + function->source + ";\nEND";
}

std::optional<std::string> functionDefinition(const NameContext& context, Oid oid, const ShowExpression& show,
                                              const std::optional<std::string>& body) {
   const FunctionPtr function = context.snapshot.function(oid);
   if (!function) return std::nullopt;
   if (function->functionKind == FunctionKind::Aggregate)
      throw SqlError(sqlstate::wrongObjectType, "\"" + function->name + "\" is an aggregate function");
   const bool isProcedure = function->functionKind == FunctionKind::Procedure;
   const SchemaPtr schema = context.snapshot.schema(function->schema);
   std::string text = std::string("CREATE OR REPLACE ") + (isProcedure ? "PROCEDURE " : "FUNCTION ");
   text += (schema ? quoteIdentifier(schema->name) + "." : "") + quoteIdentifier(function->name) + "(";
   text += functionArguments(context, oid, show).value_or("") + ")\n";
   if (!isProcedure) text += " RETURNS " + functionResult(context, oid).value_or("") + "\n";
   text += " LANGUAGE " + std::string(languageName(function->language)) + "\n";
   text += attributesOf(*function) + settingsOf(*function);
   if (body) return text + *body + "\n";
   if (function->language == language_oid::c) {
      const size_t slash = function->source.find('/');
      return text + "AS '$libdir/" + function->source.substr(0, slash) + "', $function$" +
             function->source.substr(slash + 1) + "$function$\n";
   }
   std::string quote = isProcedure ? "$procedure" : "$function";
   while (function->source.find(quote) != std::string::npos)
      quote += 'x';
   quote += '$';
   return text + "AS " + quote + function->source + quote + "\n";
}

} // namespace ouzel::catalog
