#include "sql/algebra/caseless.hpp"

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::sql {

namespace {

ExprPtr makeOneCall(const catalog::FunctionInfo* function, const SqlType& type, ExprPtr arg) {
   const uint32_t position = arg->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(arg));
   auto call = makeCall(function, type, std::move(args));
   call->position = position;
   return call;
}

} // namespace

ExprPtr lowered(ExprPtr value) {
   constexpr Oid text[] = {oid::text};
   const SqlType type{oid::text, -1, value->type.collation};
   auto relabelled = std::make_unique<Expr>(ExprKind::Relabel, type);
   relabelled->position = value->position;
   relabelled->args.push_back(std::move(value));
   return makeOneCall(catalog::builtins().findFunction("lower", text), type, std::move(relabelled));
}

ExprPtr loweredElements(ExprPtr array) {
   const SqlType type{oid::textArray, -1, array->type.collation};
   return makeOneCall(catalog::builtins().functions("ouzel_citext_keys")[0], type, std::move(array));
}

} // namespace ouzel::sql
