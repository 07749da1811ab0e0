#include "optimizer/query/order_key.hpp"

#include "catalog/builtin/ordered_types.hpp"
#include "common/type/blanks.hpp"
#include "sql/algebra/blanks.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

const catalog::FunctionInfo* orderKeyFunction() {
   static const catalog::FunctionInfo* const function = catalog::builtins().functions("ouzel_order_key")[0];
   return function;
}

} // namespace

bool isKeyed(const SqlType& type) {
   return keepsBlanks(type) || catalog::hasOrderKey(type.oid);
}

ExprPtr makeOrderKey(ExprPtr value) {
   if (keepsBlanks(value->type)) return withoutBlanks(std::move(value));
   std::vector<ExprPtr> args;
   args.push_back(std::move(value));
   return makeCall(orderKeyFunction(), {oid::bytea, -1, invalidOid}, std::move(args));
}

const Expr& orderedValue(const Expr& key) {
   const bool isKey = functionOf(key) == orderKeyFunction() || (isWithoutBlanks(key) && keepsBlanks(key.args[0]->type));
   return isKey ? *key.args[0] : key;
}

} // namespace ouzel::optimizer
