#include "sql/algebra/expr.hpp"

#include "common/hash/hash.hpp"
#include "sql/algebra/rel.hpp"

namespace ouzel::sql {

Expr::Expr(ExprKind k, const SqlType& t) : kind(k), type(t), repr(storedRepresentation(t)) {}

Expr::~Expr() = default; // here, because Rel is incomplete in the header

CompareOp commuted(CompareOp op) {
   switch (op) {
   case CompareOp::Lt: return CompareOp::Gt;
   case CompareOp::Le: return CompareOp::Ge;
   case CompareOp::Gt: return CompareOp::Lt;
   case CompareOp::Ge: return CompareOp::Le;
   default: return op;
   }
}

CompareOp negated(CompareOp op) {
   switch (op) {
   case CompareOp::Eq: return CompareOp::Ne;
   case CompareOp::Ne: return CompareOp::Eq;
   case CompareOp::Lt: return CompareOp::Ge;
   case CompareOp::Le: return CompareOp::Gt;
   case CompareOp::Gt: return CompareOp::Le;
   case CompareOp::Ge: return CompareOp::Lt;
   case CompareOp::IsDistinctFrom: return CompareOp::IsNotDistinctFrom;
   case CompareOp::IsNotDistinctFrom: return CompareOp::IsDistinctFrom;
   }
   return op;
}

ExprPtr makeColumn(ColumnId column, const SqlType& type) {
   auto expr = std::make_unique<Expr>(ExprKind::Column, type);
   expr->column = column;
   return expr;
}

ExprPtr makeConstant(const SqlType& type, Value value) {
   auto expr = std::make_unique<Expr>(ExprKind::Constant, type);
   expr->constant = std::move(value);
   return expr;
}

ExprPtr makeNull(const SqlType& type) {
   return makeConstant(type, Value::null(storedRepresentation(type).physical));
}

ExprPtr makeBoolean(bool value) {
   return makeConstant(SqlType{oid::boolean}, Value::boolean(value));
}

ExprPtr makeCompare(CompareOp op, ExprPtr lhs, ExprPtr rhs) {
   auto expr = std::make_unique<Expr>(ExprKind::Compare, SqlType{oid::boolean});
   expr->compare = op;
   expr->args.push_back(std::move(lhs));
   expr->args.push_back(std::move(rhs));
   return expr;
}

ExprPtr makeNot(ExprPtr arg) {
   auto expr = std::make_unique<Expr>(ExprKind::Not, SqlType{oid::boolean});
   expr->args.push_back(std::move(arg));
   return expr;
}

namespace {

ExprPtr makeList(ExprKind kind, std::vector<ExprPtr> list, bool neutral) {
   std::vector<ExprPtr> flat;
   for (ExprPtr& element : list) {
      if (element->kind == kind) {
         for (ExprPtr& arg : element->args)
            flat.push_back(std::move(arg));
      } else {
         flat.push_back(std::move(element));
      }
   }
   if (flat.empty()) return makeBoolean(neutral);
   if (flat.size() == 1) return std::move(flat.front());
   auto expr = std::make_unique<Expr>(kind, SqlType{oid::boolean});
   expr->args = std::move(flat);
   return expr;
}

} // namespace

ExprPtr makeAnd(std::vector<ExprPtr> conjuncts) {
   return makeList(ExprKind::And, std::move(conjuncts), true);
}

ExprPtr makeOr(std::vector<ExprPtr> disjuncts) {
   return makeList(ExprKind::Or, std::move(disjuncts), false);
}

ExprPtr makeCall(const catalog::FunctionInfo* function, const SqlType& type, std::vector<ExprPtr> args) {
   auto expr = std::make_unique<Expr>(ExprKind::Call, type);
   expr->function = function;
   expr->args = std::move(args);
   return expr;
}

ExprPtr clone(const Expr& expr) {
   auto copy = std::make_unique<Expr>(expr.kind, expr.type);
   copy->repr = expr.repr;
   copy->position = expr.position;
   copy->args.reserve(expr.args.size());
   for (const ExprPtr& arg : expr.args)
      copy->args.push_back(clone(*arg));
   copy->column = expr.column;
   copy->outerDepth = expr.outerDepth;
   copy->parameter = expr.parameter;
   copy->compare = expr.compare;
   copy->subqueryKind = expr.subqueryKind;
   copy->negated = expr.negated;
   copy->explicitCast = expr.explicitCast;
   copy->constant = expr.constant;
   copy->function = expr.function;
   copy->kernel = expr.kernel;
   if (expr.subquery) copy->subquery = clone(*expr.subquery);
   copy->subqueryColumn = expr.subqueryColumn;
   copy->subqueryColumns = expr.subqueryColumns;
   return copy;
}

bool equal(const Expr& a, const Expr& b) {
   if (a.kind != b.kind || a.repr != b.repr) return false;
   if (a.kind == ExprKind::Column) return a.column == b.column;
   if (a.kind == ExprKind::Subquery || a.type != b.type || a.args.size() != b.args.size()) return false;
   if (a.column != b.column || a.outerDepth != b.outerDepth || a.parameter != b.parameter || a.compare != b.compare ||
       a.negated != b.negated || a.explicitCast != b.explicitCast || a.function != b.function || a.kernel != b.kernel)
      return false;
   if (a.kind == ExprKind::Constant && !a.constant.identical(b.constant)) return false;
   for (size_t i = 0; i < a.args.size(); ++i)
      if (!equal(*a.args[i], *b.args[i])) return false;
   return true;
}

uint64_t structuralHash(const Expr& expr) {
   uint64_t hash = static_cast<uint64_t>(expr.kind) * 0x9e3779b97f4a7c15ull;
   const auto mix = [&hash](uint64_t value) {
      hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
      hash *= 0xff51afd7ed558ccdull;
      hash ^= hash >> 33;
   };
   mix(static_cast<uint64_t>(expr.column));
   if (expr.kind == ExprKind::Column) return hash;
   mix(expr.type.oid);
   mix(static_cast<uint64_t>(expr.compare) << 8 | expr.parameter);
   mix(reinterpret_cast<uintptr_t>(expr.function));
   if (expr.kind == ExprKind::Constant) {
      if (expr.constant.isNull)
         mix(1);
      else if (isVariableSize(expr.constant.type))
         mix(std::hash<std::string>()(expr.constant.bytes));
      else if (expr.constant.type == PhysicalType::F64 || expr.constant.type == PhysicalType::F32)
         mix(std::hash<double>()(expr.constant.f64));
      else if (expr.constant.type == PhysicalType::Interval)
         mix(static_cast<uint64_t>(expr.constant.interval.micros));
      else if (expr.constant.type == PhysicalType::I128)
         mix(static_cast<uint64_t>(expr.constant.i128));
      else
         mix(static_cast<uint64_t>(expr.constant.i64));
   }
   for (const ExprPtr& arg : expr.args)
      mix(structuralHash(*arg));
   return hash;
}

bool isNullConstant(const Expr& expr) {
   return expr.kind == ExprKind::Constant && expr.constant.isNull;
}

} // namespace ouzel::sql
