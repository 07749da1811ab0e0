#include "optimizer/query/order_key.hpp"

#include "catalog/builtin/builtin.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

const catalog::FunctionInfo* orderKeyFunction() {
   static const catalog::FunctionInfo* const function = catalog::builtins().functions("ouzel_order_key")[0];
   return function;
}

} // namespace

ExprPtr makeOrderKey(ExprPtr value) {
   std::vector<ExprPtr> args;
   args.push_back(std::move(value));
   return makeCall(orderKeyFunction(), {oid::bytea, -1, invalidOid}, std::move(args));
}

const Expr& orderedValue(const Expr& key) {
   return functionOf(key) == orderKeyFunction() ? *key.args[0] : key;
}

} // namespace ouzel::optimizer
