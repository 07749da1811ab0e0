#include <algorithm>

#include "common/error/sql_error.hpp"
#include "optimizer/rewrite/dependent.hpp"
#include "optimizer/rewrite/rules.hpp"

// Replaces dependent joins by ordinary joins, innermost first. Cheap ways are tried first; the general way always
// works:
//
// 1. The right side reads no columns of the left side: the join is an ordinary join. The right side only computes
// values
//    from the left row: its operators move over the left side.
// 2. The right side is an aggregate without GROUP BY under projections and filters, so it has one row at most: the
//    aggregate is grouped by the correlated columns and left joined, and the projections and filters come above the
//    join. A count over no rows becomes 0 again.
// 3. Correlated predicates at the top of the right side move into the join predicate, correlated projections above the
//    join.
//    If this would leave a cross product there (c and t of "c.x = left.x AND t.y = left.y"), the domain joins its
//    parts.
// 4. The remaining dependence is pushed down through the right side (dependent.cpp), and the join compares the
//    correlated columns.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// The inputs of the inner joins at the top of a subtree, grouped by the predicates that connect them.
class JoinedParts {
public:
   explicit JoinedParts(const Rel& rel) { add(rel); }

   /// Whether equalities with `outer` columns touch two parts that nothing else connects.
   bool areHeldTogetherBy(const std::vector<ExprPtr>& conjuncts, const ColumnSet& outer) const {
      const ColumnSet* first = nullptr;
      for (const ExprPtr& conjunct : conjuncts) {
         if (!isEquality(*conjunct)) continue;
         std::vector<ColumnId> used;
         collectColumns(*conjunct, used);
         std::erase_if(used, [&](ColumnId column) { return outer.contains(column); });
         for (const ColumnSet& part : parts_) {
            if (!part.containsAny(used)) continue;
            if (first != nullptr && first != &part) return true;
            first = &part;
         }
      }
      return false;
   }

private:
   void add(const Rel& rel) {
      const auto* join = rel.getIf<op::Join>();
      if (rel.kind == RelKind::Select || rel.kind == RelKind::Map || (join && join->kind == JoinKind::Inner)) {
         for (const RelPtr& input : rel.inputs)
            add(*input);
         const Expr* predicate = join                          ? join->predicate.get()
                                 : rel.kind == RelKind::Select ? rel.as<op::Select>().predicate.get()
                                                               : nullptr;
         for (const Expr* conjunct : conjunctList(predicate))
            connect(*conjunct);
         return;
      }
      parts_.emplace_back(outputColumns(rel));
   }
   void connect(const Expr& conjunct) {
      std::vector<ColumnId> used;
      collectColumns(conjunct, used);
      const auto touched =
          std::partition(parts_.begin(), parts_.end(), [&](const ColumnSet& part) { return !part.containsAny(used); });
      for (auto it = touched; it != parts_.end(); ++it)
         if (it != touched) touched->add(*it);
      if (touched != parts_.end()) parts_.erase(touched + 1, parts_.end());
   }

   std::vector<ColumnSet> parts_;
};

class Unnester {
public:
   explicit Unnester(Query& query) : query_(query) {}

   void visit(RelPtr& rel) {
      if (rel->kind == RelKind::Select) filterLeft(rel);
      forEachChild(*rel, [&](RelPtr& child) { visit(child); });
      const auto* join = rel->getIf<op::Join>();
      if (!join) return;
      if (join->dependent)
         unnestJoin(rel);
      else
         relaxSingle(*rel);
   }

private:
   std::vector<ColumnId> correlated(const Rel& join) const {
      return intersection(freeColumns(*join.inputs[1]), ColumnSet(outputColumns(*join.inputs[0])));
   }

   /// Moves conjuncts that read only left columns of a dependent join below it, where they keep the right side from
   /// computing what the statement does not ask for.
   static void filterLeft(RelPtr& rel) {
      auto* join = rel->inputs[0]->getIf<op::Join>();
      if (!join || !join->dependent) return;
      const ColumnSet left(outputColumns(*rel->inputs[0]->inputs[0]));
      std::vector<ExprPtr> moved, stay;
      for (ExprPtr& conjunct : conjunctsOf(std::move(rel->as<op::Select>().predicate))) {
         std::vector<ColumnId> used;
         collectColumns(*conjunct, used);
         (left.containsAny(used) && left.containsAll(used) && !isVolatile(*conjunct) ? moved : stay)
             .push_back(std::move(conjunct));
      }
      if (!moved.empty()) {
         RelPtr& input = rel->inputs[0]->inputs[0];
         input = makeSelect(std::move(input), std::move(moved));
      }
      rel = makeSelect(std::move(rel->inputs[0]), std::move(stay));
   }

   void unnestJoin(RelPtr& join) {
      dropUseless(*join);
      if (feedWithLeft(join) || peelOneRow(join)) return;
      join->as<op::Join>().dependent = false;
      if (correlated(*join).empty()) {
         relaxSingle(*join);
         return;
      }
      std::vector<ComputedColumn> above;
      const bool needsDomain = !pullUp(*join, above);
      const std::vector<ColumnId> columns = correlated(*join);
      RelPtr result = columns.empty() ? std::move(join) : pushDependence(std::move(join), columns, needsDomain);
      relaxSingle(*innerJoinOf(*result));
      join = finishAbove(std::move(result), std::move(above));
   }

   static Rel* innerJoinOf(Rel& rel) { return rel.kind == RelKind::With ? rel.inputs[0].get() : &rel; }

   /// Drops operators at the top of the right side that do not change the join's result: order, and for existence tests
   /// also duplicates and limits.
   static void dropUseless(Rel& rel) {
      const auto& join = rel.as<op::Join>();
      RelPtr& right = rel.inputs[1];
      if (join.kind != JoinKind::Semi && join.kind != JoinKind::Anti && join.kind != JoinKind::Mark) {
         if (right->kind == RelKind::Sort) dropTop(right);
         return;
      }
      for (;;) {
         const auto* limit = right->getIf<op::Limit>();
         const auto* distinct = right->getIf<op::Distinct>();
         const Value* rows = limit && limit->limit ? knownValue(*limit->limit) : nullptr;
         const bool oneAnyway = rows && rows->i64 > 0 && !join.predicate && !limit->offset;
         if (right->kind != RelKind::Sort && !oneAnyway && !(distinct && distinct->sortKeys.empty())) return;
         dropTop(right);
      }
   }
   static void dropTop(RelPtr& rel) {
      RelPtr input = std::move(rel->inputs[0]);
      rel = std::move(input);
   }

   /// Turns a Single join into a simpler join if a left row cannot have two matches.
   void relaxSingle(Rel& rel) {
      auto& join = rel.as<op::Join>();
      if (join.kind != JoinKind::Single) return;
      if (!join.predicate && isExactlyOneRow(*rel.inputs[1])) {
         join.kind = JoinKind::Inner;
         return;
      }
      // Columns of the right side to which the predicate gives one value for each left row.
      const ColumnSet left(outputColumns(*rel.inputs[0])), right(outputColumns(*rel.inputs[1]));
      ColumnSet pinned;
      const auto pin = [&](const Expr& conjunct) {
         if (!isEquality(conjunct)) return;
         for (int side = 0; side < 2; ++side) {
            const ColumnId column = columnOf(*conjunct.args[side]);
            std::vector<ColumnId> others;
            collectColumns(*conjunct.args[1 - side], others);
            if (column != noColumn && right.contains(column) && !right.containsAny(others)) pinned.add(column);
         }
      };
      for (const Expr* conjunct : conjunctList(join.predicate.get()))
         pin(*conjunct);
      if (isUniqueOn(*rel.inputs[1], pinned, query_)) join.kind = JoinKind::Left;
   }

   // ---- 1b. right sides that compute rows from the left row ----

   /// LATERAL generate_series(1, t.a), (SELECT t.a + 1): projections, filters and functions over a row without columns
   /// can run over the left rows.
   bool feedWithLeft(RelPtr& join) {
      bool onlyProjects = true;
      RelPtr* at = &join->inputs[1];
      while ((*at)->kind == RelKind::Map || (*at)->kind == RelKind::Select || (*at)->kind == RelKind::ProjectSet) {
         onlyProjects = onlyProjects && (*at)->kind == RelKind::Map;
         at = &(*at)->inputs[0];
      }
      const bool isFunction = (*at)->kind == RelKind::TableFunction && (*at)->inputs.empty();
      if (!isFunction && !isUnit(**at)) return false;
      auto& fields = join->as<op::Join>();
      const bool single = fields.kind == JoinKind::Single && onlyProjects && !isFunction && !fields.predicate;
      if ((fields.kind != JoinKind::Inner && !single) || correlated(*join).empty()) return false;
      if (isFunction)
         (*at)->inputs.push_back(std::move(join->inputs[0]));
      else
         *at = std::move(join->inputs[0]);
      RelPtr right = std::move(join->inputs[1]);
      join = makeSelect(std::move(right), std::move(fields.predicate));
      return true;
   }

   // ---- 2. one row ----

   /// The aggregate without GROUP BY below projections and filters at the top of `rel`, which go to `above`; null if
   /// `rel` has any other form.
   static Rel* findOneRow(Rel& rel, std::vector<Rel*>& above) {
      Rel* top = &rel;
      for (;;) {
         switch (top->kind) {
         case RelKind::Map:
         case RelKind::Select: above.push_back(top); break;
         case RelKind::Sort: break;
         case RelKind::GroupBy: {
            const auto& group = top->as<op::GroupBy>();
            return group.keys.empty() && group.groupingSets.empty() ? top : nullptr;
         }
         default: return nullptr;
         }
         top = top->inputs[0].get();
      }
   }

   bool peelOneRow(RelPtr& join) {
      std::vector<Rel*> above;
      Rel* group = findOneRow(*join->inputs[1], above);
      if (!group) return false;
      auto& fields = join->as<op::Join>();
      if (correlated(*join).empty() && fields.kind != JoinKind::Single) return false;

      const JoinKind kind = fields.kind;
      const std::vector<ColumnId> rightColumns = outputColumns(*join->inputs[1]);
      ExprPtr predicate = std::move(fields.predicate);
      const ColumnId mark = fields.markColumn;
      // Detach the operators above the group (`chain`, which `above` points into), and the group.
      RelPtr chain = std::move(join->inputs[1]);
      RelPtr groupPtr = detach(chain, group);
      RelPtr result = joinGroup(std::move(join->inputs[0]), std::move(groupPtr));

      ExprPtr keep;
      for (auto it = above.rbegin(); it != above.rend(); ++it) {
         if (auto* select = (*it)->getIf<op::Select>())
            keep = conjunction(std::move(keep), std::move(select->predicate));
         else
            result = computeKept(std::move(result), std::move((*it)->as<op::Map>().computed), keep);
      }
      join = finishOneRow(kind, mark, std::move(result), std::move(keep), std::move(predicate), rightColumns);
      return true;
   }

   /// A Map above the filter `keep` (may be null), which itself goes further up: what may fail asks the filter.
   RelPtr computeKept(RelPtr result, std::vector<ComputedColumn> computed, ExprPtr& keep) {
      const bool fails = std::any_of(computed.begin(), computed.end(),
                                     [](const ComputedColumn& column) { return mayFail(*column.expr); });
      if (keep && fails) {
         const ColumnId kept = query_.newColumn("kept", booleanType);
         std::vector<ComputedColumn> test;
         test.push_back({kept, std::move(keep)});
         result = makeMap(std::move(result), std::move(test));
         keep = query_.ref(kept);
         for (ComputedColumn& column : computed)
            if (mayFail(*column.expr)) column.expr = query_.onlyWhere(kept, std::move(column.expr));
      }
      return makeMap(std::move(result), std::move(computed));
   }

   static RelPtr detach(RelPtr& chain, const Rel* target) {
      RelPtr* at = &chain;
      while (at->get() != target)
         at = &(*at)->inputs[0];
      return std::move(*at);
   }

   /// Joins each row of `left` with its one row of the aggregate.
   RelPtr joinGroup(RelPtr left, RelPtr group) {
      const std::vector<ColumnId> columns = intersection(freeColumns(*group), ColumnSet(outputColumns(*left)));
      if (columns.empty()) return makeJoin(JoinKind::Inner, std::move(left), std::move(group), nullptr);
      std::vector<ComputedColumn> defaults = emptyGroupDefaults(group->as<op::GroupBy>(), query_);
      RelPtr join = makeJoin(JoinKind::Left, std::move(left), nullptr, nullptr);
      Dependence dependence(*join, columns, query_);
      if (hasEffects(*group)) dependence.requireExact();
      ColumnMapping mapping;
      join->inputs[1] = dependence.pushGroup(std::move(group), mapping);
      join->as<op::Join>().predicate = dependence.joinPredicate(mapping, columns);
      return makeMap(dependence.finish(std::move(join)), std::move(defaults));
   }

   RelPtr finishOneRow(JoinKind kind, ColumnId mark, RelPtr result, ExprPtr keep, ExprPtr predicate,
                       const std::vector<ColumnId>& rightColumns) {
      switch (kind) {
      case JoinKind::Inner:
      case JoinKind::Semi: return makeSelect(std::move(result), conjunction(std::move(keep), std::move(predicate)));
      case JoinKind::Anti: {
         ExprPtr condition = conjunction(std::move(keep), std::move(predicate));
         if (!condition) return makeSelect(std::move(result), makeBoolean(false));
         return makeSelect(std::move(result), makeTest(ExprKind::IsNotTrue, std::move(condition)));
      }
      case JoinKind::Mark: {
         if (keep) keep = makeTest(ExprKind::IsTrue, std::move(keep));
         ExprPtr value = conjunction(std::move(keep), std::move(predicate));
         std::vector<ComputedColumn> computed;
         computed.push_back({mark, value ? std::move(value) : makeBoolean(true)});
         return makeMap(std::move(result), std::move(computed));
      }
      default: break;
      }
      ExprPtr condition =
          conjunction(std::move(keep), std::move(predicate)); // Left, Single: if not true, columns are NULL
      return condition ? nullUnless(std::move(result), std::move(condition), rightColumns) : std::move(result);
   }

   /// Makes `columns` NULL in rows for which the condition is not true.
   RelPtr nullUnless(RelPtr result, ExprPtr condition, const std::vector<ColumnId>& columns) {
      const ColumnId holds = query_.newColumn("holds", booleanType);
      std::vector<ComputedColumn> test, computed;
      test.push_back({holds, std::move(condition)});
      ColumnMap hidden;
      for (const ColumnId column : columns)
         hidden.emplace(column, query_.copyColumn(column));
      result = makeMap(std::move(result), std::move(test));
      replaceColumns(*result, [&hidden](ColumnId column) {
         const auto it = hidden.find(column);
         return it == hidden.end() ? column : it->second;
      });
      for (const ColumnId column : columns) {
         query_.columns[column].nullable = true;
         computed.push_back({column, query_.onlyWhere(holds, query_.ref(hidden.at(column)))});
      }
      return makeMap(std::move(result), std::move(computed));
   }

   // ---- 3. predicates and projections at the top of the right side ----

   /// False if the predicates stay in the right side, because they hold its parts together.
   bool pullUp(Rel& rel, std::vector<ComputedColumn>& above) {
      auto& join = rel.as<op::Join>();
      const bool pads = join.kind == JoinKind::Left || join.kind == JoinKind::Single;
      const bool exists = (join.kind == JoinKind::Semi || join.kind == JoinKind::Anti) && !join.predicate;
      const bool isExact = join.kind != JoinKind::Inner && !exists;
      const ColumnSet left(outputColumns(*rel.inputs[0]));
      if (!pads) pullMaps(rel, left, above);
      if (pads) pullOuterMaps(rel, left, above);
      std::vector<ExprPtr> pulled;
      pullPredicates(rel.inputs[1], left, pulled, isExact);
      if (join.kind != JoinKind::Inner && JoinedParts(*rel.inputs[1]).areHeldTogetherBy(pulled, left)) {
         rel.inputs[1] = makeSelect(std::move(rel.inputs[1]), std::move(pulled));
         return false;
      }
      for (ExprPtr& conjunct : pulled) {
         if (join.kind == JoinKind::Mark) conjunct = makeTest(ExprKind::IsTrue, std::move(conjunct));
         join.predicate = conjunction(std::move(join.predicate), std::move(conjunct));
      }
      if (pads && !pulled.empty()) pullOuterMaps(rel, left, above);
      return true;
   }

   /// Correlated computed columns at the top of the right side: the join predicate and the filters between get the
   /// expressions instead of the columns. For an inner join, a Map above the join computes the columns.
   void pullMaps(Rel& rel, const ColumnSet& left, std::vector<ComputedColumn>& above) {
      auto& join = rel.as<op::Join>();
      std::vector<Rel*> chain;
      for (Rel* op = rel.inputs[1].get(); op->kind == RelKind::Map || op->kind == RelKind::Select;
           op = op->inputs[0].get())
         chain.push_back(op);
      std::vector<ComputedColumn> moved;
      ColumnSet dependent = left;
      // Filters below become predicates of the join: what may fail is computed after them.
      const bool movesFailing = join.kind == JoinKind::Inner;
      for (auto op = chain.rbegin(); op != chain.rend(); ++op) {
         if ((*op)->kind != RelKind::Map) continue;
         for (const ComputedColumn& computed : (*op)->as<op::Map>().computed) {
            std::vector<ColumnId> used;
            collectColumns(*computed.expr, used);
            if (!dependent.containsAny(used) && !(movesFailing && mayFail(*computed.expr))) continue;
            if (isVolatile(*computed.expr) || (!movesFailing && mayFailBesidesOverflow(*computed.expr))) return;
            dependent.add(computed.column);
         }
      }
      const auto substitute = [&moved](ExprPtr& expr) {
         substituteColumns(expr, [&moved](ColumnId column) -> const Expr* {
            for (const ComputedColumn& computed : moved)
               if (computed.column == column) return computed.expr.get();
            return nullptr;
         });
      };
      for (auto op = chain.rbegin(); op != chain.rend(); ++op) {
         if (auto* select = (*op)->getIf<op::Select>()) {
            substitute(select->predicate);
            continue;
         }
         std::vector<ComputedColumn>& list = (*op)->as<op::Map>().computed;
         std::vector<ComputedColumn> stay;
         for (ComputedColumn& computed : list) {
            if (!dependent.contains(computed.column)) {
               stay.push_back(std::move(computed));
               continue;
            }
            substitute(computed.expr);
            moved.push_back(std::move(computed));
         }
         list = std::move(stay);
      }
      if (join.predicate) substitute(join.predicate);
      for (RelPtr* at = &rel.inputs[1]; (*at)->kind == RelKind::Map || (*at)->kind == RelKind::Select;) {
         if ((*at)->kind == RelKind::Map && (*at)->as<op::Map>().computed.empty())
            dropTop(*at);
         else
            at = &(*at)->inputs[0];
      }
      if (join.kind == JoinKind::Inner)
         for (ComputedColumn& computed : moved)
            above.push_back(std::move(computed));
   }

   /// pullMaps for joins that pad with NULLs: the column that is computed above the join must be NULL in padded rows.
   void pullOuterMaps(Rel& rel, const ColumnSet& left, std::vector<ComputedColumn>& above) {
      if (rel.inputs[1]->kind != RelKind::Map) return;
      const auto& join = rel.as<op::Join>();
      auto& map = rel.inputs[1]->as<op::Map>();
      const ColumnSet below(outputColumns(*rel.inputs[1]->inputs[0]));
      std::vector<ComputedColumn> stay;
      ColumnId matched = noColumn;
      for (ComputedColumn& computed : map.computed) {
         std::vector<ColumnId> used;
         collectColumns(*computed.expr, used);
         const bool self = std::all_of(used.begin(), used.end(), [&](ColumnId column) {
            return left.contains(column) || below.contains(column);
         });
         bool usedByJoin = false;
         if (join.predicate) {
            std::vector<ColumnId> joinUses;
            collectColumns(*join.predicate, joinUses);
            usedByJoin = std::find(joinUses.begin(), joinUses.end(), computed.column) != joinUses.end();
         }
         const bool moves = left.containsAny(used) || mayFail(*computed.expr);
         if (!moves || !self || usedByJoin || isVolatile(*computed.expr)) {
            stay.push_back(std::move(computed));
            continue;
         }
         if (matched == noColumn) matched = query_.newColumn("matched", booleanType);
         auto value = std::make_unique<Expr>(ExprKind::Case, computed.expr->type);
         value->args.push_back(makeTest(ExprKind::IsNotNull, query_.ref(matched)));
         value->args.push_back(std::move(computed.expr));
         above.push_back({computed.column, std::move(value)});
      }
      if (matched != noColumn) stay.push_back({matched, makeBoolean(true)});
      map.computed = std::move(stay);
   }

   static RelPtr finishAbove(RelPtr result, std::vector<ComputedColumn> above) {
      return makeMap(std::move(result), std::move(above));
   }

   // ---- 4. the general way ----

   RelPtr pushDependence(RelPtr join, const std::vector<ColumnId>& columns, bool needsDomain) {
      Dependence dependence(*join, columns, query_);
      if (needsDomain || hasEffects(*join->inputs[1])) dependence.requireExact();
      auto& fields = join->as<op::Join>();
      ColumnMapping mapping;
      join->inputs[1] = dependence.push(std::move(join->inputs[1]), mapping);
      for (ExprPtr& conjunct : conjunctsOf(dependence.joinPredicate(mapping, columns))) {
         if (fields.kind == JoinKind::Mark) conjunct = makeTest(ExprKind::IsTrue, std::move(conjunct));
         fields.predicate = conjunction(std::move(fields.predicate), std::move(conjunct));
      }
      return dependence.finish(std::move(join));
   }

   Query& query_;
};

} // namespace

void unnest(RelPtr& root, Query& query) {
   Unnester(query).visit(root);
}

} // namespace ouzel::optimizer
