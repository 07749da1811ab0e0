#include <fmt/format.h>

#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"

// CREATE FUNCTION and CREATE PROCEDURE as pg_get_functiondef() prints them.

namespace ouzel::catalog {

namespace {

struct Attributes {
   FunctionKind kind = FunctionKind::Function;
   Volatility volatility = Volatility::Volatile;
   char parallel = 'u';
   bool isStrict = false, isSecurityDefiner = false, isLeakproof = false;
   Oid language = invalidOid;
   float cost = 0, rows = 0;
   Oid support = invalidOid;
};

std::string textOf(const Attributes& attributes) {
   std::string text;
   if (attributes.kind == FunctionKind::Window) text += " WINDOW";
   if (attributes.volatility == Volatility::Immutable) text += " IMMUTABLE";
   if (attributes.volatility == Volatility::Stable) text += " STABLE";
   if (attributes.parallel == 's') text += " PARALLEL SAFE";
   if (attributes.parallel == 'r') text += " PARALLEL RESTRICTED";
   if (attributes.isStrict) text += " STRICT";
   if (attributes.isSecurityDefiner) text += " SECURITY DEFINER";
   if (attributes.isLeakproof) text += " LEAKPROOF";
   if (attributes.cost != defaultCost(attributes.language)) text += fmt::format(" COST {:g}", attributes.cost);
   if (attributes.rows > 0 && attributes.rows != 1000) text += fmt::format(" ROWS {:g}", attributes.rows);
   if (const FunctionInfo* support = builtins().function(attributes.support))
      text += " SUPPORT " + quoteIdentifier(support->name);
   return text.empty() ? text : text + "\n";
}

Attributes attributesOf(const Function& function) {
   return {.kind = function.functionKind,
           .volatility = function.volatility,
           .parallel = function.parallel,
           .isStrict = function.isStrict,
           .isSecurityDefiner = function.isSecurityDefiner,
           .isLeakproof = function.isLeakproof,
           .language = function.language,
           .cost = function.cost,
           .rows = function.rows};
}

/// Of a function of the server. pg_proc's row has what its FunctionInfo does not; those that PostgreSQL does not have
/// are safe for parallel plans.
Attributes attributesOf(const FunctionInfo& function) {
   Attributes attributes{.kind = function.kind,
                         .volatility = function.volatility,
                         .parallel = 's',
                         .isStrict = function.isStrict,
                         .language = function.language,
                         .cost = function.cost,
                         .rows = function.rows,
                         .support = function.support};
   const TextTable& rows = *builtins().rows("pg_proc");
   const uint32_t oidColumn = rows.column("oid");
   const std::string oid = std::to_string(function.oid);
   for (uint32_t row = 0; row < rows.rowCount(); ++row) {
      if (rows.at(row, oidColumn) != oid) continue;
      attributes.parallel = rows.at(row, rows.column("proparallel"))->front();
      attributes.isLeakproof = rows.at(row, rows.column("proleakproof")) == "t";
   }
   return attributes;
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

namespace {

/// The lines before the attributes.
std::string headOf(const NameContext& context, Oid oid, std::string_view kind, Oid schemaOid, std::string_view name,
                   Oid language, const ShowExpression& show) {
   const SchemaPtr schema = context.snapshot.schema(schemaOid);
   std::string text = "CREATE OR REPLACE " + std::string(kind) + " ";
   text += (schema ? quoteIdentifier(schema->name) + "." : "") + quoteIdentifier(name) + "(";
   text += functionArguments(context, oid, show).value_or("") + ")\n";
   if (kind == "FUNCTION") text += " RETURNS " + functionResult(context, oid).value_or("") + "\n";
   return text + " LANGUAGE " + std::string(nameOfLanguage(context.snapshot, language)) + "\n";
}

void refuseAggregate(FunctionKind kind, std::string_view name) {
   if (kind == FunctionKind::Aggregate)
      throw SqlError(sqlstate::wrongObjectType, "\"" + std::string(name) + "\" is an aggregate function");
}

std::string quoted(std::string_view source, std::string quote) {
   while (source.find(quote) != std::string_view::npos)
      quote += 'x';
   quote += '$';
   return "AS " + quote + std::string(source) + quote + "\n";
}

/// Of a built-in function, or a constructor of a range type.
std::optional<std::string> serverFunctionDefinition(const NameContext& context, Oid oid, const ShowExpression& show) {
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   if (!function) return std::nullopt;
   refuseAggregate(function->kind, function->name);
   const bool isConstructor = oid >= firstUserOid;
   if (!isConstructor && function->language != language_oid::internal)
      throwNotSupported("pg_get_functiondef() of a built-in function that is not in language internal");
   Attributes attributes = attributesOf(*function);
   attributes.language = language_oid::internal;
   if (isConstructor) attributes.cost = defaultCost(attributes.language);
   return headOf(context, oid, "FUNCTION", function->schema, function->name, attributes.language, show) +
          textOf(attributes) + quoted(function->source, "$function");
}

} // namespace

std::optional<std::string> functionDefinition(const NameContext& context, Oid oid, const ShowExpression& show,
                                              const std::optional<std::string>& body) {
   const FunctionPtr function = context.snapshot.function(oid);
   if (!function) return serverFunctionDefinition(context, oid, show);
   refuseAggregate(function->functionKind, function->name);
   const bool isProcedure = function->functionKind == FunctionKind::Procedure;
   std::string text = headOf(context, oid, isProcedure ? "PROCEDURE" : "FUNCTION", function->schema, function->name,
                             function->shownLanguage(), show);
   text += textOf(attributesOf(*function)) + settingsOf(*function);
   if (body) return text + *body + "\n";
   if (function->language == language_oid::c) {
      const size_t slash = function->source.find('/');
      return text + "AS '$libdir/" + function->source.substr(0, slash) + "', $function$" +
             function->source.substr(slash + 1) + "$function$\n";
   }
   return text + quoted(function->source, isProcedure ? "$procedure" : "$function");
}

} // namespace ouzel::catalog
