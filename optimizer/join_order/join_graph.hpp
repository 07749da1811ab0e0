#pragma once
#include <utility>
#include <vector>

#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/join_order/relation_set.hpp"

// A region of joins as a hypergraph. Its nodes are relations: subtrees whose top operator is no reorderable join. Its
// edges come from operators: joins, or conjuncts of inner joins. The conflict rules of an operator tell which join
// orders give the same result as the original tree. Conflict detection is CD-C of Moerkotte, Fender, Eich, "On the
// correct and complete enumeration of the core search space", SIGMOD 2013. Mark and Single joins count as left nest
// joins.

namespace ouzel::optimizer {

/// One join operator, or one conjunct of an inner join's predicate.
struct JoinOperator {
   JoinKind kind = JoinKind::Inner;
   ExprPtr predicate; ///< null: true
   ColumnId markColumn = noColumn;
   RelationSet left, right; ///< all relations of the original operands
   RelationSet syntactic;   ///< relations that the predicate reads, at least one of each side (SES)
   RelationSet total;       ///< relations that the join's operands must contain (TES)
   std::vector<std::pair<RelationSet, RelationSet>> rules; ///< operands with any of `first` must have all of `second`
   std::vector<uint32_t> leftOperators, rightOperators;    ///< in the subtrees of the original operands
   bool isCross = false;                                   ///< inner without predicate
   // For an equality between columns only:
   int32_t equalityClass = -1; ///< number of a class of equal columns; a join needs one equality per class
   ColumnId leftColumn = noColumn, rightColumn = noColumn;
   double selectivity = 1; ///< of operators without an equality class

   RelationSet neededLeft() const { return total & left; }
   RelationSet neededRight() const { return total & right; }
};

/// A hyperedge: two sets of relations that an operator connects.
struct JoinEdge {
   RelationSet left, right;
};

/// The hypergraph of one region. Owns the relations until the region is assembled again.
struct JoinGraph {
   std::vector<RelPtr> relations;
   std::vector<RelEstimate> estimates; ///< one per relation
   std::vector<JoinOperator> operators;
   std::vector<JoinEdge> edges;
   std::unordered_map<ColumnId, uint32_t> columnRelation;
   std::vector<sql::ComputedColumn> computedAbove; ///< projections between joins, moved above the region

   RelationSet all() const {
      return relations.empty() ? RelationSet() : RelationSet::upTo(static_cast<uint32_t>(relations.size()) - 1);
   }
   const ColumnEstimate& column(ColumnId column) const;
   double distinct(ColumnId column) const;
};

/// True if the operator is a join that belongs to a region; false if it is a relation of a region.
bool isReorderable(const Rel& rel);
/// Takes apart the region whose top join is `root`: moves its relations out of the tree into the graph. originalOrder()
/// keeps the operands of the joins, so that the original order can be assembled again.
class JoinGraphBuilder {
public:
   JoinGraphBuilder(Query& query, Estimator& estimator) : query_(query), estimator_(estimator) {}
   JoinGraph build(RelPtr root);
   /// The original order as pairs of operand sets in postorder, for regions without another order.
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
   void connect(RelationSet relations); ///< adds edges until the relations are one component

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
