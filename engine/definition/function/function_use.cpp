#include "engine/definition/function/function_use.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/function_text.hpp"
#include "engine/core/privileges.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/state/type_naming.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::engine {

using catalog::FunctionInfo;
using catalog::FunctionKind;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

/// Errors name users' types as the session's catalog does.
class NamedTypes {
public:
   explicit NamedTypes(SessionCore& core)
      : path_(core.searchPath()), context_(core.bindContext(path_, nullptr)), naming_(context_) {}

private:
   const catalog::SearchPath path_;
   const sql::BindContext context_;
   const sql::TypeNaming naming_;
};

std::vector<const FunctionInfo*> functionsNamed(SessionCore& core, const std::vector<std::string>& name) {
   return catalog::functionsNamed(core.transaction.catalog(), core.searchPath(), catalog::toQualifiedName(name));
}

std::string joined(const std::vector<std::string>& parts) {
   std::string text;
   for (const std::string& part : parts)
      text += (text.empty() ? "" : ".") + part;
   return text;
}

/// Of the inputs, domains as themselves.
std::vector<Oid> declaredTypes(SessionCore& core, const FunctionInfo& function) {
   const catalog::FunctionPtr own = core.transaction.catalog().function(function.oid);
   return own ? own->inputTypes() : std::vector<Oid>(function.argTypes.begin(), function.argTypes.end());
}

[[noreturn]] void throwMissing(const std::vector<std::string>& name, std::span<const Oid> types) {
   throw SqlError(sqlstate::undefinedFunction, "function " + shownSignature(joined(name), types) + " does not exist");
}

} // namespace

std::vector<std::string> namesOf(const ::DefElem& option) {
   std::vector<std::string> parts;
   const auto addAll = [&](const ::List* list) {
      for (const ::Node* part : ListOf<>(list))
         parts.emplace_back(stringOf(part));
   };
   if (isNode(option.arg, T_TypeName))
      addAll(as<::TypeName>(option.arg)->names);
   else if (isNode(option.arg, T_List))
      addAll(as<::List>(option.arg));
   else if (option.arg)
      parts.emplace_back(stringOf(option.arg));
   else
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
   return parts;
}

std::string shownSignature(std::string_view name, std::span<const Oid> types) {
   return sql::callSignature(name, types, {});
}

const FunctionInfo& requireFunction(SessionCore& core, const std::vector<std::string>& name,
                                    std::span<const Oid> types) {
   const NamedTypes naming(core);
   for (const FunctionInfo* candidate : functionsNamed(core, name)) {
      const std::vector<Oid> declared = declaredTypes(core, *candidate);
      if (std::equal(declared.begin(), declared.end(), types.begin(), types.end())) return *candidate;
   }
   throwMissing(name, types);
}

AggregateUse requireAggregateUse(SessionCore& core, const std::vector<std::string>& name,
                                 std::span<const SqlType> given, bool takesAny) {
   const NamedTypes naming(core);
   std::vector<Oid> types, bases;
   for (const SqlType& type : given) {
      types.push_back(type.named());
      bases.push_back(type.oid);
   }
   const std::vector<const FunctionInfo*> functions = functionsNamed(core, name);
   // A function that is declared with just these types is called as it is, also with polymorphic ones.
   const auto exact = std::find_if(functions.begin(), functions.end(), [&](const FunctionInfo* function) {
      return declaredTypes(core, *function) == types;
   });
   AggregateUse use;
   if (exact != functions.end()) {
      use = {*exact, (*exact)->returnType};
   } else {
      const auto found = sql::resolveFunction({}, bases, {}, false, functions);
      if (found.outcome != sql::Resolution::Found || found.candidate.defaultCount > 0) throwMissing(name, types);
      std::vector<Oid> declared = found.candidate.args;
      use.function = found.candidate.function;
      use.result = sql::enforceGenericConsistency(bases, declared, use.function->returnType);
      for (size_t i = 0; i < types.size(); ++i)
         if (!isBinaryCoercible(bases[i], declared[i]))
            throw SqlError(sqlstate::datatypeMismatch,
                           "function " + shownSignature(joined(name), declared) + " requires run-time type coercion");
   }
   if (use.function->kind != FunctionKind::Function) throwMissing(name, types);
   if (use.function->returnsSet)
      throw SqlError(sqlstate::datatypeMismatch, "function " + shownSignature(joined(name), types) + " returns a set");
   if (takesAny && use.function->variadicElement != oid::any)
      throw SqlError(sqlstate::datatypeMismatch, "function " + shownSignature(joined(name), types) +
                                                     " must accept VARIADIC ANY to be used in this aggregate");
   requireExecute(core, *use.function);
   return use;
}

void requireExecute(SessionCore& core, const FunctionInfo& function) {
   if (!core.isServer()) requireExecute(core.transaction.catalog(), core.role(), function.oid);
}

bool isBinaryCoercible(Oid from, Oid to) {
   if (from == to || to == oid::any || to == oid::anyelement || to == oid::anycompatible) return true;
   if (to == oid::anyarray || to == oid::anycompatiblearray) return sql::elementType(from) != invalidOid;
   if (to == oid::anynonarray || to == oid::anycompatiblenonarray) return sql::elementType(from) == invalidOid;
   if (sql::isPolymorphic(to)) return true;
   if (to == oid::record) return sql::isRowType(from);
   if (sql::elementType(from) != invalidOid && sql::elementType(to) != invalidOid) return false;
   return !sql::isPseudoType(from) &&
          sql::findCoercion(to, from, sql::CoercionContext::Implicit).path == sql::CoercionPath::Relabel;
}

SqlType plainTypeOf(CommandContext& context, const ::TypeName& name) {
   const catalog::SearchPath path = context.core.searchPath();
   SqlType type = sql::resolveTypeName(name, context.core.bindContext(path, nullptr));
   type.typmod = -1;
   if (!type.domain) type.collation = sql::plainType(type.oid).collation;
   return type;
}

SqlType typeOf(CommandContext& context, const ::DefElem& option) {
   if (isNode(option.arg, T_TypeName)) return plainTypeOf(context, *as<::TypeName>(option.arg));
   const auto script = sql::ParsedScript::parse("SELECT NULL::" + catalog::quoteIdentifier(textOf(option)));
   const auto* select = as<::SelectStmt>(script.statements().at(0).node);
   const auto* target = as<::ResTarget>(ListOf<>(select->targetList).front());
   return plainTypeOf(context, *as<::TypeCast>(target->val)->typeName);
}

bool isTrue(const ::DefElem& option) {
   if (!option.arg) return true;
   if (isNode(option.arg, T_Integer)) {
      const int value = as<::Integer>(option.arg)->ival;
      if (value == 0 || value == 1) return value == 1;
   } else if (isNode(option.arg, T_Boolean)) {
      return as<::Boolean>(option.arg)->boolval;
   } else {
      std::string word = textOf(option);
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
      if (word == "true" || word == "on") return true;
      if (word == "false" || word == "off") return false;
   }
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
}

std::string textOf(const ::DefElem& option) {
   if (!option.arg) throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
   switch (nodeTag(option.arg)) {
   case T_Integer: return std::to_string(as<::Integer>(option.arg)->ival);
   case T_Float: return as<::Float>(option.arg)->fval;
   case T_Boolean: return as<::Boolean>(option.arg)->boolval ? "true" : "false";
   case T_String: return std::string(stringOf(option.arg));
   case T_TypeName: {
      std::string text;
      for (const ::Node* part : ListOf<>(as<::TypeName>(option.arg)->names))
         text += (text.empty() ? "" : ".") + std::string(stringOf(part));
      return text;
   }
   case T_A_Star: return "*";
   default: throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
   }
}

} // namespace ouzel::engine
