#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "optimizer/join_order/join_graph.hpp"

// Finds a cheap order for the joins of a join graph.

namespace ouzel::optimizer {

/// The cheapest known join of a set of relations.
struct JoinPlan {
   RelationSet relations, left, right; ///< left and right are empty for a single relation
   double rows = 1, cost = 0;
   bool isValid = false;
};

/// Plans one graph; refers to the graph and the settings. It runs DPhyp (Moerkotte & Neumann, SIGMOD 2008). If DPhyp
/// exceeds the budget of pairs, greedy operator ordering runs instead. If conflicts let neither finish, the result is
/// the original order.
class JoinPlanner {
public:
   JoinPlanner(const JoinGraph& graph, const OptimizerSettings& settings) : graph_(graph), settings_(settings) {}

   /// Fills the table of plans; plan(graph.all()) is the result. `original` is JoinGraphBuilder::originalOrder().
   void run(const std::vector<std::pair<RelationSet, RelationSet>>& original);
   const JoinPlan& plan(RelationSet relations) const { return table_.at(relations); }

   /// One join of two sets: the numbers of the operators that it computes, and its kind.
   struct Step {
      std::vector<uint32_t> operators;
      JoinKind kind = JoinKind::Inner;
      bool swapped = false; ///< the operator's left operand is the second set
   };
   /// The join of two sets; empty if conflicts forbid it.
   std::optional<Step> step(RelationSet first, RelationSet second) const;

   uint32_t pairsSeen() const { return pairs_; }
   /// Rows and cost of a join of two plans.
   JoinPlan combine(const JoinPlan& first, const JoinPlan& second, const Step& step) const;

private:
   bool runDphyp();
   bool runGreedy();
   void enumerateCsg(RelationSet set, RelationSet excluded);
   void emitCsg(RelationSet set);
   void enumerateCmp(RelationSet first, RelationSet second, RelationSet excluded);
   void emitPair(RelationSet first, RelationSet second);
   RelationSet neighbors(RelationSet set, RelationSet excluded) const;
   bool areConnected(RelationSet first, RelationSet second) const;
   double innerSelectivity(const Step& step, RelationSet first) const;
   bool consider(const JoinPlan& plan);
   void initialize();

   const JoinGraph& graph_;
   const OptimizerSettings& settings_;
   std::unordered_map<RelationSet, JoinPlan, RelationSetHash> table_;
   std::vector<RelationSet> simpleNeighbors_; ///< by relation: neighbours over edges between single relations
   std::vector<JoinEdge> hyperedges_;
   uint32_t pairs_ = 0;
   uint64_t work_ = 0;
   bool gaveUp_ = false;
};

} // namespace ouzel::optimizer
