#include "tests/unit/sql/program/program_support.hpp"

#include "sql/bind/binder.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/program/catalog_types.hpp"

namespace ouzel::sql::program {

namespace {

DeclaredType typeOf(const ::TypeName& name, const BindContext& context) {
   SqlType type = resolveTypeName(name, context);
   if (isPolymorphic(type.oid))
      type = plainType(arrayType(oid::int4) && typeName(type).ends_with("array") ? oid::int4Array : oid::int4);
   return {type, typeClass(type)};
}

ArgumentMode modeOf(FunctionParameterMode mode) {
   switch (mode) {
   case FUNC_PARAM_OUT: return ArgumentMode::Out;
   case FUNC_PARAM_INOUT: return ArgumentMode::InOut;
   case FUNC_PARAM_VARIADIC: return ArgumentMode::Variadic;
   case FUNC_PARAM_TABLE: return ArgumentMode::Table;
   default: return ArgumentMode::In;
   }
}

std::string bodyOf(const ::List* options) {
   for (const auto* option : ListOf<DefElem>(options))
      if (textOf(option->defname) == "as")
         return std::string(
             stringOf(isNode(option->arg, T_List) ? ListOf<>(as<List>(option->arg)).front() : option->arg));
   return {};
}

} // namespace

Program parseDefinition(std::string_view statement, const BindContext& context) {
   const auto script = ParsedScript::parse(statement);
   const CatalogTypes types(context);
   ProgramSource source;
   std::vector<ProgramArgument> arguments;
   std::string body;
   const ::Node* node = script.statements().at(0).node;
   if (isNode(node, T_DoStmt)) {
      body = bodyOf(as<DoStmt>(node)->args);
      source.name = "inline_code_block";
      source.kind = ProgramKind::DoBlock;
   } else {
      const auto* create = as<CreateFunctionStmt>(node);
      body = bodyOf(create->options);
      source.name = stringOf(ListOf<>(create->funcname).back());
      size_t outputs = 0;
      for (const auto* parameter : ListOf<FunctionParameter>(create->parameters)) {
         const ArgumentMode mode = modeOf(parameter->mode);
         outputs += mode != ArgumentMode::In && mode != ArgumentMode::Variadic;
         arguments.push_back({std::string(textOf(parameter->name)), mode, typeOf(*parameter->argType, context)});
         source.returnsSet |= mode == ArgumentMode::Table;
         if (outputs == 1 && mode != ArgumentMode::In) source.returnType = arguments.back().type;
      }
      if (outputs > 1) source.returnType = {plainType(oid::record), TypeClass::Record};
      if (create->is_procedure) source.kind = ProgramKind::Procedure;
      if (create->returnType) {
         source.returnType = typeOf(*create->returnType, context);
         source.returnsSet |= create->returnType->setof;
         source.returnsPolymorphic = isPolymorphic(resolveTypeName(*create->returnType, context).oid);
         if (source.returnType.type.oid == oid::trigger) source.kind = ProgramKind::Trigger;
         if (typeName(source.returnType.type) == "event_trigger") source.kind = ProgramKind::EventTrigger;
      }
   }
   source.body = body;
   source.arguments = arguments;
   return parseProgram(source, types);
}

} // namespace ouzel::sql::program
