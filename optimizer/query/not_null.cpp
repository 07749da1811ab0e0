#include "optimizer/query/not_null.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// Adds the columns that cannot be NULL in rows for which the predicate is true.
void addRejected(const Expr* predicate, ColumnSet& notNull) {
   checkStack();
   if (!predicate) return;
   if (predicate->kind == ExprKind::And) {
      for (const ExprPtr& conjunct : predicate->args)
         addRejected(conjunct.get(), notNull);
      return;
   }
   std::vector<ColumnId> used;
   collectColumns(*predicate, used);
   for (const ColumnId column : used)
      if (!notNull.contains(column) && rejectsNulls(*predicate, {column})) notNull.add(column);
}

/// Whether constraints say that no row has a NULL there. Files keep none, and ALTER TABLE ONLY makes one for a table
/// without its heirs.
bool isNotNull(const op::Get& get, const GetColumn& column, const Query& query) {
   if (get.table.external || query.columns[column.column].nullable) return false;
   const TableParts* parts = get.table.parts.get();
   if (!parts || !parts->nodes.empty() || column.attribute < 0) return true;
   return std::all_of(parts->parts.begin(), parts->parts.end(), [&column](const TablePart& part) {
      const int16_t own = part.attributeOf(column.attribute);
      return own > 0 && part.relation->column(own)->notNull;
   });
}

} // namespace

ColumnSet rejectedColumns(const Expr& predicate) {
   ColumnSet result;
   addRejected(&predicate, result);
   return result;
}

bool isNeverNull(const Expr& expr, const ColumnSet& notNull) {
   checkStack();
   switch (expr.kind) {
   case ExprKind::Column: return notNull.contains(columnOf(expr));
   case ExprKind::Constant: return !isNullConstant(expr);
   case ExprKind::IsNull:
   case ExprKind::IsNotNull:
   case ExprKind::IsTrue:
   case ExprKind::IsNotTrue:
   case ExprKind::IsFalse:
   case ExprKind::IsNotFalse: return true;
   case ExprKind::Compare:
      if (isNullSafe(expr.as<scalar::Compare>().op)) return true;
      break;
   case ExprKind::And:
   case ExprKind::Or:
   case ExprKind::Not:
   case ExprKind::Relabel:
   case ExprKind::Convert:
   case ExprKind::TypmodCast:
   case ExprKind::InList: break;
   case ExprKind::Coalesce:
      for (const ExprPtr& arg : expr.args)
         if (isNeverNull(*arg, notNull)) return true;
      return false;
   default: return false; // even a strict function may give NULL for arguments that are not NULL
   }
   for (const ExprPtr& arg : expr.args)
      if (!isNeverNull(*arg, notNull)) return false;
   return true;
}

ColumnSet notNullColumns(const Rel& rel, const Query& query) {
   checkStack();
   ColumnSet result;
   switch (rel.kind) {
   case RelKind::Get:
   case RelKind::VirtualGet: {
      const auto& get = rel.as<op::Get>();
      for (const GetColumn& column : get.columns)
         if (isNotNull(get, column, query)) result.add(column.column);
      addRejected(get.predicate.get(), result);
      return result;
   }
   case RelKind::Select:
      result = notNullColumns(*rel.inputs[0], query);
      addRejected(rel.as<op::Select>().predicate.get(), result);
      return result;
   case RelKind::Map: {
      result = notNullColumns(*rel.inputs[0], query);
      const ColumnSet input = result;
      for (const ComputedColumn& computed : rel.as<op::Map>().computed)
         if (isNeverNull(*computed.expr, input)) result.add(computed.column);
      return result;
   }
   case RelKind::Join: {
      const auto& join = rel.as<op::Join>();
      if (join.kind == JoinKind::Full) return result;
      if (join.kind != JoinKind::Right) result = notNullColumns(*rel.inputs[0], query);
      if (join.kind == JoinKind::Inner || join.kind == JoinKind::Right)
         result.add(notNullColumns(*rel.inputs[1], query));
      if (join.kind == JoinKind::Inner || join.kind == JoinKind::Semi) addRejected(join.predicate.get(), result);
      if (join.kind == JoinKind::Mark && !query.columns[join.markColumn].nullable) result.add(join.markColumn);
      return result;
   }
   case RelKind::GroupBy: {
      const auto& group = rel.as<op::GroupBy>();
      const ColumnSet input = notNullColumns(*rel.inputs[0], query);
      if (group.groupingSets.size() <= 1)
         for (const ComputedColumn& key : group.keys)
            if (isNeverNull(*key.expr, input)) result.add(key.column);
      for (const AggregateCall& call : group.aggregates)
         if (call.function && (call.function->name == "count" || call.function->name == "regr_count"))
            result.add(call.column);
      return result;
   }
   case RelKind::Window:
      result = notNullColumns(*rel.inputs[0], query);
      for (const WindowCall& call : rel.as<op::Window>().calls)
         if (call.function && (call.function->name == "row_number" || call.function->name == "rank" ||
                               call.function->name == "dense_rank" || call.function->name == "count"))
            result.add(call.column);
      return result;
   case RelKind::Sort:
   case RelKind::Limit:
   case RelKind::Distinct:
   case RelKind::LockRows:
   case RelKind::Barrier:
   case RelKind::With: return notNullColumns(*rel.inputs[0], query);
   case RelKind::SetOp: {
      const auto& setOp = rel.as<op::SetOp>();
      const ColumnSet left = notNullColumns(*rel.inputs[0], query), right = notNullColumns(*rel.inputs[1], query);
      for (size_t i = 0; i < setOp.columns.size(); ++i)
         if (left.contains(setOp.inputColumns[0][i]) &&
             (setOp.kind == SetOpKind::Except || right.contains(setOp.inputColumns[1][i])))
            result.add(setOp.columns[i]);
      return result;
   }
   case RelKind::Values: {
      const auto& values = rel.as<op::Values>();
      for (size_t i = 0; i < values.columns.size(); ++i) {
         bool never = true;
         for (const auto& row : values.rows)
            never = never && isNeverNull(*row[i], {});
         if (never) result.add(values.columns[i]);
      }
      return result;
   }
   default: return result;
   }
}

namespace {

/// Whether the tree reads a stored table of so many rows.
bool readsTableOf(const Rel& rel, uint64_t rows, const Query& query) {
   checkStack();
   if (const auto* get = rel.getIf<op::Get>()) {
      const auto statistics = query.context.statistics ? query.context.statistics->statistics(get->table) : nullptr;
      return statistics && statistics->rowCount >= rows;
   }
   bool found = false;
   forEachChild(rel, [&](const RelPtr& child) { found = found || readsTableOf(*child, rows, query); });
   return found;
}

} // namespace

bool comparesWithValue(const Rel& rel, const std::vector<ExprPtr>& conjuncts, const Query& query) {
   constexpr uint64_t rowsMin = 10'000;
   const auto& join = rel.as<op::Join>();
   if (join.kind != JoinKind::Single || join.predicate || isUnit(*rel.inputs[0])) return false;
   if (!readsTableOf(*rel.inputs[0], rowsMin, query)) return false;
   const std::vector<ColumnId> right = outputColumns(*rel.inputs[1]);
   return std::ranges::any_of(conjuncts, [&](const ExprPtr& e) { return rejectsNulls(*e, right); });
}

bool keepsOnlyPadded(const Rel& rel, const std::vector<ExprPtr>& conjuncts, const Query& query) {
   const ExprPtr& on = rel.as<op::Join>().predicate;
   const auto isNullTest = [](const ExprPtr& e) {
      return e->kind == ExprKind::IsNull && e->args[0]->kind == ExprKind::Column;
   };
   if (!on || isVolatile(*on) || std::ranges::none_of(conjuncts, isNullTest)) return false;
   const ColumnSet right(outputColumns(*rel.inputs[1])), matched = rejectedColumns(*on),
                                                         never = notNullColumns(*rel.inputs[1], query);
   return std::ranges::any_of(conjuncts, [&](const ExprPtr& conjunct) {
      if (!isNullTest(conjunct)) return false;
      const ColumnId column = columnOf(*conjunct->args[0]);
      return right.contains(column) && (matched.contains(column) || never.contains(column));
   });
}

} // namespace ouzel::optimizer
