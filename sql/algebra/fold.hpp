#pragma once
#include <memory>
#include <vector>

#include "sql/algebra/columns.hpp"
#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// What an aggregate of a user does with a row: the state before it and the row's arguments give the state after it.
/// The expressions are over columns of their own. Immutable; all copies of a call share it.
struct Fold {
   Oid aggregate = invalidOid;   ///< pg_proc OID
   bool isMoving = false;        ///< MSFUNC and MSTYPE, not SFUNC and STYPE
   ColumnTable columns;          ///< of the expressions
   ColumnId state{};             ///< the state before the row
   std::vector<ColumnId> inputs; ///< the first arguments of the call; it may have more
   bool isStrict = false;        ///< rows with a NULL change nothing, and a state that is NULL remains
   ExprPtr transition;           ///< the state after the row
   ExprPtr inverse;              ///< the state after the row has left a frame; null: it cannot leave
   /// A constant: the state before the first row. Null: NULL. Then a strict aggregate takes `first` for the state after
   /// the first row without a NULL.
   ExprPtr initial;
   ExprPtr first;
};
using FoldPtr = std::shared_ptr<const Fold>;

} // namespace ouzel::sql
