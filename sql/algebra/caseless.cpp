#include "sql/algebra/caseless.hpp"

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::sql {

namespace {

const catalog::FunctionInfo* keyFunction() {
   static const catalog::FunctionInfo* const function = catalog::builtins().functions("ouzel_citext_key")[0];
   return function;
}

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
   const SqlType type{oid::text, -1, value->type.collation};
   auto relabelled = std::make_unique<Expr>(ExprKind::Relabel, type);
   relabelled->position = value->position;
   relabelled->args.push_back(std::move(value));
   return makeOneCall(keyFunction(), type, std::move(relabelled));
}

ExprPtr loweredElements(ExprPtr array) {
   const SqlType type{oid::textArray, -1, array->type.collation};
   return makeOneCall(catalog::builtins().functions("ouzel_citext_keys")[0], type, std::move(array));
}

} // namespace ouzel::sql
