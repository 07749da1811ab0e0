#include "sql/algebra/row_bound.hpp"

#include "catalog/builtin/builtin.hpp"

namespace ouzel::sql {

namespace {

const SqlType int8{oid::int8};

ExprPtr number(int64_t value) {
   return makeConstant(int8, Value::integer(PhysicalType::I64, value));
}

ExprPtr call(const catalog::FunctionInfo* function, ExprPtr lhs, ExprPtr rhs) {
   std::vector<ExprPtr> args;
   args.push_back(std::move(lhs));
   args.push_back(std::move(rhs));
   return makeCall(function, int8, std::move(args));
}

ExprPtr call(const char* name, ExprPtr lhs, ExprPtr rhs) {
   constexpr Oid types[] = {oid::int8, oid::int8};
   return call(catalog::builtins().findFunction(name, types), std::move(lhs), std::move(rhs));
}

ExprPtr extreme(const char* name, ExprPtr lhs, ExprPtr rhs) {
   return call(catalog::builtins().functions(name)[0], std::move(lhs), std::move(rhs));
}

} // namespace

ExprPtr rowBound(ExprPtr limit, ExprPtr offset) {
   // GREATEST and LEAST skip NULLs. A negative offset is an error elsewhere.
   ExprPtr skipped = extreme("ouzel_greatest", std::move(offset), number(0));
   ExprPtr rest = call("int8mi", number(INT64_MAX), clone(*skipped));
   return call("int8pl", extreme("ouzel_least", std::move(limit), std::move(rest)), std::move(skipped));
}

} // namespace ouzel::sql
