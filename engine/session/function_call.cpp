#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/search_path.hpp"
#include "engine/query/command_tag.hpp"
#include "engine/session/session_impl.hpp"

// The FunctionCall message: a call by OID is the query that calls the function by its name, with the types by which the
// name means just this function.

namespace ouzel::engine {

namespace {

struct Called {
   Oid schema = invalidOid;
   std::string name;
   std::vector<Oid> types; ///< of the arguments
   bool isVariadic = false;
};

[[noreturn]] void refuse(const std::string& name) {
   throw SqlError(sqlstate::featureNotSupported, "cannot call function \"" + name + "\" via fastpath interface");
}

Called requireFunction(const catalog::Snapshot& catalog, Oid oid) {
   if (const catalog::FunctionPtr function = catalog.function(oid)) {
      if (function->functionKind != catalog::FunctionKind::Function || function->returnsSet) refuse(function->name);
      const bool isVariadic = std::any_of(function->parameters.begin(), function->parameters.end(),
                                          [](const auto& parameter) { return parameter.mode == 'v'; });
      return {function->schema, function->name, function->inputTypes(), isVariadic};
   }
   const catalog::FunctionInfo* builtin = catalog::builtins().function(oid);
   if (!builtin)
      throw SqlError(sqlstate::undefinedFunction, "function with OID " + std::to_string(oid) + " does not exist");
   if (builtin->kind != catalog::FunctionKind::Function || builtin->returnsSet) refuse(std::string(builtin->name));
   return {catalog::pgCatalogSchema, std::string(builtin->name),
           std::vector<Oid>(builtin->argTypes.begin(), builtin->argTypes.end()),
           builtin->variadicElement != invalidOid};
}

void requireFitting(const FunctionCall& call, const Called& called) {
   if (call.arguments.size() != called.types.size())
      throw SqlError(sqlstate::protocolViolation,
                     "function call message contains " + std::to_string(call.arguments.size()) +
                         " arguments but function requires " + std::to_string(called.types.size()));
   if (call.formats > 1 && call.formats != call.arguments.size())
      throw SqlError(sqlstate::protocolViolation, "function call message contains " + std::to_string(call.formats) +
                                                      " argument formats but " + std::to_string(call.arguments.size()) +
                                                      " arguments");
}

std::string textOf(const catalog::Snapshot& catalog, const Called& called) {
   const catalog::SchemaPtr schema = catalog.schema(called.schema);
   std::string text = "SELECT " + catalog::quoteIdentifier(schema ? schema->name : "pg_catalog") + "." +
                      catalog::quoteIdentifier(called.name) + "(";
   for (size_t i = 1; i <= called.types.size(); ++i)
      text += (i > 1 ? ", " : "") + std::string(called.isVariadic && i == called.types.size() ? "VARIADIC $" : "$") +
              std::to_string(i);
   return text + ")";
}

} // namespace

void SessionImpl::callFunction(const FunctionCall& call, ResultSink& sink) {
   const StatementCount count(core_.database.counters);
   log_.begin("<FASTPATH> function call", nullptr, "SELECT");
   core_.statementBegins();
   requireUsableTransaction(core_);
   core_.transaction.ensureStarted();
   core_.transaction.startCommand();
   const Called called = requireFunction(core_.transaction.catalog(), call.function);
   requireFitting(call, called);
   const auto text = std::make_shared<const std::string>(textOf(core_.transaction.catalog(), called));
   log_.begin(*text, text, "SELECT");
   const sql::ParsedScript script = sql::ParsedScript::parse(*text);
   const sql::ParsedStatement& statement = script.statements()[0];
   if (log_.wants(classOf(statement.node)))
      log_.announce("fastpath function call", "\"" + called.name + "\" (OID " + std::to_string(call.function) + ")");
   std::vector<BoundParameter> parameters;
   for (size_t i = 0; i < called.types.size(); ++i) {
      const SqlType type{called.types[i], -1, invalidOid};
      parameters.push_back({type, parseParameter(type, call.arguments[i])});
   }
   if (isAuditOn()) beginAudit(statement);
   CountedRun counted(counting_, counting_.describe(statement));
   const std::string tag = audit_.guard([&] { return runStatement(script, statement, parameters, sink); });
   audit_.end(tag);
   counted.end(tag, [&] { return *text; });
   if (!core_.transaction.inBlock()) commitImplicit();
   core_.statementEnds();
   core_.reportActivity(core_.transaction.inBlock() ? "idle in transaction" : "idle", {});
   log_.finish([] { return std::string("fastpath function call"); }, [] { return std::string(); });
}

} // namespace ouzel::engine
