#include "optimizer/join_order/join_planner.hpp"

#include <algorithm>
#include <cmath>

namespace ouzel::optimizer {

namespace {

constexpr double probeCost = 1, buildCost = 2, outputCost = 1, pairCost = 0.3; ///< per row; pairCost: nested loops
constexpr uint64_t workPerPair = 64; ///< subsets that may be enumerated per pair of the budget

} // namespace

void JoinPlanner::initialize() {
   table_.clear();
   for (uint32_t i = 0; i < graph_.relations.size(); ++i) {
      JoinPlan leaf;
      leaf.relations = RelationSet::single(i);
      leaf.rows = graph_.estimates[i].rows;
      leaf.isValid = true;
      table_[leaf.relations] = leaf;
   }
}

void JoinPlanner::run(const std::vector<std::pair<RelationSet, RelationSet>>& original) {
   simpleNeighbors_.assign(graph_.relations.size(), RelationSet());
   DCHECK(graph_.relations.size() <= RelationSet::capacity);
   for (const JoinEdge& edge : graph_.edges) {
      DCHECK(!edge.left.isEmpty());
      DCHECK(!edge.right.isEmpty());
      if (edge.left.count() == 1 && edge.right.count() == 1) {
         simpleNeighbors_[edge.left.smallest()] |= edge.right;
         simpleNeighbors_[edge.right.smallest()] |= edge.left;
      } else {
         hyperedges_.push_back(edge);
         hyperedges_.push_back({edge.right, edge.left});
      }
   }
   initialize();
   if (settings_.seed == 0 && runDphyp()) return;
   initialize();
   if (runGreedy()) return;
   initialize();
   for (const auto& [left, right] : original) {
      JoinPlan joined;
      joined.relations = left | right;
      joined.left = left;
      joined.right = right;
      joined.isValid = true;
      if (const auto how = step(left, right)) joined = combine(table_.at(left), table_.at(right), *how);
      table_[joined.relations] = joined;
   }
}

// ---- DPhyp, names as in the paper ----

bool JoinPlanner::runDphyp() {
   for (uint32_t i = static_cast<uint32_t>(graph_.relations.size()); i-- > 0 && !gaveUp_;) {
      emitCsg(RelationSet::single(i));
      enumerateCsg(RelationSet::single(i), RelationSet::upTo(i));
   }
   return !gaveUp_ && table_.contains(graph_.all());
}

RelationSet JoinPlanner::neighbors(RelationSet set, RelationSet excluded) const {
   const RelationSet outside = set | excluded;
   RelationSet result;
   for (RelationSet rest = set; !rest.isEmpty(); rest = rest - RelationSet::single(rest.smallest()))
      result |= simpleNeighbors_[rest.smallest()];
   result = result - outside;
   for (const JoinEdge& edge : hyperedges_)
      if (edge.left.isSubsetOf(set) && !edge.right.intersects(outside) && !edge.right.intersects(result))
         result |= RelationSet::single(edge.right.smallest());
   return result;
}

bool JoinPlanner::areConnected(RelationSet first, RelationSet second) const {
   for (RelationSet rest = first; !rest.isEmpty(); rest = rest - RelationSet::single(rest.smallest()))
      if (simpleNeighbors_[rest.smallest()].intersects(second)) return true;
   return std::any_of(hyperedges_.begin(), hyperedges_.end(), [&](const JoinEdge& edge) {
      return edge.left.isSubsetOf(first) && edge.right.isSubsetOf(second);
   });
}

void JoinPlanner::enumerateCsg(RelationSet set, RelationSet excluded) {
   const RelationSet around = neighbors(set, excluded);
   if (around.isEmpty() || gaveUp_) return;
   for (RelationSet part = RelationSet().nextSubset(around); !part.isEmpty() && !gaveUp_;
        part = part.nextSubset(around)) {
      if (++work_ > settings_.joinPairBudget * workPerPair) gaveUp_ = true;
      if (table_.contains(set | part)) emitCsg(set | part);
   }
   for (RelationSet part = RelationSet().nextSubset(around); !part.isEmpty() && !gaveUp_;
        part = part.nextSubset(around))
      enumerateCsg(set | part, excluded | around);
}

void JoinPlanner::emitCsg(RelationSet set) {
   const RelationSet excluded = set | RelationSet::upTo(set.smallest());
   RelationSet around = neighbors(set, excluded);
   const RelationSet all = around;
   while (!around.isEmpty() && !gaveUp_) {
      const uint32_t last = around.largest();
      const RelationSet second = RelationSet::single(last);
      if (areConnected(set, second)) emitPair(set, second);
      enumerateCmp(set, second, excluded | (RelationSet::upTo(last) & all));
      around = around - second;
   }
}

void JoinPlanner::enumerateCmp(RelationSet first, RelationSet second, RelationSet excluded) {
   const RelationSet around = neighbors(second, excluded | first);
   if (around.isEmpty() || gaveUp_) return;
   for (RelationSet part = RelationSet().nextSubset(around); !part.isEmpty() && !gaveUp_;
        part = part.nextSubset(around)) {
      if (++work_ > settings_.joinPairBudget * workPerPair) gaveUp_ = true;
      if (table_.contains(second | part) && areConnected(first, second | part)) emitPair(first, second | part);
   }
   for (RelationSet part = RelationSet().nextSubset(around); !part.isEmpty() && !gaveUp_;
        part = part.nextSubset(around))
      enumerateCmp(first, second | part, excluded | around);
}

void JoinPlanner::emitPair(RelationSet first, RelationSet second) {
   if (++pairs_ > settings_.joinPairBudget) {
      gaveUp_ = true;
      return;
   }
   const auto a = table_.find(first), b = table_.find(second);
   if (a == table_.end() || b == table_.end()) return;
   if (const auto how = step(first, second)) consider(combine(a->second, b->second, *how));
}

bool JoinPlanner::consider(const JoinPlan& plan) {
   DCHECK((plan.left | plan.right) == plan.relations);
   const auto [it, isNew] = table_.try_emplace(plan.relations, plan);
   if (isNew) return true;
   if (plan.cost >= it->second.cost) return false;
   const double rows = it->second.rows; // keep one row estimate per set, so that costs are comparable
   it->second = plan;
   it->second.rows = rows;
   return true;
}

// ---- operators and cost of joining two sets ----

std::optional<JoinPlanner::Step> JoinPlanner::step(RelationSet first, RelationSet second) const {
   const RelationSet both = first | second;
   Step result;
   uint32_t outer = 0;
   for (uint32_t i = 0; i < graph_.operators.size(); ++i) {
      const JoinOperator& op = graph_.operators[i];
      if (op.isCross) continue;
      // An operator is due if the relations that its predicate reads are complete only in the union of both sets.
      const bool due =
          op.syntactic.isSubsetOf(both) && op.syntactic.intersects(first) && op.syntactic.intersects(second);
      if (!due) continue;
      if (!op.total.isSubsetOf(both)) return std::nullopt;
      for (const auto& [when, then] : op.rules)
         if (when.intersects(both) && !then.isSubsetOf(both)) return std::nullopt;
      result.operators.push_back(i);
      if (op.kind == JoinKind::Inner) {
         // A conjunct of an inner join is commutative, so the order of the two sets does not matter.
         continue;
      }
      if (outer++) return std::nullopt;
      const bool forward = op.neededLeft().isSubsetOf(first) && op.neededRight().isSubsetOf(second);
      const bool backward = op.neededLeft().isSubsetOf(second) && op.neededRight().isSubsetOf(first);
      if (!forward && !backward) return std::nullopt;
      result.kind = op.kind;
      result.swapped = !forward;
   }
   // A non-inner operator must be the only operator: a second predicate would become part of its ON clause.
   if (outer && result.operators.size() > 1) return std::nullopt;
   // A cross product must not join relations before a non-inner operator that has to come first.
   if (result.operators.empty())
      for (const JoinOperator& op : graph_.operators) {
         if (op.isCross || op.kind == JoinKind::Inner) continue;
         // While an operand is incomplete, its relations must not be joined with relations outside of it.
         const bool done = op.total.isSubsetOf(first) || op.total.isSubsetOf(second);
         const auto mixes = [both](RelationSet operand) {
            return both.intersects(operand) && !both.isSubsetOf(operand);
         };
         if (!done && (mixes(op.right) || (op.kind == JoinKind::Full && mixes(op.left)))) return std::nullopt;
      }
   return result;
}

double JoinPlanner::innerSelectivity(const Step& step, RelationSet first) const {
   // Distinct counts come from the single relations, so that the row estimate of a set does not depend on the order.
   struct ClassSides {
      int32_t id;
      double distinct[2];
      bool inKey = false;
   };
   struct RelationPair {
      uint32_t relations[2];
      double products[2], rows[2];
      std::vector<size_t> classes;
   };
   std::vector<ClassSides> classes;
   std::vector<RelationPair> pairs;
   double selectivity = 1;
   for (const uint32_t index : step.operators) {
      const JoinOperator& op = graph_.operators[index];
      if (op.equalityClass < 0) {
         selectivity *= op.selectivity;
         continue;
      }
      const bool forward = first.contains(graph_.columnRelation.at(op.leftColumn));
      const ColumnId columns[2] = {forward ? op.leftColumn : op.rightColumn, forward ? op.rightColumn : op.leftColumn};
      size_t at = 0;
      while (at < classes.size() && classes[at].id != op.equalityClass)
         ++at;
      if (at == classes.size()) classes.push_back({op.equalityClass, {INFINITY, INFINITY}, false});
      for (int side = 0; side < 2; ++side) // columns of one class on one side are equal: the least count applies
         classes[at].distinct[side] = std::min(classes[at].distinct[side], graph_.distinct(columns[side]));

      const uint32_t relations[2] = {graph_.columnRelation.at(columns[0]), graph_.columnRelation.at(columns[1])};
      auto pair = std::find_if(pairs.begin(), pairs.end(), [&relations](const RelationPair& p) {
         return p.relations[0] == relations[0] && p.relations[1] == relations[1];
      });
      if (pair == pairs.end())
         pair = pairs.insert(pairs.end(), RelationPair{{relations[0], relations[1]}, {1, 1}, {1, 1}, {}});
      if (std::find(pair->classes.begin(), pair->classes.end(), at) != pair->classes.end()) continue;
      pair->classes.push_back(at);
      for (int side = 0; side < 2; ++side) {
         const ColumnEstimate& column = graph_.column(columns[side]);
         pair->products[side] *= column.baseDistinct;
         pair->rows[side] = std::max(pair->rows[side], column.baseRows);
      }
   }
   // Several columns that count as a key of one table have as many combinations as the table has rows.
   for (const RelationPair& pair : pairs) {
      if (pair.classes.size() < 2) continue;
      double keyRows = INFINITY, each = 1;
      for (int side = 0; side < 2; ++side)
         if (pair.products[side] >= pair.rows[side]) keyRows = std::min(keyRows, pair.rows[side]);
      for (const size_t at : pair.classes)
         if (!classes[at].inKey) each /= std::max({1.0, classes[at].distinct[0], classes[at].distinct[1]});
      if (1 / keyRows <= each) continue;
      selectivity /= keyRows;
      for (const size_t at : pair.classes)
         classes[at].inKey = true;
   }
   for (const ClassSides& c : classes)
      if (!c.inKey) selectivity /= std::max({1.0, c.distinct[0], c.distinct[1]});
   return selectivity;
}

JoinPlan JoinPlanner::combine(const JoinPlan& first, const JoinPlan& second, const Step& step) const {
   DCHECK(first.isValid);
   DCHECK(second.isValid);
   DCHECK(!first.relations.intersects(second.relations));
   const JoinPlan& left = step.swapped ? second : first;
   const JoinPlan& right = step.swapped ? first : second;
   JoinPlan plan;
   plan.relations = first.relations | second.relations;
   plan.left = left.relations;
   plan.right = right.relations;
   plan.isValid = true;
   bool hashable = false;
   double selectivity = 1;
   if (step.kind == JoinKind::Inner) {
      selectivity = innerSelectivity(step, left.relations);
      for (const uint32_t index : step.operators) {
         const JoinOperator& op = graph_.operators[index];
         hashable = hashable || op.equalityClass >= 0 || compareOf(*op.predicate) == CompareOp::Eq;
      }
   } else {
      const JoinOperator& op = graph_.operators[step.operators[0]];
      selectivity = op.selectivity;
      if (op.predicate) {
         const auto equality = [](const Expr& expr) {
            const Expr& test =
                (expr.kind == ExprKind::IsTrue || expr.kind == ExprKind::IsNotFalse) ? *expr.args[0] : expr;
            return isEquality(test);
         };
         hashable = equality(*op.predicate);
         if (op.predicate->kind == ExprKind::And)
            for (const ExprPtr& conjunct : op.predicate->args)
               hashable = hashable || equality(*conjunct);
      }
   }
   const double matches = left.rows * right.rows * selectivity;
   switch (step.kind) {
   case JoinKind::Left: plan.rows = std::max(left.rows, matches); break;
   case JoinKind::Full: plan.rows = std::max({left.rows, right.rows, matches}); break;
   case JoinKind::Semi: plan.rows = left.rows * std::min(1.0, matches / std::max(1.0, left.rows)); break;
   case JoinKind::Anti:
      plan.rows = left.rows * std::max(0.05, 1 - std::min(1.0, matches / std::max(1.0, left.rows)));
      break;
   case JoinKind::Mark:
   case JoinKind::Single: plan.rows = left.rows; break;
   default: plan.rows = matches;
   }
   DCHECK(!std::isnan(plan.rows));        // NaN would break comparisons of costs
   plan.rows = std::max(1e-9, plan.rows); // a minimum of 1 would make the estimate depend on the order
   const bool canSwap = step.kind != JoinKind::Mark && step.kind != JoinKind::Single;
   const double build = canSwap ? std::min(left.rows, right.rows) : right.rows;
   const double probe = left.rows + right.rows - build;
   const double work = hashable ? probe * probeCost + build * buildCost : left.rows * right.rows * pairCost + build;
   plan.cost = left.cost + right.cost + work + plan.rows * outputCost;
   return plan;
}

// ---- greedy operator ordering ----

bool JoinPlanner::runGreedy() {
   std::vector<RelationSet> parts;
   for (uint32_t i = 0; i < graph_.relations.size(); ++i)
      parts.push_back(RelationSet::single(i));
   struct Candidate {
      RelationSet first, second;
      JoinPlan plan;
   };
   std::vector<Candidate> candidates;
   const auto addCandidates = [&](RelationSet part) {
      for (const RelationSet other : parts) {
         if (other == part || !areConnected(part, other)) continue;
         if (const auto how = step(part, other)) {
            JoinPlan plan = combine(table_.at(part), table_.at(other), *how);
            candidates.push_back({part, other, plan});
         }
      }
   };
   for (size_t i = 0; i < parts.size(); ++i) {
      const RelationSet part = parts[i];
      for (size_t k = i + 1; k < parts.size(); ++k)
         if (areConnected(part, parts[k]))
            if (const auto how = step(part, parts[k]))
               candidates.push_back({part, parts[k], combine(table_.at(part), table_.at(parts[k]), *how)});
   }
   uint64_t chance = settings_.seed;
   while (parts.size() > 1) {
      if (candidates.empty()) return false;
      size_t best = 0;
      if (settings_.seed != 0) {
         chance = chance * 6364136223846793005ull + 1442695040888963407ull;
         best = static_cast<size_t>((chance >> 33) % candidates.size());
      } else {
         for (size_t i = 1; i < candidates.size(); ++i)
            if (candidates[i].plan.rows < candidates[best].plan.rows) best = i;
      }
      const Candidate chosen = candidates[best];
      table_[chosen.plan.relations] = chosen.plan;
      std::erase_if(candidates, [&chosen](const Candidate& c) {
         return c.first == chosen.first || c.second == chosen.first || c.first == chosen.second ||
                c.second == chosen.second;
      });
      std::erase_if(parts, [&chosen](RelationSet part) { return part == chosen.first || part == chosen.second; });
      parts.push_back(chosen.plan.relations);
      addCandidates(chosen.plan.relations);
   }
   return true;
}

} // namespace ouzel::optimizer
