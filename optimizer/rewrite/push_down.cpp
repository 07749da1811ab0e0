#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/query/not_null.hpp"
#include "optimizer/rewrite/ctes.hpp"
#include "optimizer/rewrite/derive.hpp"
#include "optimizer/rewrite/rules.hpp"

// Moves predicates towards the scans as far as their meaning stays the same. On the way:
// - an outer join becomes an inner join if a predicate drops its padded rows,
// - a left join becomes an anti join if a predicate keeps only its padded rows,
// - a test of a mark turns a Mark join into a Semi or Anti join,
// - a CTE gets the disjunction of its readers' predicates,
// - new predicates are derived from equalities (a = b and b = 5) and from disjunctions (derive.cpp).
// Volatile predicates do not move. Predicates that are not leakproof do not pass a barrier: their errors would tell of
// rows that row-level security hides.

namespace ouzel::optimizer {

using namespace sql;

namespace {

using Conjuncts = std::vector<ExprPtr>;

std::vector<ColumnId> columnsOf(const Expr& expr) {
   std::vector<ColumnId> used;
   collectColumns(expr, used);
   return used;
}

void addAll(Conjuncts& to, Conjuncts from) {
   for (ExprPtr& expr : from)
      to.push_back(std::move(expr));
}

/// Adds conjuncts that differ from each other: each is compared only with what was there before.
void addAllNew(Conjuncts& to, Conjuncts from) {
   const auto before = static_cast<std::ptrdiff_t>(to.size());
   for (ExprPtr& expr : from) {
      const bool known =
          std::any_of(to.begin(), to.begin() + before, [&expr](const ExprPtr& other) { return equal(*other, *expr); });
      if (!known) to.push_back(std::move(expr));
   }
}

void addNew(Conjuncts& to, ExprPtr expr) {
   const bool known = std::any_of(to.begin(), to.end(), [&expr](const ExprPtr& other) { return equal(*other, *expr); });
   if (!known) to.push_back(std::move(expr));
}

bool isEmpty(const Rel& rel) {
   const auto* values = rel.getIf<op::Values>();
   return values && values->rows.empty();
}

RelPtr makeEmpty(std::vector<ColumnId> columns) {
   return makeRel(RelKind::Values, op::Values{std::move(columns), {}});
}

class PushDown {
public:
   explicit PushDown(Query& query) : query_(query) {}

   RelPtr push(RelPtr rel, Conjuncts conjuncts) {
      checkStack();
      checkInterrupted();
      for (const ExprPtr& conjunct : conjuncts)
         if (isConstantFalseOrNull(*conjunct)) return makeEmpty(outputColumns(*rel));
      Conjuncts stay;
      for (ExprPtr& conjunct : conjuncts)
         if (isVolatile(*conjunct)) stay.push_back(std::move(conjunct));
      std::erase_if(conjuncts, [](const ExprPtr& expr) { return !expr; });
      rel = pushInto(std::move(rel), std::move(conjuncts));
      return makeSelect(std::move(rel), std::move(stay));
   }

private:
   /// impliedBy(), in its simplest form: a = 1 OR a = 2 is estimated worse than a IN (1, 2).
   ExprPtr implied(const Expr& conjunct, const ColumnSet& side) {
      ExprPtr predicate = impliedBy(conjunct, side);
      if (predicate) simplifyExpr(predicate, query_);
      return predicate;
   }

   RelPtr pushInto(RelPtr rel, Conjuncts conjuncts) {
      checkStack();
      switch (rel->kind) {
      case RelKind::Select: {
         Conjuncts all = conjunctsOf(std::move(rel->as<op::Select>().predicate));
         addAllNew(all, std::move(conjuncts));
         return push(std::move(rel->inputs[0]), std::move(all));
      }
      case RelKind::Get:
      case RelKind::VirtualGet: {
         ExprPtr& predicate = rel->as<op::Get>().predicate;
         Conjuncts all = conjunctsOf(std::move(predicate));
         addAllNew(all, std::move(conjuncts));
         std::erase_if(all, [this](const ExprPtr& test) { // IS NOT NULL of a column that is declared NOT NULL
            return test->kind == ExprKind::IsNotNull && test->args[0]->kind == ExprKind::Column &&
                   !query_.columns[columnOf(*test->args[0])].nullable;
         });
         predicate = all.empty() ? nullptr : makeAnd(std::move(all));
         return rel;
      }
      case RelKind::Map: return pushMap(std::move(rel), std::move(conjuncts));
      case RelKind::ProjectSet:
      case RelKind::TableFunction:
         return rel->inputs.empty() ? makeSelect(std::move(rel), std::move(conjuncts))
                                    : pushBelow(std::move(rel), std::move(conjuncts));
      case RelKind::Window: return pushWindow(std::move(rel), std::move(conjuncts));
      case RelKind::Sort:
      case RelKind::LockRows: return pushAll(std::move(rel), std::move(conjuncts));
      case RelKind::Barrier: return pushThroughBarrier(std::move(rel), std::move(conjuncts));
      case RelKind::With: return pushWith(std::move(rel), std::move(conjuncts));
      case RelKind::GroupBy: return pushGroupBy(std::move(rel), std::move(conjuncts));
      case RelKind::Distinct: return pushDistinct(std::move(rel), std::move(conjuncts));
      case RelKind::SetOp: return pushSetOp(std::move(rel), std::move(conjuncts));
      case RelKind::Join: return pushJoin(std::move(rel), std::move(conjuncts));
      default: // predicates do not pass limits, VALUES, CTE scans, DML, ...
         for (RelPtr& input : rel->inputs)
            input = push(std::move(input), {});
         return makeSelect(std::move(rel), std::move(conjuncts));
      }
   }

   RelPtr pushAll(RelPtr rel, Conjuncts conjuncts) {
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(conjuncts));
      return rel;
   }

   /// Readers come first: a CTE gets what all of them ask of its rows.
   RelPtr pushWith(RelPtr rel, Conjuncts conjuncts) {
      rel = pushAll(std::move(rel), std::move(conjuncts));
      std::vector<Cte>& ctes = rel->as<op::With>().ctes;
      for (size_t i = ctes.size(); i-- > 0;) {
         Cte& cte = ctes[i];
         Conjuncts wanted;
         if (ExprPtr filter = filterOfReaders(*rel, cte, query_)) wanted.push_back(std::move(filter));
         cte.query = push(std::move(cte.query), std::move(wanted));
         if (cte.recursive) cte.recursive = push(std::move(cte.recursive), {});
      }
      return rel;
   }

   /// Pushes the conjuncts that tell nothing of the rows that they see. The barrier goes if the predicates below it are
   /// all the scan's, which gives no row that they leave out, and nothing stays above. It stays over joins, whose order
   /// with the joins above is not decided yet.
   RelPtr pushThroughBarrier(RelPtr rel, Conjuncts conjuncts) {
      Conjuncts below, stay;
      for (ExprPtr& conjunct : conjuncts)
         (isLeakproof(*conjunct) ? below : stay).push_back(std::move(conjunct));
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(below));
      if (stay.empty() && rel->inputs[0]->kind == RelKind::Get) {
         RelPtr input = std::move(rel->inputs[0]);
         return input;
      }
      return makeSelect(std::move(rel), std::move(stay));
   }

   /// Pushes the conjuncts that read only columns of the input; all other conjuncts stay above.
   RelPtr pushBelow(RelPtr rel, Conjuncts conjuncts) {
      const ColumnSet input(outputColumns(*rel->inputs[0]));
      Conjuncts below, stay;
      for (ExprPtr& conjunct : conjuncts)
         (input.containsAll(columnsOf(*conjunct)) ? below : stay).push_back(std::move(conjunct));
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(below));
      return makeSelect(std::move(rel), std::move(stay));
   }

   RelPtr pushMap(RelPtr rel, Conjuncts conjuncts) {
      auto& map = rel->as<op::Map>();
      Conjuncts below, stay;
      for (ExprPtr& conjunct : conjuncts) {
         bool canMove = true;
         const std::vector<ColumnId> used = columnsOf(*conjunct);
         for (const ComputedColumn& computed : map.computed)
            if (std::find(used.begin(), used.end(), computed.column) != used.end() && isVolatile(*computed.expr))
               canMove = false;
         if (!canMove) {
            stay.push_back(std::move(conjunct));
            continue;
         }
         substituteColumns(conjunct, [&map](ColumnId column) -> const Expr* {
            for (const ComputedColumn& computed : map.computed)
               if (computed.column == column) return computed.expr.get();
            return nullptr;
         });
         simplifyExpr(conjunct, query_);
         addAll(below, conjunctsOf(std::move(conjunct)));
      }
      const bool nothingPasses =
          std::any_of(below.begin(), below.end(), [](const ExprPtr& e) { return isConstantFalseOrNull(*e); });
      if (nothingPasses) return makeEmpty(outputColumns(*rel));
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(below));
      return makeSelect(std::move(rel), std::move(stay));
   }

   /// Pushes the conjuncts that keep or drop whole window partitions.
   RelPtr pushWindow(RelPtr rel, Conjuncts conjuncts) {
      ColumnSet partition;
      for (const ExprPtr& expr : rel->as<op::Window>().spec.partitionBy)
         if (const auto* reference = expr->getIf<scalar::Column>()) partition.add(reference->column);
      Conjuncts below, stay;
      for (ExprPtr& conjunct : conjuncts) {
         const std::vector<ColumnId> used = columnsOf(*conjunct);
         const bool isOfPartitions = !used.empty() && partition.containsAll(used);
         if (!isOfPartitions)
            if (ExprPtr weaker = implied(*conjunct, partition)) below.push_back(std::move(weaker));
         (isOfPartitions ? below : stay).push_back(std::move(conjunct));
      }
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(below));
      return makeSelect(std::move(rel), std::move(stay));
   }

   /// Pushes the conjuncts that keep or drop whole groups in every grouping set.
   RelPtr pushGroupBy(RelPtr rel, Conjuncts conjuncts) {
      auto& group = rel->as<op::GroupBy>();
      ColumnSet keys;
      for (uint32_t i = 0; i < group.keys.size(); ++i) {
         const bool inAllSets = std::all_of(group.groupingSets.begin(), group.groupingSets.end(), [i](const auto& set) {
            return std::find(set.begin(), set.end(), i) != set.end();
         });
         if (inAllSets && !isVolatile(*group.keys[i].expr)) keys.add(group.keys[i].column);
      }
      Conjuncts below, stay;
      for (ExprPtr& conjunct : conjuncts) {
         const std::vector<ColumnId> used = columnsOf(*conjunct);
         if (used.empty() || !keys.containsAll(used)) {
            ExprPtr weaker = implied(*conjunct, keys);
            stay.push_back(std::move(conjunct));
            if (!weaker) continue;
            conjunct = std::move(weaker);
         }
         substituteColumns(conjunct, [&group](ColumnId column) -> const Expr* {
            for (const ComputedColumn& key : group.keys)
               if (key.column == column) return key.expr.get();
            return nullptr;
         });
         below.push_back(std::move(conjunct));
      }
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(below));
      return makeSelect(std::move(rel), std::move(stay));
   }

   RelPtr pushDistinct(RelPtr rel, Conjuncts conjuncts) {
      const ColumnSet columns(rel->as<op::Distinct>().columns);
      Conjuncts below, stay;
      for (ExprPtr& conjunct : conjuncts) {
         const bool wholeGroups = columns.containsAll(columnsOf(*conjunct));
         (wholeGroups ? below : stay).push_back(std::move(conjunct));
      }
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(below));
      return makeSelect(std::move(rel), std::move(stay));
   }

   RelPtr pushSetOp(RelPtr rel, Conjuncts conjuncts) {
      auto& setOp = rel->as<op::SetOp>();
      for (int side = 0; side < 2; ++side) {
         Conjuncts below;
         for (const ExprPtr& conjunct : conjuncts) {
            ExprPtr copy = clone(*conjunct);
            ExprPtr replacement;
            substituteColumns(copy, [&](ColumnId column) -> const Expr* {
               const auto at = std::find(setOp.columns.begin(), setOp.columns.end(), column);
               if (at == setOp.columns.end()) return nullptr;
               replacement = query_.ref(setOp.inputColumns[side][static_cast<size_t>(at - setOp.columns.begin())]);
               return replacement.get();
            });
            below.push_back(std::move(copy));
         }
         rel->inputs[side] = push(std::move(rel->inputs[side]), std::move(below));
      }
      return rel;
   }

   // ---- joins ----

   RelPtr pushJoin(RelPtr rel, Conjuncts conjuncts) {
      auto& join = rel->as<op::Join>();
      if (join.kind == JoinKind::Right) {
         std::swap(rel->inputs[0], rel->inputs[1]);
         join.kind = JoinKind::Left;
      }
      strengthen(*rel, conjuncts);
      switch (join.kind) {
      case JoinKind::Inner: return pushInner(std::move(rel), std::move(conjuncts));
      case JoinKind::Mark: return pushMark(std::move(rel), std::move(conjuncts));
      case JoinKind::Full: {
         for (RelPtr& input : rel->inputs)
            input = push(std::move(input), {});
         return makeSelect(std::move(rel), std::move(conjuncts));
      }
      default: return pushOneSided(std::move(rel), std::move(conjuncts));
      }
   }

   /// Turns an outer join into a simpler join if the conjuncts drop its padded rows.
   static void strengthen(Rel& rel, const Conjuncts& conjuncts) {
      auto& join = rel.as<op::Join>();
      if (join.kind != JoinKind::Left && join.kind != JoinKind::Full) return;
      const auto rejects = [&conjuncts](const std::vector<ColumnId>& columns) {
         return std::any_of(conjuncts.begin(), conjuncts.end(),
                            [&columns](const ExprPtr& conjunct) { return rejectsNulls(*conjunct, columns); });
      };
      const bool rightRejected = rejects(outputColumns(*rel.inputs[1]));
      if (join.kind == JoinKind::Left) {
         if (rightRejected) join.kind = JoinKind::Inner;
         return;
      }
      const bool leftRejected = rejects(outputColumns(*rel.inputs[0]));
      if (leftRejected && rightRejected) {
         join.kind = JoinKind::Inner;
      } else if (leftRejected) { // every remaining row has a left part
         join.kind = JoinKind::Left;
      } else if (rightRejected) {
         std::swap(rel.inputs[0], rel.inputs[1]);
         join.kind = JoinKind::Left;
      }
   }

   /// Moves the predicates of a tree of inner joins, and of filters between the joins, into one list.
   void flatten(RelPtr& rel, Conjuncts& all) {
      checkStack();
      checkInterrupted();
      while (rel->kind == RelKind::Select) {
         ExprPtr& predicate = rel->as<op::Select>().predicate;
         Conjuncts own = conjunctsOf(std::move(predicate)), isVolatileOnes;
         for (ExprPtr& conjunct : own)
            (isVolatile(*conjunct) ? isVolatileOnes : all).push_back(std::move(conjunct));
         if (!isVolatileOnes.empty()) {
            predicate = makeAnd(std::move(isVolatileOnes));
            return;
         }
         RelPtr input = std::move(rel->inputs[0]);
         rel = std::move(input);
      }
      auto* join = rel->getIf<op::Join>();
      if (!join) return;
      if (join->kind == JoinKind::Left) strengthen(*rel, all);
      if (join->kind != JoinKind::Inner) return;
      Conjuncts own = conjunctsOf(std::move(join->predicate)), stay;
      for (ExprPtr& conjunct : own)
         (isVolatile(*conjunct) ? stay : all).push_back(std::move(conjunct));
      join->predicate = stay.empty() ? nullptr : makeAnd(std::move(stay));
      flatten(rel->inputs[0], all);
      flatten(rel->inputs[1], all);
   }

   RelPtr pushInner(RelPtr rel, Conjuncts conjuncts) {
      Conjuncts all = std::move(conjuncts);
      flatten(rel, all);
      Conjuncts unique;
      for (ExprPtr& conjunct : all)
         addNew(unique, std::move(conjunct));
      deriveFromEqualities(unique, *rel, query_);
      if (std::any_of(unique.begin(), unique.end(), [](const ExprPtr& e) { return isConstantFalseOrNull(*e); }))
         return makeEmpty(outputColumns(*rel));
      return distribute(std::move(rel), std::move(unique));
   }

   /// Puts each predicate of a tree of inner joins at the lowest operator that has all its columns.
   RelPtr distribute(RelPtr rel, Conjuncts conjuncts) {
      checkStack();
      auto* join = rel->getIf<op::Join>();
      if (!join || join->kind != JoinKind::Inner) return push(std::move(rel), std::move(conjuncts));
      const ColumnSet left(outputColumns(*rel->inputs[0])), right(outputColumns(*rel->inputs[1]));
      Conjuncts toLeft, toRight, here = conjunctsOf(std::move(join->predicate));
      for (ExprPtr& conjunct : conjuncts) {
         const std::vector<ColumnId> used = columnsOf(*conjunct);
         if (left.containsAll(used)) {
            addNew(toLeft, std::move(conjunct));
         } else if (right.containsAll(used)) {
            addNew(toRight, std::move(conjunct));
         } else {
            if (ExprPtr weaker = implied(*conjunct, left)) addNew(toLeft, std::move(weaker));
            if (ExprPtr weaker = implied(*conjunct, right)) addNew(toRight, std::move(weaker));
            here.push_back(std::move(conjunct));
         }
      }
      rel->inputs[0] = distribute(std::move(rel->inputs[0]), std::move(toLeft));
      rel->inputs[1] = distribute(std::move(rel->inputs[1]), std::move(toRight));
      if (isEmpty(*rel->inputs[0]) || isEmpty(*rel->inputs[1])) return makeEmpty(outputColumns(*rel));
      join->predicate = here.empty() ? nullptr : makeAnd(std::move(here));
      return rel;
   }

   /// The rows of a Left join that have no partner. The columns of its right side, which operators above may read, are
   /// NULL; below the join they get other names.
   RelPtr withoutPartners(RelPtr rel) {
      auto& join = rel->as<op::Join>();
      join.kind = JoinKind::Anti;
      std::vector<ComputedColumn> nulls;
      for (const ColumnId column : outputColumns(*rel->inputs[1]))
         nulls.push_back({column, makeNull(query_.columns[column].type)});
      ColumnMap renamed;
      rel->inputs[1] = cloneRenamed(*rel->inputs[1], query_, renamed);
      rewriteExpr(join.predicate, [&](ExprPtr& expr) {
         if (expr->kind != ExprKind::Column) return;
         if (const auto it = renamed.find(columnOf(*expr)); it != renamed.end()) expr = query_.ref(it->second);
      });
      return makeMap(std::move(rel), std::move(nulls));
   }

   /// Left, Semi, Anti, Single: conjuncts over left columns filter the left side; conjuncts of ON over right columns
   /// filter the right side.
   RelPtr pushOneSided(RelPtr rel, Conjuncts conjuncts) {
      auto& join = rel->as<op::Join>();
      if (comparesWithValue(*rel, conjuncts, query_)) {
         rel->inputs[1] = makeJoin(JoinKind::Single, oneRow(), std::move(rel->inputs[1]), nullptr);
         join.kind = JoinKind::Inner;
         return pushInner(std::move(rel), std::move(conjuncts));
      }
      if (join.kind == JoinKind::Left && keepsOnlyPadded(*rel, conjuncts, query_))
         return push(withoutPartners(std::move(rel)), std::move(conjuncts));
      const ColumnSet left(outputColumns(*rel->inputs[0])), right(outputColumns(*rel->inputs[1]));
      Conjuncts toLeft, toRight, stay, on;
      for (ExprPtr& conjunct : conjuncts)
         (left.containsAll(columnsOf(*conjunct)) ? toLeft : stay).push_back(std::move(conjunct));
      Conjuncts own = conjunctsOf(std::move(join.predicate));
      const bool semi = join.kind == JoinKind::Semi;
      for (ExprPtr& conjunct : own) {
         const std::vector<ColumnId> used = columnsOf(*conjunct);
         if (isVolatile(*conjunct)) {
            on.push_back(std::move(conjunct));
         } else if (!used.empty() && right.containsAll(used)) {
            toRight.push_back(std::move(conjunct));
         } else if (semi && left.containsAll(used)) {
            toLeft.push_back(std::move(conjunct));
         } else {
            if (ExprPtr weaker = implied(*conjunct, right)) addNew(toRight, std::move(weaker));
            if (semi)
               if (ExprPtr weaker = implied(*conjunct, left)) addNew(toLeft, std::move(weaker));
            on.push_back(std::move(conjunct));
         }
      }
      for (ExprPtr& derived : deriveForRight(on, toLeft, *rel->inputs[0], right, query_))
         addNew(toRight, std::move(derived));
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(toLeft));
      rel->inputs[1] = push(std::move(rel->inputs[1]), std::move(toRight));
      if (isEmpty(*rel->inputs[0]) || (semi && isEmpty(*rel->inputs[1]))) return makeEmpty(outputColumns(*rel));
      if (join.kind == JoinKind::Anti && isEmpty(*rel->inputs[1]))
         return makeSelect(std::move(rel->inputs[0]), std::move(stay));
      join.predicate = on.empty() ? nullptr : makeAnd(std::move(on));
      return makeSelect(std::move(rel), std::move(stay));
   }

   RelPtr pushMark(RelPtr rel, Conjuncts conjuncts) {
      auto& join = rel->as<op::Join>();
      const ColumnId mark = join.markColumn;
      for (ExprPtr& conjunct : conjuncts) {
         const bool isMark = columnOf(*conjunct) == mark;
         const bool isNotMark = conjunct->kind == ExprKind::Not && columnOf(*conjunct->args[0]) == mark;
         if (!isMark && !isNotMark) continue;
         // Other readers of the mark get a constant, because the conjunct fixes the mark's value.
         conjunct.reset();
         std::erase_if(conjuncts, [](const ExprPtr& e) { return !e; });
         join.kind = isMark ? JoinKind::Semi : JoinKind::Anti;
         join.markColumn = noColumn;
         if (isNotMark && join.predicate) join.predicate = makeTest(ExprKind::IsNotFalse, std::move(join.predicate));
         if (isNotMark) splitNotFalse(join.predicate);
         std::vector<ComputedColumn> computed;
         computed.push_back({mark, makeBoolean(isMark)});
         return push(makeMap(std::move(rel), std::move(computed)), std::move(conjuncts));
      }
      const ColumnSet left(outputColumns(*rel->inputs[0])), right(outputColumns(*rel->inputs[1]));
      Conjuncts toLeft, stay, toRight, on;
      for (ExprPtr& conjunct : conjuncts)
         (left.containsAll(columnsOf(*conjunct)) ? toLeft : stay).push_back(std::move(conjunct));
      for (ExprPtr& conjunct : conjunctsOf(std::move(join.predicate))) {
         // Only a conjunct that is never NULL may filter the right side; otherwise a mark that is NULL would become
         // false.
         const std::vector<ColumnId> used = columnsOf(*conjunct);
         const bool twoValued = conjunct->kind == ExprKind::IsTrue;
         (twoValued && !used.empty() && right.containsAll(used) ? toRight : on).push_back(std::move(conjunct));
      }
      join.predicate = on.empty() ? nullptr : makeAnd(std::move(on));
      rel->inputs[0] = push(std::move(rel->inputs[0]), std::move(toLeft));
      rel->inputs[1] = push(std::move(rel->inputs[1]), std::move(toRight));
      return makeSelect(std::move(rel), std::move(stay));
   }

   /// Splits (a AND b) IS NOT FALSE into a IS NOT FALSE AND b IS NOT FALSE. A conjunct x IS TRUE stays the same.
   static void splitNotFalse(ExprPtr& predicate) {
      if (!predicate || predicate->kind != ExprKind::IsNotFalse) return;
      Conjuncts parts = conjunctsOf(std::move(predicate->args[0]));
      for (ExprPtr& part : parts)
         if (part->kind != ExprKind::IsTrue) part = makeTest(ExprKind::IsNotFalse, std::move(part));
      predicate = makeAnd(std::move(parts));
   }

   Query& query_;
};

} // namespace

void pushDown(RelPtr& root, Query& query) {
   root = PushDown(query).push(std::move(root), {});
}

} // namespace ouzel::optimizer
