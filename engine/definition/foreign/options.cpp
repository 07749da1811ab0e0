#include "engine/definition/foreign/options.hpp"

#include <algorithm>

#include "catalog/object/function.hpp"
#include "engine/definition/foreign/s3_options.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/remote/connection_options.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::ForeignOptions;
using sql::ListOf;
using sql::stringOf;

ForeignOptions changedOptions(ForeignOptions options, const ::List* list) {
   for (const ::DefElem* element : ListOf<::DefElem>(list)) {
      const std::string name = element->defname;
      const auto at = std::find_if(options.begin(), options.end(), [&](const auto& one) { return one.first == name; });
      const bool isThere = at != options.end();
      if (element->defaction == DEFELEM_SET || element->defaction == DEFELEM_DROP) {
         if (!isThere) throw SqlError(sqlstate::undefinedObject, "option \"" + name + "\" not found");
         if (element->defaction == DEFELEM_DROP)
            options.erase(at);
         else
            at->second = std::string(stringOf(element->arg));
         continue;
      }
      if (isThere) throw SqlError(sqlstate::duplicateObject, "option \"" + name + "\" provided more than once");
      options.emplace_back(name, std::string(stringOf(element->arg)));
   }
   for (const auto& [name, value] : options)
      if (name.find('=') != std::string::npos)
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid option name \"" + name + "\": must not contain \"=\"");
   return options;
}

namespace {

/// A string constant that means the same under every setting of standard_conforming_strings.
std::string literal(std::string_view text) {
   std::string quoted = "E'";
   for (const char c : text) {
      if (c == '\'' || c == '\\') quoted += c;
      quoted += c;
   }
   return quoted + "'";
}

/// A call of the validator, as SQL.
std::string validatorCall(const catalog::Snapshot& snapshot, Oid validator, Oid catalog,
                          const ForeignOptions& options) {
   const catalog::FunctionInfo* function = catalog::functionInfo(snapshot, validator);
   if (!function) throwInternal("a foreign-data wrapper has lost its validator");
   const catalog::SchemaPtr schema = snapshot.schema(function->schema);
   std::string texts;
   for (const std::string& text : catalog::optionTexts(options))
      texts += (texts.empty() ? "" : ", ") + literal(text);
   return "SELECT " + catalog::quoteIdentifier(schema ? schema->name : "pg_catalog") + "." +
          catalog::quoteIdentifier(function->name) + "(ARRAY[" + texts + "]::pg_catalog.text[], " +
          std::to_string(catalog) + "::pg_catalog.oid)";
}

/// Takes what a validator returns, which nobody reads.
class NoRows final : public ResultSink {
public:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch&) override {}
};

} // namespace

void validateOptions(SessionCore& core, const catalog::ForeignWrapper& wrapper, Oid catalog,
                     const ForeignOptions& options) {
   if (wrapper.isBuiltin()) return checkS3Options(catalog, options);
   if (wrapper.validator == invalidOid) return;
   // Whoever uses the extension's wrapper needs no right to its schema.
   const catalog::FunctionInfo* validator = catalog::functionInfo(core.transaction.catalog(), wrapper.validator);
   if (validator && validator->language == catalog::language_oid::c &&
       validator->source == "postgres_fdw/postgres_fdw_validator")
      return checkPostgresOptions(core, options, catalog);
   // Not as the server's own query: a function of the user runs with variables of its own.
   const auto script = sql::ParsedScript::parse(
       validatorCall(core.transaction.editor().snapshot(), wrapper.validator, catalog, options));
   NoRows sink;
   const auto execution = startQuery(core, script, *script.statements()[0].node, {});
   execution->run(0, &sink);
}

ForeignOptions validatedOptions(SessionCore& core, const catalog::ForeignWrapper& wrapper, Oid catalog,
                                ForeignOptions options, const ::List* list) {
   ForeignOptions changed = changedOptions(std::move(options), list);
   validateOptions(core, wrapper, catalog, changed);
   return changed;
}

} // namespace ouzel::engine
