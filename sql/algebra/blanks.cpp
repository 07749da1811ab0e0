#include "sql/algebra/blanks.hpp"

#include "catalog/builtin/builtin.hpp"
#include "common/type/blanks.hpp"

namespace ouzel::sql {

namespace {

constexpr Oid bpcharToText = 401; // text(bpchar), which drops the blanks

constexpr int32_t parameterTypmod = 4; // character(0): the output has no blanks to add

const catalog::FunctionInfo* padding() {
   static const catalog::FunctionInfo* const function = catalog::builtins().functions("ouzel_with_blanks")[0];
   return function;
}

ExprPtr call(const catalog::FunctionInfo* function, Oid type, ExprPtr arg) {
   const uint32_t position = arg->position;
   const SqlType result{type, -1, arg->type.collation};
   std::vector<ExprPtr> args;
   args.push_back(std::move(arg));
   auto expr = makeCall(function, result, std::move(args));
   expr->position = position;
   return expr;
}

} // namespace

ExprPtr withBlanks(ExprPtr expr) {
   if (expr->type.oid != oid::bpchar || keepsBlanks(expr->type)) return expr;
   auto* constant = expr->getIf<scalar::Constant>();
   if (!constant) return call(padding(), oid::bpchar, std::move(expr));
   if (!constant->value.isNull) {
      std::string text;
      appendWithBlanks(text, constant->value.bytes, expr->type.typmod);
      constant->value.bytes = std::move(text);
   }
   expr->type.typmod = -1;
   return expr;
}

ExprPtr withoutBlanks(ExprPtr expr) {
   if (!keepsBlanks(expr->type)) return expr;
   if (auto* constant = expr->getIf<scalar::Constant>()) {
      std::string& text = constant->value.bytes;
      text.resize(trimTrailingBlanks(text).size());
      return expr;
   }
   if (expr->kind == ExprKind::Parameter) { // stays one, by which an index can look up
      expr->type.typmod = parameterTypmod;
      return expr;
   }
   return call(catalog::builtins().function(bpcharToText), oid::text, std::move(expr));
}

void dropParameterBlanks(const SqlType& type, Value& value) {
   if (type.oid != oid::bpchar || keepsBlanks(type) || value.isNull) return;
   value.bytes.resize(trimTrailingBlanks(value.bytes).size());
}

bool isWithBlanks(const Expr& expr) {
   return functionOf(expr) == padding();
}

bool isWithoutBlanks(const Expr& expr) {
   const catalog::FunctionInfo* function = functionOf(expr);
   return function && function->oid == bpcharToText;
}

} // namespace ouzel::sql
