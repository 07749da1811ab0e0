#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "optimizer/rewrite/rules.hpp"

// A VALUES with many rows has the same cast around each constant of a column: INSERT INTO t VALUES (1, 'a'), (2, 'b'),
// ... The casts move into a Map above the VALUES, where they run over vectors instead of single values.

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr size_t rowsMin = 4;

/// True for a cast of the first argument whose other arguments are constant and that gives NULL for NULL.
bool isLiftable(const Expr& expr) {
   switch (expr.kind) {
   case ExprKind::TypmodCast:
   case ExprKind::TextCast:
   case ExprKind::Relabel: return true;
   case ExprKind::Call: {
      const auto* function = functionOf(expr);
      return function && function->isStrict && !function->returnsSet && !expr.args.empty() &&
             function->volatility != catalog::Volatility::Volatile &&
             std::all_of(expr.args.begin() + 1, expr.args.end(),
                         [](const ExprPtr& arg) { return knownValue(*arg) != nullptr; });
   }
   default: return false;
   }
}

/// True if both expressions are the same cast, from and to the same types.
bool isSameCast(const Expr& a, const Expr& b) {
   if (!sameFields(a, b) || a.type != b.type || a.args.size() != b.args.size() || a.args[0]->type != b.args[0]->type)
      return false;
   for (size_t i = 1; i < a.args.size(); ++i)
      if (!equal(*a.args[i], *b.args[i])) return false;
   return true;
}

/// Removes the outermost cast from column `index` of all rows and returns it; null if the casts differ.
ExprPtr takeCast(op::Values& values, size_t index) {
   const Expr* cast = nullptr;
   for (const auto& row : values.rows) {
      const Expr& expr = *row[index];
      if (isNullConstant(expr)) continue;
      if (!isLiftable(expr) || (cast && !isSameCast(*cast, expr))) return nullptr;
      if (!cast) cast = &expr;
   }
   if (!cast) return nullptr;
   ExprPtr result = clone(*cast);
   const SqlType inner = cast->args[0]->type;
   for (auto& row : values.rows) {
      if (isNullConstant(*row[index])) {
         row[index] = makeNull(inner);
      } else {
         ExprPtr arg = std::move(row[index]->args[0]);
         row[index] = std::move(arg);
      }
   }
   return result;
}

void lift(RelPtr& rel, Query& query) {
   auto& values = rel->as<op::Values>();
   std::vector<std::vector<ComputedColumn>> layers; // outermost cast first
   for (size_t i = 0; i < values.columns.size(); ++i) {
      ColumnId target = values.columns[i];
      for (size_t depth = 0;; ++depth) {
         ExprPtr cast = takeCast(values, i);
         if (!cast) break;
         const ColumnId below = query.newColumn(query.columns[target].name, cast->args[0]->type);
         cast->args[0] = query.ref(below);
         if (layers.size() <= depth) layers.emplace_back();
         layers[depth].push_back({target, std::move(cast)});
         target = below;
      }
      values.columns[i] = target;
   }
   for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
      rel = makeMap(std::move(rel), std::move(*layer));
}

} // namespace

void liftCasts(RelPtr& rel, Query& query) {
   forEachChild(*rel, [&](RelPtr& child) { liftCasts(child, query); });
   const auto* values = rel->getIf<op::Values>();
   if (values && values->rows.size() >= rowsMin) lift(rel, query);
}

} // namespace ouzel::optimizer
