#include "optimizer/join_order/join_graph.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr size_t classSizeMax = 8; ///< larger classes of equal columns get no derived equalities

bool readsNothing(const Expr& expr) {
   std::vector<ColumnId> used;
   collectColumns(expr, used);
   return used.empty();
}

bool isColumnEquality(const Expr& expr) {
   return compareOf(expr) == CompareOp::Eq && expr.args[0]->kind == ExprKind::Column &&
          expr.args[1]->kind == ExprKind::Column && expr.args[0]->type.oid == expr.args[1]->type.oid &&
          columnOf(*expr.args[0]) != columnOf(*expr.args[1]);
}

} // namespace

bool isReorderable(const Rel& rel) {
   const auto* join = rel.getIf<op::Join>();
   if (!join || join->dependent || join->kind == JoinKind::Right) return false;
   for (const Expr* conjunct : conjunctList(join->predicate.get()))
      if (isVolatile(*conjunct) || (join->kind == JoinKind::Inner && readsNothing(*conjunct))) return false;
   return true;
}

const ColumnEstimate& JoinGraph::column(ColumnId id) const {
   static const ColumnEstimate unknown;
   const auto it = columnRelation.find(id);
   return it == columnRelation.end() ? unknown : estimates[it->second].column(id);
}

double JoinGraph::distinct(ColumnId id) const {
   const auto it = columnRelation.find(id);
   return it == columnRelation.end() ? 10 : estimates[it->second].distinct(id);
}

JoinGraph JoinGraphBuilder::build(RelPtr root) {
   addEqualities(*root);
   visit(std::move(root));
   addEdges();
   return std::move(graph_);
}

/// Adds a = c to each tree of inner joins that has a = b and b = c, so that a and c may be joined first.
void JoinGraphBuilder::addEqualities(Rel& root) {
   checkStack();
   if (root.kind == RelKind::Map) {
      addEqualities(*root.inputs[0]);
      return;
   }
   if (!isReorderable(root)) return;
   if (root.as<op::Join>().kind != JoinKind::Inner) {
      for (RelPtr& input : root.inputs)
         addEqualities(*input);
      return;
   }
   std::vector<Rel*> nodes;
   std::vector<const Expr*> equalities;
   const std::function<void(Rel&)> collect = [&](Rel& rel) {
      if (!isReorderable(rel) || rel.as<op::Join>().kind != JoinKind::Inner) {
         addEqualities(rel);
         return;
      }
      nodes.push_back(&rel);
      for (const Expr* conjunct : conjunctList(rel.as<op::Join>().predicate.get()))
         if (isColumnEquality(*conjunct)) equalities.push_back(conjunct);
      for (RelPtr& input : rel.inputs)
         collect(*input);
   };
   collect(root);
   std::vector<std::vector<ColumnId>> classes;
   for (const Expr* equality : equalities) {
      const ColumnId pair[2] = {columnOf(*equality->args[0]), columnOf(*equality->args[1])};
      std::vector<ColumnId> merged;
      for (size_t i = 0; i < classes.size();) {
         const bool touches =
             std::find_first_of(classes[i].begin(), classes[i].end(), pair, pair + 2) != classes[i].end();
         if (!touches) {
            ++i;
            continue;
         }
         merged.insert(merged.end(), classes[i].begin(), classes[i].end());
         classes.erase(classes.begin() + static_cast<std::ptrdiff_t>(i));
      }
      for (const ColumnId column : pair)
         if (std::find(merged.begin(), merged.end(), column) == merged.end()) merged.push_back(column);
      classes.push_back(std::move(merged));
   }
   for (const std::vector<ColumnId>& members : classes) {
      const int32_t id = classCount_++;
      for (const ColumnId column : members)
         classes_[column] = id;
      if (members.size() < 3 || members.size() > classSizeMax) continue;
      for (size_t i = 0; i < members.size(); ++i)
         for (size_t k = i + 1; k < members.size(); ++k) {
            const bool written = std::any_of(equalities.begin(), equalities.end(), [&](const Expr* e) {
               const ColumnId x = columnOf(*e->args[0]), y = columnOf(*e->args[1]);
               return (x == members[i] && y == members[k]) || (x == members[k] && y == members[i]);
            });
            if (written) continue;
            // Put the equality into the lowest join that has both columns.
            Rel* place = nullptr;
            for (Rel* node : nodes) {
               const ColumnSet out(outputColumns(*node));
               const ColumnSet left(outputColumns(*node->inputs[0]));
               if (out.contains(members[i]) && out.contains(members[k]) &&
                   left.contains(members[i]) != left.contains(members[k]))
                  place = node;
            }
            if (!place) continue;
            ExprPtr& predicate = place->as<op::Join>().predicate;
            predicate = conjunction(std::move(predicate),
                                    makeCompare(CompareOp::Eq, query_.ref(members[i]), query_.ref(members[k])));
         }
   }
}

JoinGraphBuilder::Subtree JoinGraphBuilder::visit(RelPtr rel) {
   checkStack();
   // A projection between joins moves above the region; pruning drops it later if no operator reads it.
   if (rel->kind == RelKind::Map && isReorderable(*rel->inputs[0])) {
      Subtree below = visit(std::move(rel->inputs[0]));
      for (ComputedColumn& computed : rel->as<op::Map>().computed)
         graph_.computedAbove.push_back(std::move(computed));
      return below;
   }
   if (!isReorderable(*rel)) {
      const uint32_t number = static_cast<uint32_t>(graph_.relations.size());
      columns_.push_back(outputColumns(*rel));
      for (const ColumnId column : columns_.back())
         graph_.columnRelation.emplace(column, number);
      graph_.estimates.push_back(estimator_.estimate(*rel));
      graph_.relations.push_back(std::move(rel));
      DCHECK(graph_.estimates.size() == graph_.relations.size());
      return {RelationSet::single(number), {}};
   }
   auto& join = rel->as<op::Join>();
   Subtree left = visit(std::move(rel->inputs[0])), right = visit(std::move(rel->inputs[1]));
   original_.emplace_back(left.relations, right.relations);
   Subtree both{left.relations | right.relations, left.operators};
   both.operators.insert(both.operators.end(), right.operators.begin(), right.operators.end());
   const auto add = [&](ExprPtr predicate) {
      JoinOperator op;
      op.kind = join.kind;
      op.predicate = std::move(predicate);
      op.markColumn = join.markColumn;
      both.operators.push_back(static_cast<uint32_t>(graph_.operators.size()));
      addOperator(std::move(op), left, right);
   };
   if (join.markColumn != noColumn) markRelations_[join.markColumn] = both.relations;
   std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(join.predicate));
   // Predicates read the expressions of projections that moved up, instead of their columns.
   for (ExprPtr& conjunct : conjuncts)
      for (auto computed = graph_.computedAbove.rbegin(); computed != graph_.computedAbove.rend(); ++computed)
         substituteColumns(conjunct, [&computed](ColumnId column) -> const Expr* {
            return column == computed->column ? computed->expr.get() : nullptr;
         });
   if (join.kind == JoinKind::Inner && !conjuncts.empty()) {
      for (ExprPtr& conjunct : conjuncts)
         add(std::move(conjunct));
   } else {
      add(conjuncts.empty() ? nullptr : makeAnd(std::move(conjuncts)));
   }
   return both;
}

RelationSet JoinGraphBuilder::relationsOf(const Expr& expr) const {
   RelationSet result;
   std::vector<ColumnId> used;
   collectColumns(expr, used);
   for (const ColumnId column : used) {
      if (const auto it = graph_.columnRelation.find(column); it != graph_.columnRelation.end())
         result |= RelationSet::single(it->second);
      else if (const auto mark = markRelations_.find(column); mark != markRelations_.end())
         result |= mark->second;
   }
   return result;
}

void JoinGraphBuilder::addOperator(JoinOperator op, const Subtree& left, const Subtree& right) {
   op.left = left.relations;
   op.right = right.relations;
   op.leftOperators = left.operators;
   op.rightOperators = right.operators;
   if (op.predicate) op.syntactic = relationsOf(*op.predicate) & (op.left | op.right);
   if (!op.syntactic.intersects(op.left)) op.syntactic |= op.left;
   if (!op.syntactic.intersects(op.right)) op.syntactic |= op.right;
   op.isCross = op.kind == JoinKind::Inner && !op.predicate;
   if (op.predicate && op.kind == JoinKind::Inner && isColumnEquality(*op.predicate)) {
      const ColumnId a = columnOf(*op.predicate->args[0]), b = columnOf(*op.predicate->args[1]);
      const auto side = [this, &op](ColumnId column) {
         const auto it = graph_.columnRelation.find(column);
         return it != graph_.columnRelation.end() && op.left.contains(it->second);
      };
      if (graph_.columnRelation.contains(a) && graph_.columnRelation.contains(b) && side(a) != side(b)) {
         op.leftColumn = side(a) ? a : b;
         op.rightColumn = side(a) ? b : a;
         const auto known = classes_.find(a);
         op.equalityClass = known != classes_.end() ? known->second : classCount_++;
      }
   }
   if (op.predicate && op.equalityClass < 0) {
      RelEstimate sides[2];
      for (int side = 0; side < 2; ++side) {
         sides[side].rows = 1;
         for (uint32_t i = 0; i < graph_.relations.size(); ++i)
            if ((side == 0 ? op.left : op.right).contains(i) && op.syntactic.contains(i)) {
               sides[side].rows *= graph_.estimates[i].rows;
               sides[side].columns.insert(graph_.estimates[i].columns.begin(), graph_.estimates[i].columns.end());
            }
      }
      op.selectivity = estimator_.joinSelectivity(conjunctList(op.predicate.get()), sides[0], sides[1]);
      // The estimates of the sides already include predicates that the disjunction implies.
      if (op.predicate->kind == ExprKind::Or && op.syntactic.count() == 2) {
         double implied = 1;
         for (uint32_t i = 0; i < graph_.relations.size(); ++i)
            if (op.syntactic.contains(i) && graph_.relations[i]->kind == RelKind::Get)
               for (const Expr* conjunct : conjunctList(graph_.relations[i]->as<op::Get>().predicate.get()))
                  if (conjunct->kind == ExprKind::Or || conjunct->kind == ExprKind::InList)
                     implied *= estimator_.selectivity(*conjunct, graph_.estimates[i]);
         op.selectivity = std::min(1.0, op.selectivity / std::max(implied, 1e-9));
      }
   }
   DCHECK(!op.left.intersects(op.right));
   op.total = op.syntactic;
   detectConflicts(op);
   graph_.operators.push_back(std::move(op));
}

bool JoinGraphBuilder::rejectsNullsOf(const JoinOperator& op, RelationSet relations) const {
   if (!op.predicate) return false;
   std::vector<ColumnId> columns;
   for (uint32_t i = 0; i < columns_.size(); ++i)
      if (relations.contains(i)) columns.insert(columns.end(), columns_[i].begin(), columns_[i].end());
   return rejectsNulls(*op.predicate, columns);
}

// The three tables of the paper: `a` is below or left of `b`; e1, e2, e3 are the operands from left to right.

bool JoinGraphBuilder::isAssociative(const JoinOperator& a, const JoinOperator& b) const {
   if (a.kind == JoinKind::Inner) return b.kind != JoinKind::Full;
   const bool aPads = a.kind == JoinKind::Left || a.kind == JoinKind::Full;
   if (!aPads) return false;
   // (e1 a e2) b e3 or e1 a (e2 b e3): in both, e2 is in a's right operand and in b's left operand.
   const RelationSet e2 = a.right & b.left;
   const RelationSet middle = e2.isEmpty() ? a.right : e2;
   if (b.kind == JoinKind::Left) return rejectsNullsOf(b, middle);
   return b.kind == JoinKind::Full && a.kind == JoinKind::Full && rejectsNullsOf(a, middle) &&
          rejectsNullsOf(b, middle);
}

bool JoinGraphBuilder::isLeftAsscom(const JoinOperator& a, const JoinOperator& b) const {
   if (a.kind == JoinKind::Full) {
      if (b.kind == JoinKind::Left) return rejectsNullsOf(b, a.left);
      return b.kind == JoinKind::Full && rejectsNullsOf(a, a.left) && rejectsNullsOf(b, a.left);
   }
   if (b.kind != JoinKind::Full) return true;
   return a.kind == JoinKind::Left && rejectsNullsOf(a, a.left);
}

bool JoinGraphBuilder::isRightAsscom(const JoinOperator& a, const JoinOperator& b) const {
   if (a.kind == JoinKind::Inner && b.kind == JoinKind::Inner) return true;
   const RelationSet e3 = b.right;
   return a.kind == JoinKind::Full && b.kind == JoinKind::Full && rejectsNullsOf(a, e3) && rejectsNullsOf(b, e3);
}

void JoinGraphBuilder::detectConflicts(JoinOperator& op) const {
   const auto rule = [&op](RelationSet when, const JoinOperator& from, RelationSet then) {
      const RelationSet referenced = then & from.syntactic;
      op.rules.emplace_back(when, referenced.isEmpty() ? then : referenced);
   };
   for (const uint32_t index : op.leftOperators) {
      const JoinOperator& a = graph_.operators[index];
      if (!isAssociative(a, op)) rule(a.right, a, a.left);
      if (!isLeftAsscom(a, op)) rule(a.left, a, a.right);
   }
   for (const uint32_t index : op.rightOperators) {
      const JoinOperator& a = graph_.operators[index];
      if (!isAssociative(op, a)) rule(a.left, a, a.right);
      if (!isRightAsscom(op, a)) rule(a.right, a, a.left);
   }
   // A rule whose condition intersects the TES always applies, so its consequence becomes part of the TES.
   for (bool again = true; again;) {
      again = false;
      for (auto it = op.rules.begin(); it != op.rules.end();) {
         if (it->second.isSubsetOf(op.total)) {
            it = op.rules.erase(it);
         } else if (it->first.intersects(op.total)) {
            op.total |= it->second;
            it = op.rules.erase(it);
            again = true;
         } else {
            ++it;
         }
      }
   }
}

void JoinGraphBuilder::addEdges() {
   for (const JoinOperator& op : graph_.operators)
      if (!op.isCross) graph_.edges.push_back({op.neededLeft(), op.neededRight()});
   // Connect components without a common predicate by edges between whole components, so that cross products come last.
   // The right side of a non-inner join must be connected first; for a full join, the left side as well.
   for (const JoinOperator& op : graph_.operators) {
      if (op.kind == JoinKind::Inner) continue;
      connect(op.right);
      if (op.kind == JoinKind::Full) connect(op.left);
   }
   connect(graph_.all());
}

void JoinGraphBuilder::connect(RelationSet relations) {
   std::vector<RelationSet> parts;
   for (uint32_t i = 0; i < graph_.relations.size(); ++i)
      if (relations.contains(i)) parts.push_back(RelationSet::single(i));
   for (const JoinEdge& edge : graph_.edges) {
      RelationSet merged = edge.left | edge.right;
      if (!merged.isSubsetOf(relations)) continue;
      for (size_t i = 0; i < parts.size();) {
         if (!parts[i].intersects(merged)) {
            ++i;
            continue;
         }
         merged |= parts[i];
         parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      }
      parts.push_back(merged);
   }
   // Up to six parts: an edge for each pair. More parts: a chain of edges.
   for (size_t i = 0; i < parts.size(); ++i)
      for (size_t k = i + 1; k < parts.size(); ++k)
         if (parts.size() <= 6 || k == i + 1) graph_.edges.push_back({parts[i], parts[k]});
}

} // namespace ouzel::optimizer
