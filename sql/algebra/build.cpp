#include "sql/algebra/build.hpp"

#include "common/error/check.hpp"

namespace ouzel::sql {

ExprPtr makeTyped(ExprKind kind, const SqlType& type, uint32_t position) {
   auto expr = std::make_unique<Expr>(kind, type);
   expr->position = position;
   return expr;
}

ExprPtr makeSubquery(SubqueryKind kind, const SqlType& type, RelPtr query, std::vector<ColumnId> columns,
                     uint32_t position) {
   auto expr = makeTyped(ExprKind::Subquery, type, position);
   expr->as<scalar::Subquery>() = {kind, CompareOp::Eq, std::move(query), std::move(columns)};
   return expr;
}

RelPtr makeSelect(RelPtr input, ExprPtr predicate) {
   DCHECK(input != nullptr);
   DCHECK(!predicate || predicate->type.oid == oid::boolean);
   if (!predicate || isConstantTrue(*predicate)) return input;
   if (input->kind == RelKind::Select) {
      ExprPtr& below = input->as<op::Select>().predicate;
      below = conjunction(std::move(below), std::move(predicate));
      return input;
   }
   return makeRel(RelKind::Select, op::Select{std::move(predicate)}, std::move(input));
}

RelPtr makeSelect(RelPtr input, std::vector<ExprPtr> conjuncts) {
   if (conjuncts.empty()) return input;
   return makeSelect(std::move(input), makeAnd(std::move(conjuncts)));
}

std::vector<const Expr*> conjunctList(const Expr* predicate) {
   std::vector<const Expr*> list;
   if (!predicate) return list;
   if (predicate->kind != ExprKind::And) return {predicate};
   for (const ExprPtr& arg : predicate->args)
      list.push_back(arg.get());
   return list;
}

RelPtr makeMap(RelPtr input, std::vector<ComputedColumn> computed) {
   DCHECK(input != nullptr);
   if (computed.empty()) return input;
   return makeRel(RelKind::Map, op::Map{std::move(computed)}, std::move(input));
}

RelPtr makeJoin(JoinKind kind, RelPtr left, RelPtr right, ExprPtr predicate) {
   DCHECK(left != nullptr);
   if (predicate && isConstantTrue(*predicate)) predicate.reset();
   return makeRel(RelKind::Join, op::Join{kind, std::move(predicate)}, std::move(left), std::move(right));
}

RelPtr oneRow() {
   op::Values values;
   values.rows.emplace_back();
   return makeRel(RelKind::Values, std::move(values));
}

bool isUnit(const Rel& rel) {
   const auto* values = rel.getIf<op::Values>();
   return values && values->rows.size() == 1 && values->columns.empty();
}

ExprPtr makeTest(ExprKind kind, ExprPtr arg) {
   auto expr = std::make_unique<Expr>(kind, SqlType{oid::boolean});
   expr->args.push_back(std::move(arg));
   return expr;
}

ExprPtr conjunction(ExprPtr lhs, ExprPtr rhs) {
   if (!lhs) return rhs;
   if (!rhs) return lhs;
   std::vector<ExprPtr> both;
   both.push_back(std::move(lhs));
   both.push_back(std::move(rhs));
   return makeAnd(std::move(both));
}

std::vector<ExprPtr> conjunctsOf(ExprPtr predicate) {
   std::vector<ExprPtr> conjuncts;
   if (predicate) splitConjuncts(std::move(predicate), conjuncts);
   std::erase_if(conjuncts, [](const ExprPtr& expr) { return isConstantTrue(*expr); });
   return conjuncts;
}

} // namespace ouzel::sql
