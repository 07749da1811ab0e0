#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/state/bound_rel.hpp"

// The values that a program computes on its way, as a chain of computed columns and joins over one row.

namespace ouzel::sql::program {

/// When control comes by: the terms that are then true, outermost first. Each is a column of the chain, or its
/// negation. Terms are shared and do not change.
using Path = std::vector<std::shared_ptr<const Expr>>;

/// True where all terms are; null: always.
ExprPtr conditionOf(const Path& path, size_t from = 0);

/// A value that the program returns, and where.
struct ReturnedValue {
   Path path;
   ExprPtr value;
};

class ValueChain {
public:
   explicit ValueChain(BindState& state) : state_(state) {}

   /// A column with the value where control comes by `path`; elsewhere it may be NULL.
   ExprPtr add(std::string name, ExprPtr value, const Path& path);
   /// The columns of the first row of `query`, or NULLs, where control comes by `path`.
   void join(RelPtr query, const Path& path);
   /// Number of expression nodes so far.
   size_t size() const { return size_; }
   /// The whole, with the value that is returned as its only column; `returned` covers all rows. Empty: the optimizer
   /// would compute a part that the program computes in some rows only, or drop one that may fail.
   std::optional<BoundRel> finish(std::string name, std::vector<ReturnedValue> returned);

private:
   struct Step {
      ColumnId column = noColumn;
      ExprPtr value; ///< null: a join
      RelPtr query;
      Path path;
      bool mayFail = false, isCertain = false;
   };
   /// Marks the values that are computed whenever `expr` is, in rows that come by `path`.
   void mark(const Expr& expr, const Path& path);
   Step* stepOf(ColumnId column);
   /// Whether the value is NULL, or the same in all rows, as the optimizer finds out.
   bool isNull(const Expr& expr);
   bool isConstant(const Expr& expr);
   /// Whether the optimizer would treat the parts of the expression in another way than its planning alone does.
   bool isFoldedApart(const Expr& expr);
   bool isFoldedApart(const Rel& rel);
   size_t usesOf(ColumnId column, size_t behind, const Expr& result) const;
   /// Puts values that are used once in the places where they are used.
   void substitute(ExprPtr& result);

   BindState& state_;
   std::vector<Step> steps_;
   size_t size_ = 0;
};

/// Whether computing the expression may raise an error, subqueries included.
bool mayRaise(const BindState& state, const Expr& expr);
bool mayRaise(const BindState& state, const Rel& rel);
/// Whether a query of one table finds its rows by a key, so that it has one at most.
bool findsByKey(const BindState& state, const Rel& rel);
size_t nodeCount(const Expr& expr);
size_t nodeCount(const Rel& rel);

} // namespace ouzel::sql::program
