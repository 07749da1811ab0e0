#pragma once
#include <string>
#include <vector>

#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The columns that SEARCH and CYCLE add to a recursive query. As in the SQL standard they are defined by rewriting:
/// each term of the union computes them, the recursive one from those of the row that it reads.
///
///    SEARCH DEPTH FIRST    seq = ARRAY[ROW(a)],   then seq || ROW(a)
///    SEARCH BREADTH FIRST  seq = ROW(0, a),       then ROW(depth + 1, a)
///    CYCLE                 mark = default, path = ARRAY[ROW(a)]; then mark = value if ROW(a) is in path, and
///                          path || ROW(a). Rows with the mark are read no further.
class SearchCycle {
public:
   /// REQUIRES: the names of the query's own columns are known. Throws 42601 and 42701 for columns that are not there.
   SearchCycle(BindState& state, CteBinding& cte);
   static bool isWanted(const CteBinding& cte) { return cte.node->search_clause || cte.node->cycle_clause; }

   /// The non-recursive term computes the columns. From here on the recursive term can name them; `*` leaves them out.
   void extendBase(Scope& scope, BoundRel& base);
   /// The same for the recursive term, whose output has the types of the query's columns. Throws 42601 for names that
   /// the query has already.
   void extendStep(Scope& scope, BoundRel& step);
   /// Both terms are bound: the columns are like the others, except for the depth, which nobody else sees.
   void finish();

private:
   std::vector<size_t> namedColumns(const ::List* names, const char* what, uint32_t position) const;
   void requireNewNames() const;
   void requireNewName(const std::string& name, const char* what, uint32_t position) const;
   void bindMarks(Scope& scope);
   ExprPtr rowOf(const std::vector<size_t>& columns, const std::vector<OutputColumn>& output, ExprPtr first = nullptr);
   ColumnId addColumn(Scope& scope, std::vector<ComputedColumn>& computed, const std::string& name, ExprPtr value);
   /// The column of the row that the recursive term reads.
   ExprPtr previous(size_t index) const;

   BindState& state_;
   CteBinding& cte_;
   const ::CTESearchClause* const search_;
   const ::CTECycleClause* const cycle_;
   const size_t ownColumns_;
   std::vector<size_t> searchBy_, cycleBy_;
   ExprPtr markValue_, markDefault_;
   size_t sequence_ = 0, depth_ = 0, mark_ = 0, path_ = 0; ///< indexes of cte_.columns
};

} // namespace ouzel::sql
