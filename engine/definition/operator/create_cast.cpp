#include "catalog/object/acl.hpp"
#include "catalog/object/function_text.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/function/function_use.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/bind/type/type_rules.hpp"

// CREATE CAST. What the function takes and gives is checked as PostgreSQL's CreateCast does.

namespace ouzel::engine {

using catalog::CastContext;
using catalog::CastMethod;
using sql::ListOf;

namespace {

[[noreturn]] void refuse(const std::string& message) {
   throw SqlError(sqlstate::invalidObjectDefinition, message);
}

/// Whether the session's role owns the type.
bool ownsType(SessionCore& core, const SqlType& type) {
   const auto made = type.named() < firstUserOid ? nullptr : core.transaction.catalog().relationOfType(type.named());
   return actsFor(core, made ? made->owner : catalog::bootstrapRole);
}

class CastDraft {
public:
   CastDraft(CommandContext& context, const ::CreateCastStmt& statement)
      : context_(context), core_(context.core), statement_(statement) {}

   void make() {
      cast_.source = plainTypeOf(context_, *statement_.sourcetype);
      cast_.target = plainTypeOf(context_, *statement_.targettype);
      const std::string source = nameOf(*statement_.sourcetype), target = nameOf(*statement_.targettype);
      if (isPseudo(cast_.source)) wrongType("source data type " + source + " is a pseudo-type");
      if (isPseudo(cast_.target)) wrongType("target data type " + target + " is a pseudo-type");
      if (!ownsType(core_, cast_.source) && !ownsType(core_, cast_.target))
         throw SqlError(sqlstate::insufficientPrivilege,
                        "must be owner of type " + shown(cast_.source) + " or type " + shown(cast_.target));
      requireTypeUsage(core_, cast_.source);
      requireTypeUsage(core_, cast_.target);
      for (const auto& [type, word] : {std::pair(cast_.source, "source"), std::pair(cast_.target, "target")})
         if (type.domain)
            core_.report({Notice::Severity::Warning, sqlstate::wrongObjectType,
                          std::string("cast will be ignored because the ") + word + " data type is a domain", "", ""});
      cast_.method = statement_.func ? CastMethod::Function : statement_.inout ? CastMethod::InOut : CastMethod::Binary;
      if (cast_.method == CastMethod::Function) findFunction();
      if (cast_.method == CastMethod::Binary) requireSameBytes();
      if (cast_.source.named() == cast_.target.named() && argumentCount_ < 2)
         refuse("source data type and target data type are the same");
      cast_.context = statement_.context == COERCION_IMPLICIT     ? CastContext::Implicit
                      : statement_.context == COERCION_ASSIGNMENT ? CastContext::Assignment
                                                                  : CastContext::Explicit;
      if (catalog::builtins().cast(cast_.source.named(), cast_.target.named()))
         throw SqlError(sqlstate::duplicateObject, "cast from type " + shown(cast_.source) + " to type " +
                                                       shown(cast_.target) + " already exists");
      if (cast_.method == CastMethod::Binary &&
          storedRepresentation(cast_.source) != storedRepresentation(cast_.target))
         throwNotSupported("a cast WITHOUT FUNCTION between types with different representations");
      core_.transaction.editor().createCast(std::move(cast_));
   }

private:
   std::string shown(const SqlType& type) const {
      return catalog::typeText(core_.transaction.catalog(), core_.searchPath(), type.named());
   }
   static bool isPseudo(const SqlType& type) { return sql::isPseudoType(type.oid); }
   [[noreturn]] static void wrongType(const std::string& message) {
      throw SqlError(sqlstate::wrongObjectType, message);
   }
   static std::string nameOf(const ::TypeName& name) {
      std::string text;
      for (const ::Node* part : ListOf<>(name.names))
         text += (text.empty() ? "" : ".") + std::string(sql::stringOf(part));
      return ListOf<>(name.arrayBounds).empty() ? text : text + "[]";
   }

   void findFunction() {
      const SystemObject object =
          findSystemObject(core_, OBJECT_FUNCTION, reinterpret_cast<const ::Node*>(statement_.func));
      if (object.missing) throw SqlError(*object.missing);
      const catalog::Snapshot& snapshot = core_.transaction.catalog();
      const catalog::FunctionInfo& function = *catalog::functionInfo(snapshot, object.oid);
      const auto own = snapshot.function(object.oid);
      const std::vector<Oid> types =
          own ? own->inputTypes() : std::vector<Oid>(function.argTypes.begin(), function.argTypes.end());
      requireExecute(core_, function);
      argumentCount_ = types.size();
      if (types.empty() || types.size() > 3) refuse("cast function must take one to three arguments");
      if (!isBinaryCoercible(cast_.source.named(), types[0]) && !isBinaryCoercible(cast_.source.oid, types[0]))
         refuse("argument of cast function must match or be binary-coercible from source data type");
      if (types.size() > 1 && types[1] != oid::int4) refuse("second argument of cast function must be type integer");
      if (types.size() > 2 && types[2] != oid::boolean) refuse("third argument of cast function must be type boolean");
      const Oid result = own ? own->returnType.named() : function.returnType;
      if (!isBinaryCoercible(result, cast_.target.named()))
         refuse("return data type of cast function must match or be binary-coercible to target data type");
      if (function.kind != catalog::FunctionKind::Function) refuse("cast function must be a normal function");
      if (function.returnsSet) refuse("cast function must not return a set");
      cast_.function = function.oid;
   }

   /// WITHOUT FUNCTION: the bytes of one type are taken for those of the other.
   void requireSameBytes() {
      requireSuperuser(core_, "must be superuser to create a cast WITHOUT FUNCTION");
      const auto layout = [](const SqlType& type) {
         const catalog::TypeInfo* builtin = catalog::builtins().type(type.oid);
         return builtin ? std::pair<int, bool>(builtin->length, builtin->byValue)
                        : std::pair<int, bool>(isEnumType(type.oid) ? 4 : -1, isEnumType(type.oid));
      };
      if (layout(cast_.source) != layout(cast_.target))
         refuse("source and target data types are not physically compatible");
      const auto refuseAny = [&](const char* kind, const auto& is) {
         if (is(cast_.source.oid) || is(cast_.target.oid))
            refuse(std::string(kind) + " data types are not binary-compatible");
      };
      refuseAny("composite", [](Oid type) { return sql::isRowType(type); });
      refuseAny("array", [](Oid type) { return sql::elementType(type) != invalidOid; });
      refuseAny("enum", [](Oid type) { return isEnumType(type); });
      if (cast_.source.domain || cast_.target.domain) refuse("domain data types must not be marked binary-compatible");
   }

   CommandContext& context_;
   SessionCore& core_;
   const ::CreateCastStmt& statement_;
   catalog::Cast cast_;
   size_t argumentCount_ = 0;
};

} // namespace

std::string createCast(CommandContext& context, const ::CreateCastStmt& statement) {
   requireWritable(context.core, "CREATE CAST");
   CastDraft(context, statement).make();
   return "CREATE CAST";
}

void requireDroppable(SessionCore& core, const catalog::Cast& cast) {
   if (ownsType(core, cast.source) || ownsType(core, cast.target)) return;
   const auto shown = [&](const SqlType& type) {
      return catalog::typeText(core.transaction.catalog(), core.searchPath(), type.named());
   };
   throw SqlError(sqlstate::insufficientPrivilege,
                  "must be owner of type " + shown(cast.source) + " or type " + shown(cast.target));
}

} // namespace ouzel::engine
