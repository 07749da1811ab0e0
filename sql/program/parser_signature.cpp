#include "sql/program/parser.hpp"

// What a body finds declared: arguments, FOUND, and what triggers tell.

namespace ouzel::sql::program {

namespace {

DeclaredType scalarOf(Oid type, Oid collation = invalidOid) {
   return {{type, -1, collation, invalidOid}, TypeClass::Scalar};
}
const DeclaredType anyRecord{{oid::record, -1, invalidOid, invalidOid}, TypeClass::Record};
constexpr Oid collationOfNames = 950;

bool isInput(ArgumentMode mode) {
   return mode == ArgumentMode::In || mode == ArgumentMode::InOut || mode == ArgumentMode::Variadic;
}

} // namespace

void Parser::addSignature() {
   switch (source_.kind) {
   case ProgramKind::Function:
   case ProgramKind::Procedure: addArguments(); break;
   case ProgramKind::Trigger: addTriggerVariables(); break;
   case ProgramKind::EventTrigger: addEventVariables(); break;
   case ProgramKind::DoBlock: break;
   }
   program_.found = addVariable("found", 0, scalarOf(oid::boolean));
}

void Parser::addArguments() {
   for (size_t i = 0; i < source_.arguments.size(); ++i) {
      const ProgramArgument& argument = source_.arguments[i];
      const VariableId variable = addArgument(argument, i + 1);
      if (isInput(argument.mode)) program_.inputs.push_back(variable);
      if (argument.mode != ArgumentMode::In && argument.mode != ArgumentMode::Variadic)
         program_.outputs.push_back(variable);
   }
   if (source_.returnsPolymorphic && program_.outputs.empty()) addVariable("$0", 0, source_.returnType);
   rowCount_ += program_.outputs.size() > 1 || (source_.kind == ProgramKind::Procedure && !program_.outputs.empty());
}

VariableId Parser::addArgument(const ProgramArgument& argument, size_t number) {
   const std::string position = "$" + std::to_string(number);
   const bool isNamed = !argument.name.empty();
   const VariableId variable = addVariable(isNamed ? argument.name : position, 0, argument.type, false);
   const NameKind kind = isRow(variable) ? NameKind::Record : NameKind::Scalar;
   addName(kind, position, variable);
   if (!isNamed) return variable;
   if (program_.names.isDeclaredHere(reader_.scope, argument.name))
      throw SqlError(sqlstate::invalidFunctionDefinition,
                     "parameter name \"" + argument.name + "\" used more than once");
   addName(kind, argument.name, variable);
   return variable;
}

void Parser::addTriggerVariables() {
   if (!source_.arguments.empty())
      throw SqlError(sqlstate::invalidFunctionDefinition, "trigger functions cannot have declared arguments")
          .hint("The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.");
   program_.newRow = addVariable("new", 0, anyRecord);
   program_.oldRow = addVariable("old", 0, anyRecord);
   const DeclaredType name = scalarOf(oid::name, collationOfNames), text = scalarOf(oid::text, defaultCollation);
   const struct {
      const char* name;
      DeclaredType type;
      Promise promise;
   } variables[] = {
       {"tg_name", name, Promise::TriggerName},
       {"tg_when", text, Promise::TriggerWhen},
       {"tg_level", text, Promise::TriggerLevel},
       {"tg_op", text, Promise::TriggerOperation},
       {"tg_relid", scalarOf(oid::oid), Promise::TriggerRelation},
       {"tg_relname", name, Promise::TriggerTableName},
       {"tg_table_name", name, Promise::TriggerTableName},
       {"tg_table_schema", name, Promise::TriggerTableSchema},
       {"tg_nargs", scalarOf(oid::int4), Promise::TriggerArgumentCount},
       {"tg_argv", scalarOf(oid::textArray, defaultCollation), Promise::TriggerArguments},
   };
   for (const auto& variable : variables)
      program_.variables[addVariable(variable.name, 0, variable.type)].promise = variable.promise;
}

void Parser::addEventVariables() {
   if (!source_.arguments.empty())
      throw SqlError(sqlstate::invalidFunctionDefinition, "event trigger functions cannot have declared arguments");
   const DeclaredType text = scalarOf(oid::text, defaultCollation);
   program_.variables[addVariable("tg_event", 0, text)].promise = Promise::EventName;
   program_.variables[addVariable("tg_tag", 0, text)].promise = Promise::EventTag;
}

void Parser::setEndResult() {
   const bool returnsVoid = source_.kind == ProgramKind::Procedure || source_.kind == ProgramKind::DoBlock ||
                            source_.kind == ProgramKind::EventTrigger || source_.returnType.type.oid == oid::voidType;
   program_.mayReachEnd = returnsVoid || source_.returnsSet || !program_.outputs.empty();
   if (program_.mayReachEnd) program_.endResult = outputResult();
}

} // namespace ouzel::sql::program
