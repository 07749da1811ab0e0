#include "engine/program/run_program.hpp"

#include <algorithm>

#include "catalog/object/function_text.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "common/type/row.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/trigger_call.hpp"
#include "engine/program/machine.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/program/catalog_types.hpp"
#include "sql/program/parse_program.hpp"

// From functions of the catalog to programs and back: arguments, results, the bodies that a session has parsed.

namespace ouzel::engine {

using namespace sql::program;
using catalog::Function;
using catalog::FunctionDefinition;
using catalog::FunctionParameter;

namespace {

DeclaredType declared(const SqlType& type) {
   return {type, typeClass(type)};
}

ArgumentMode modeOf(char mode) {
   switch (mode) {
   case 'o': return ArgumentMode::Out;
   case 'b': return ArgumentMode::InOut;
   case 'v': return ArgumentMode::Variadic;
   case 't': return ArgumentMode::Table;
   default: return ArgumentMode::In;
   }
}

/// The types of a call: polymorphic ones as the arguments say. Empty `actual`: a definition, for which they are
/// integers.
class CallTypes {
public:
   CallTypes(const FunctionDefinition& function, std::span<const Oid> actual) : actual_(actual.begin(), actual.end()) {
      for (const FunctionParameter& parameter : function.parameters)
         if (parameter.isInput()) parameters_.push_back(parameter.type.oid);
   }
   SqlType resolved(const SqlType& type) const {
      if (!sql::isPolymorphic(type.oid)) return type;
      if (actual_.empty()) {
         const bool isArray = type.oid == oid::anyarray || type.oid == oid::anycompatiblearray;
         return sql::plainType(isArray ? Oid{oid::int4Array} : Oid{oid::int4});
      }
      std::vector<Oid> parameters = parameters_;
      return sql::plainType(sql::enforceGenericConsistency(actual_, parameters, type.oid));
   }

private:
   std::vector<Oid> actual_, parameters_;
};

ProgramKind kindOf(const FunctionDefinition& function) {
   if (function.functionKind == catalog::FunctionKind::Procedure) return ProgramKind::Procedure;
   if (function.returnType.oid == oid::trigger) return ProgramKind::Trigger;
   return function.returnType.oid == catalog::eventTriggerType ? ProgramKind::EventTrigger : ProgramKind::Function;
}

/// Calls `use` with the function as the parser takes it.
template <typename Use>
auto withSource(SessionCore& core, const FunctionDefinition& function, std::span<const Oid> actual, Use&& use) {
   const CallTypes types(function, actual);
   std::vector<ProgramArgument> arguments;
   for (const FunctionParameter& parameter : function.parameters)
      arguments.push_back({parameter.name, modeOf(parameter.mode), declared(types.resolved(parameter.type))});
   ProgramSource source;
   source.body = function.source;
   source.name = function.name;
   source.kind = kindOf(function);
   source.arguments = arguments;
   source.returnType = declared(types.resolved(function.returnType));
   source.returnsSet = function.returnsSet;
   source.returnsPolymorphic = sql::isPolymorphic(function.returnType.oid);
   const catalog::SearchPath path = core.searchPath();
   const sql::BindContext context = core.bindContext(path, nullptr);
   return use(source, CatalogTypes(context));
}

/// While it lives, the statements of no other program are bound.
class Apart {
public:
   explicit Apart(SessionCore& core)
      : core_(core), routine_(std::exchange(core.routine, {})), program_(std::exchange(core.program, {})),
        trigger_(std::exchange(core.trigger, nullptr)) {}
   ~Apart() {
      core_.routine = routine_;
      core_.program = program_;
      core_.trigger = trigger_;
   }
   Apart(const Apart&) = delete;

private:
   SessionCore& core_;
   const SessionCore::RunningRoutine routine_;
   const SessionCore::RunningProgram program_;
   const TriggerCall* const trigger_;
};

} // namespace

void checkProgram(CommandContext& context, const FunctionDefinition& function, bool checksBody) {
   try {
      withSource(context.core, function, {}, [&](const ProgramSource& source, const TypeSource& types) {
         if (checksBody)
            parseProgram(source, types);
         else
            checkSignature(source, types);
      });
   } catch (SqlError& error) {
      if (error.position() > 0)
         error.setPosition(positionInStatement(context.source().text(), function.source, error.position()));
      throw;
   }
}

const ProgramCache::Loaded& loadProgram(SessionCore& core, const catalog::FunctionPtr& function,
                                        const std::vector<Oid>& types) {
   return core.programs->find(function, types, [&] {
      auto program = withSource(core, *function, types, [&](ProgramSource& source, const TypeSource& typeSource) {
         source.isDefinition = source.checksSyntax = false;
         source.signature = catalog::signatureOf(core.transaction.catalog(), core.searchPath(), *function);
         return std::make_shared<const Program>(parseProgram(source, typeSource));
      });
      auto texts = std::make_shared<CompiledTexts>(*program);
      return ProgramCache::Loaded{std::move(program), std::move(texts)};
   });
}

std::vector<std::string> runProgram(SessionCore& core, const catalog::FunctionPtr& function,
                                    std::span<const BoundParameter> args,
                                    const std::optional<std::vector<SqlType>>& expected, const RunCommand& runCommand,
                                    MayEndTransactions mayEnd) {
   std::vector<Oid> types;
   for (const BoundParameter& arg : args)
      types.push_back(arg.type.oid);
   const ProgramCache::Loaded loaded = loadProgram(core, function, types); // kept while it runs
   const Program* program = loaded.program.get();
   const Apart apart(core);
   Results results(core, *program, function->name, expected);
   Machine machine(core, *program, static_cast<CompiledTexts&>(*loaded.compiled), function.get(), runCommand, results,
                   mayEnd);
   for (size_t i = 0; i < args.size(); ++i)
      machine.setInput(i, {SqlType{types[i], -1, sql::plainType(types[i]).collation}, args[i].value});
   machine.run();
   if (program->returnType.type.oid == oid::voidType) { // no NULL, but a value without a text
      const std::vector<RowField> column{{function->name, program->returnType.type, false}};
      return {makeRow(oid::record, column, {Value::string({})})};
   }
   return results.take();
}

namespace {

/// Throws 42804 unless a row has the columns of the table.
void requireRowOf(const catalog::Relation& table, std::string_view row) {
   const auto refuse = [](const std::string& detail) {
      throw SqlError(sqlstate::datatypeMismatch,
                     "returned row structure does not match the structure of the triggering table")
          .detail(detail);
   };
   const auto count = std::count_if(table.columns.begin(), table.columns.end(),
                                    [](const catalog::Column& column) { return !column.isDropped; });
   const RowView view(row);
   if (view.size() != static_cast<size_t>(count))
      refuse("Number of returned columns (" + std::to_string(view.size()) + ") does not match expected column count (" +
             std::to_string(count) + ").");
   RowView::Cursor field(view);
   for (const catalog::Column& column : table.columns) {
      if (column.isDropped) continue;
      field.next();
      if (field->type != column.type.oid && !field->isNull)
         refuse("Returned type " + sql::typeName(field->type) + " does not match expected type " +
                sql::typeName(column.type) + " in column " + std::to_string(field.index() + 1) + ".");
   }
}

} // namespace

std::optional<std::string> runTriggerProgram(SessionCore& core, const catalog::FunctionPtr& function,
                                             const TriggerCall& call, const RunCommand& runCommand) {
   const ProgramCache::Loaded loaded = loadProgram(core, function, {}); // kept while it runs
   const Apart apart(core);
   core.trigger = &call;
   Results results(core, *loaded.program, function->name, std::nullopt);
   Machine machine(core, *loaded.program, static_cast<CompiledTexts&>(*loaded.compiled), function.get(), runCommand,
                   results);
   machine.setTrigger(call);
   machine.run();
   std::vector<std::string> rows = results.take();
   if (rows.empty() || !call.trigger.has(catalog::trigger_bit::row)) return std::nullopt;
   try {
      requireRowOf(call.table, rows[0]);
   } catch (SqlError& error) {
      error.addContext("PL/pgSQL function " +
                       catalog::signatureOf(core.transaction.catalog(), core.searchPath(), *function) +
                       " during function exit");
      throw;
   }
   return std::move(rows[0]);
}

void runEventProgram(SessionCore& core, const catalog::FunctionPtr& function, std::string_view event,
                     std::string_view tag, const RunCommand& runCommand) {
   const ProgramCache::Loaded loaded = loadProgram(core, function, {}); // kept while it runs
   const Apart apart(core);
   Results results(core, *loaded.program, function->name, std::nullopt);
   Machine machine(core, *loaded.program, static_cast<CompiledTexts&>(*loaded.compiled), function.get(), runCommand,
                   results);
   machine.setEvent(event, tag);
   machine.run();
}

namespace {

/// Throws unless the role may use the language, and blocks of it can be run.
void requireInlineLanguage(SessionCore& core, const std::string& name) {
   const catalog::Language* made = catalog::findUserLanguage(core.transaction.catalog(), name);
   const Oid language = made ? made->oid : catalog::findLanguage(name);
   if (language == invalidOid) throw SqlError(sqlstate::undefinedObject, "language \"" + name + "\" does not exist");
   requireLanguage(core, language);
   if (made ? made->inlineHandler == invalidOid : language != catalog::language_oid::plpgsql)
      throw SqlError(sqlstate::featureNotSupported, "language \"" + name + "\" does not support inline code execution");
}

} // namespace

std::string runDo(CommandContext& context, const ::DoStmt& statement, const RunCommand& runCommand,
                  MayEndTransactions mayEnd) {
   FunctionDefinition block;
   block.name = "inline_code_block";
   block.returnType = sql::plainType(oid::voidType);
   bool hasBody = false;
   std::string language = "plpgsql";
   for (const ::DefElem* option : sql::ListOf<::DefElem>(statement.args)) {
      const std::string_view name = option->defname;
      if (name == "as") {
         block.source = sql::stringOf(option->arg);
         hasBody = true;
      } else if (name == "language") {
         language = sql::stringOf(option->arg);
      }
   }
   if (!hasBody) throw SqlError(sqlstate::syntaxError, "no inline code specified");
   SessionCore& core = context.core;
   requireInlineLanguage(core, language);
   const catalog::SearchPath path = core.searchPath();
   const sql::BindContext types = core.bindContext(path, nullptr);
   ProgramSource source;
   source.body = block.source;
   source.name = block.name;
   source.kind = ProgramKind::DoBlock;
   source.returnType = declared(block.returnType);
   Program program;
   try {
      program = parseProgram(source, CatalogTypes(types));
   } catch (SqlError& error) {
      if (error.position() > 0)
         error.setPosition(positionInStatement(context.source().text(), block.source, error.position()));
      throw;
   }
   const Apart apart(core);
   Results results(core, program, block.name, std::nullopt);
   CompiledTexts texts(program);
   Machine(core, program, texts, nullptr, runCommand, results, mayEnd).run();
   return "DO";
}

} // namespace ouzel::engine
