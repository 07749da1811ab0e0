#include "optimizer/query/order_key.hpp"

#include "catalog/builtin/ordered_types.hpp"
#include "common/type/blanks.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/caseless.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

const catalog::FunctionInfo* orderKeyFunction() {
   static const catalog::FunctionInfo* const function = catalog::builtins().functions("ouzel_order_key")[0];
   return function;
}

} // namespace

bool isKeyed(const SqlType& type, const CollationTable& collations) {
   return keepsBlanks(type) || catalog::hasOrderKey(type.oid) || collations.comparing(type);
}

ExprPtr makeOrderKey(ExprPtr value, const CollationTable& collations) {
   if (const IcuCollation* collation = collations.comparing(value->type)) {
      if (value->type.oid == oid::citext) value = lowered(std::move(value));
      value = makeCollationKey(std::move(value), *collation);
      if (!catalog::hasOrderKey(value->type.oid)) return value;
   }
   if (keepsBlanks(value->type)) return withoutBlanks(std::move(value));
   std::vector<ExprPtr> args;
   args.push_back(std::move(value));
   return makeCall(orderKeyFunction(), {oid::bytea, -1, invalidOid}, std::move(args));
}

const Expr& orderedValue(const Expr& key) {
   const Expr* value = &key;
   if (functionOf(*value) == orderKeyFunction()) value = value->args[0].get();
   if (isCollationKey(*value)) value = value->args[0].get();
   if (isWithoutBlanks(*value) && keepsBlanks(value->args[0]->type)) value = value->args[0].get();
   return *value;
}

} // namespace ouzel::optimizer
