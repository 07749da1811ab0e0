#pragma once
#include <utility>
#include <vector>

#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/join_order/relation_set.hpp"

// A region of joins as a hypergraph: relations (whatever is not a join), and operators with the conflicts that say
// which orders mean the same as the original tree. Conflict detection is CD-C of Moerkotte, Fender, Eich, "On the
// correct and complete enumeration of the core search space", SIGMOD 2013. Mark and Single joins count as its left nest
// join.

namespace ouzel::optimizer {

/// One join operator, or one conjunct of an inner join's predicate.
struct JoinOperator {
   JoinKind kind = JoinKind::Inner;
   ExprPtr predicate; ///< null: true
   ColumnId markColumn = noColumn;
   RelationSet left, right; ///< all relations of the original operands
   RelationSet syntactic;   ///< relations that the predicate reads, at least one of each side (SES)
   RelationSet total;       ///< relations that must be there (TES)
   std::vector<std::pair<RelationSet, RelationSet>> rules; ///< if any of first is there, all of second must be
   std::vector<uint32_t> leftOperators, rightOperators;    ///< in the subtrees of the original operands
   bool isCross = false;                                   ///< inner without predicate
   // Of an equality between columns:
   int32_t equalityClass = -1; ///< columns that are equal to each other; one equality of a class per join is enough
   ColumnId leftColumn = noColumn, rightColumn = noColumn;
   double selectivity = 1; ///< of the others

   RelationSet neededLeft() const { return total & left; }
   RelationSet neededRight() const { return total & right; }
};

/// Two sets of relations that an operator connects.
struct JoinEdge {
   RelationSet left, right;
};

struct JoinGraph {
   std::vector<RelPtr> relations;
   std::vector<RelEstimate> estimates; ///< one per relation
   std::vector<JoinOperator> operators;
   std::vector<JoinEdge> edges;
   std::unordered_map<ColumnId, uint32_t> columnRelation;
   std::vector<sql::ComputedColumn> computedAbove; ///< projections moved above the region

   RelationSet all() const {
      return relations.empty() ? RelationSet() : RelationSet::upTo(static_cast<uint32_t>(relations.size()) - 1);
   }
   const ColumnEstimate& column(ColumnId column) const;
   double distinct(ColumnId column) const;
};

/// True when this node is part of a region rather than a relation of one.
bool isReorderable(const Rel& rel);
/// Take the region with `root` as its top join apart. Relations are moved out of the tree; `skeleton` gets what is
/// needed to put the original order together again.
class JoinGraphBuilder {
public:
   JoinGraphBuilder(Query& query, Estimator& estimator) : query_(query), estimator_(estimator) {}
   JoinGraph build(RelPtr root);
   /// The original order, as nested pairs of operand sets (postorder), for when no other order is found.
   const std::vector<std::pair<RelationSet, RelationSet>>& originalOrder() const { return original_; }

private:
   struct Subtree {
      RelationSet relations;
      std::vector<uint32_t> operators;
   };
   Subtree visit(RelPtr rel);
   void addEqualities(Rel& root);
   void addOperator(JoinOperator op, const Subtree& left, const Subtree& right);
   RelationSet relationsOf(const Expr& expr) const;
   void detectConflicts(JoinOperator& op) const;
   bool rejectsNullsOf(const JoinOperator& op, RelationSet relations) const;
   bool isAssociative(const JoinOperator& a, const JoinOperator& b) const;
   bool isLeftAsscom(const JoinOperator& a, const JoinOperator& b) const;
   bool isRightAsscom(const JoinOperator& a, const JoinOperator& b) const;
   void addEdges();
   void connect(RelationSet relations); ///< add edges until these are one component

   Query& query_;
   Estimator& estimator_;
   JoinGraph graph_;
   std::vector<std::vector<ColumnId>> columns_; ///< by relation
   std::unordered_map<ColumnId, RelationSet> markRelations_;
   std::unordered_map<ColumnId, int32_t> classes_;
   int32_t classCount_ = 0;
   std::vector<std::pair<RelationSet, RelationSet>> original_;
};

} // namespace ouzel::optimizer
