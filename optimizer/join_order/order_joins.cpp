#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/join_order/join_planner.hpp"
#include "optimizer/rewrite/rules.hpp"

// Finds the regions of joins in a query, inner regions first, and assembles each region in the planner's order.

namespace ouzel::optimizer {

using namespace sql;

namespace {

class JoinOrderer {
public:
   JoinOrderer(Query& query, Estimator& estimator) : query_(query), estimator_(estimator) {}

   void visit(RelPtr& rel) {
      checkStack();
      if (auto* with = rel->getIf<op::With>()) visitCtes(with->ctes);
      if (!isReorderable(*rel)) {
         for (RelPtr& input : rel->inputs)
            visit(input);
         return;
      }
      uint32_t relations = 0;
      visitRelations(rel, false, relations);
      if (relations < 2 || relations > RelationSet::capacity) return;
      reorder(rel);
   }

private:
   void visitCtes(std::vector<Cte>& ctes) {
      for (Cte& cte : ctes) {
         visit(cte.query);
         RelEstimate estimate = estimator_.estimate(*cte.query);
         if (cte.recursive) estimate.rows *= 10;
         estimator_.setCte(cte.id, estimate);
         if (cte.recursive) visit(cte.recursive);
      }
   }

   /// Visits the relations of the region, which may contain regions of their own, and counts them. `stays`: projections
   /// must not move above the region, since a join above pads its columns with NULL or does not give them.
   void visitRelations(RelPtr& rel, bool stays, uint32_t& count) {
      checkStack();
      if (rel->kind == RelKind::Map && isReorderable(*rel->inputs[0])) {
         if (!stays && hoistable(rel->as<op::Map>())) {
            visitRelations(rel->inputs[0], false, count);
            return;
         }
         fence(rel);
      }
      if (!isReorderable(*rel)) {
         visitRelation(rel, count);
         return;
      }
      const JoinKind kind = rel->as<op::Join>().kind;
      visitRelations(rel->inputs[0], stays || kind == JoinKind::Full, count);
      visitRelations(rel->inputs[1], stays || kind != JoinKind::Inner, count);
   }
   void visitRelation(RelPtr& rel, uint32_t& count) {
      ++count;
      visit(isFence(*rel) ? rel->inputs[0] : rel);
   }
   static bool hoistable(const op::Map& map) {
      return std::none_of(map.computed.begin(), map.computed.end(),
                          [](const ComputedColumn& computed) { return isVolatile(*computed.expr); });
   }
   /// Puts a Select without predicate over a subtree, which makes the subtree one relation of the region.
   static void fence(RelPtr& rel) { rel = makeRel(RelKind::Select, op::Select(), std::move(rel)); }
   static bool isFence(const Rel& rel) {
      const auto* select = rel.getIf<op::Select>();
      return select && !select->predicate;
   }

   void reorder(RelPtr& rel) {
      JoinGraphBuilder builder(query_, estimator_);
      JoinGraph graph = builder.build(std::move(rel));
      JoinPlanner planner(graph, query_.context.settings);
      planner.run(builder.originalOrder());
      equal_.clear();
      rel = assemble(graph, planner, graph.all());
      for ([[maybe_unused]] const JoinOperator& op : graph.operators)
         DCHECK(op.equalityClass >= 0 || !op.predicate); // only equalities that others imply were not used
      // Put the projections that were between the joins above the region. A projection comes after those that it reads.
      for (ComputedColumn& computed : graph.computedAbove) {
         std::vector<ComputedColumn> one;
         one.push_back(std::move(computed));
         auto* map = rel->getIf<op::Map>();
         if (rel->kind == RelKind::Map && !readsAny(*one[0].expr, map->computed))
            map->computed.push_back(std::move(one[0]));
         else
            rel = makeMap(std::move(rel), std::move(one));
      }
   }

   static bool readsAny(const Expr& expr, const std::vector<ComputedColumn>& computed) {
      std::vector<ColumnId> used;
      collectColumns(expr, used);
      return std::any_of(computed.begin(), computed.end(), [&used](const ComputedColumn& c) {
         return std::find(used.begin(), used.end(), c.column) != used.end();
      });
   }

   RelPtr assemble(JoinGraph& graph, const JoinPlanner& planner, RelationSet set) {
      const JoinPlan& plan = planner.plan(set);
      if (plan.left.isEmpty()) {
         DCHECK(set.count() == 1);
         RelPtr relation = std::move(graph.relations[set.smallest()]);
         DCHECK(relation != nullptr); // each relation is assembled once
         while (isFence(*relation)) {
            RelPtr input = std::move(relation->inputs[0]);
            relation = std::move(input);
         }
         return relation;
      }
      const std::optional<JoinPlanner::Step> step = planner.step(plan.left, plan.right);
      RelPtr left = assemble(graph, planner, plan.left), right = assemble(graph, planner, plan.right);
      std::vector<ExprPtr> conjuncts;
      op::Join join;
      const std::vector<uint32_t> operators = step ? step->operators : dueOperators(graph, plan);
      for (const uint32_t index : operators) {
         JoinOperator& op = graph.operators[index];
         if (op.kind != JoinKind::Inner) {
            join.kind = op.kind;
            join.markColumn = op.markColumn;
         }
         if (op.equalityClass >= 0) { // skip an equality that equalities here and below imply
            const ColumnId a = representative(op.leftColumn), b = representative(op.rightColumn);
            if (a == b) continue;
            equal_[a] = b;
         }
         if (op.predicate) conjuncts.push_back(std::move(op.predicate));
      }
      if (!conjuncts.empty()) join.predicate = makeAnd(std::move(conjuncts));
      return makeRel(RelKind::Join, std::move(join), std::move(left), std::move(right));
   }

   ColumnId representative(ColumnId column) const {
      for (auto it = equal_.find(column); it != equal_.end(); it = equal_.find(column))
         column = it->second;
      return column;
   }

   /// The operators of a join in the original order: those with the same operands.
   static std::vector<uint32_t> dueOperators(const JoinGraph& graph, const JoinPlan& plan) {
      std::vector<uint32_t> due;
      for (uint32_t i = 0; i < graph.operators.size(); ++i)
         if (graph.operators[i].left == plan.left && graph.operators[i].right == plan.right) due.push_back(i);
      return due;
   }

   Query& query_;
   Estimator& estimator_;
   ColumnMap equal_; ///< union-find over columns that assembled joins make equal: towards the class representative
};

} // namespace

void orderJoins(RelPtr& root, Query& query) {
   Estimator estimator(query);
   JoinOrderer(query, estimator).visit(root);
}

} // namespace ouzel::optimizer
