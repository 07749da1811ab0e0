#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/algebra/rel.hpp"

// The part of verification that algebra and plans share: the invariants between an expression's node and its children.
// A violation is a bug of the binder or the optimizer, found before it gives wrong rows. XX000 names the rule, the step
// after which the violation was found, and the operator.

namespace ouzel::sql {

/// A set of columns of one plan.
class VisibleColumns {
public:
   VisibleColumns() = default;
   explicit VisibleColumns(const std::vector<ColumnId>& columns) { add(columns); }

   /// False if the set already has the column.
   bool add(ColumnId column);
   void add(const std::vector<ColumnId>& columns);
   void add(const VisibleColumns& other);
   bool has(ColumnId column) const;

private:
   std::vector<uint64_t> words_; ///< bit id % 64 of word id / 64
};

/// True if a value of one type may stand for a value of the other without a cast: the types are the same, two kinds of
/// text, two integers or two arrays.
bool isCompatible(const SqlType& a, const SqlType& b);
/// Whether bpchar values of one type are values of the other as they lie in memory: with blanks, or without those of
/// their length.
bool haveSameBlanks(const SqlType& a, const SqlType& b);
/// Whether a column of one type may have the values of the other.
inline bool areAlike(const SqlType& a, const SqlType& b) {
   return isCompatible(a, b) && haveSameBlanks(a, b);
}

/// Checks the expressions of one tree, operator by operator. The verifiers of operators report their own violations
/// through it as well. One per walk, on one thread.
class ExprVerifier {
public:
   /// Called for each Subquery with the columns of enclosing queries that the subquery may read.
   using SubqueryCheck = std::function<void(const Rel& subquery, const VisibleColumns& outer)>;

   /// `after`: "binding" or the rewrite that ran last. `isLowered`: representations have been chosen.
   ExprVerifier(const ColumnTable& columns, std::string_view after, bool isLowered)
      : columns_(columns), after_(after), isLowered_(isLowered) {}
   void onSubquery(SubqueryCheck check) { subquery_ = std::move(check); }
   /// Sets the operator that errors name from here on; gives the previous operator, for restoring it.
   std::string enter(std::string node) { return std::exchange(node_, std::move(node)); }

   /// Ensures that the expression's nodes fit together and read columns of `visible` only.
   void check(const ExprPtr& root, const VisibleColumns& visible) const;
   void check(const std::vector<ExprPtr>& list, const VisibleColumns& visible) const;
   /// `check`, and ensures that the expression is a boolean.
   void checkPredicate(const ExprPtr& root, const VisibleColumns& visible) const;
   /// `check`, and ensures that the values have a type that `column` can hold.
   void checkComputed(const ComputedColumn& computed, const VisibleColumns& visible) const;
   /// Ensures that `column` exists and is one of `visible`.
   void checkColumn(ColumnId column, const VisibleColumns& visible) const;

   /// Throws XX000 unless `holds`. `rule` is the invariant; `about` is the subject, made into text only for the error.
   void ensure(bool holds, std::string_view rule, std::string_view about = {}) const {
      if (!holds) refuse(rule, about);
   }
   void ensure(bool holds, std::string_view rule, const Expr& about) const {
      if (!holds) refuse(rule, about);
   }
   void ensure(bool holds, std::string_view rule, ColumnId about) const {
      if (!holds) refuse(rule, name(about));
   }
   void ensure(bool holds, std::string_view rule, uint32_t about) const {
      if (!holds) refuse(rule, std::to_string(about));
   }
   [[noreturn, gnu::cold]] void refuse(std::string_view rule, std::string_view about) const;
   [[noreturn, gnu::cold]] void refuse(std::string_view rule, const Expr& about) const;
   std::string name(ColumnId column) const;
   const ColumnTable& columns() const { return columns_; }

private:
   void checkNode(const Expr& expr, const VisibleColumns& visible) const;
   void checkLogic(const Expr& expr) const;
   void checkComparison(const Expr& expr) const;
   void checkAlternatives(const Expr& expr) const;
   void checkCall(const Expr& expr) const;
   void checkScaledCall(const Expr& expr) const;
   void checkCast(const Expr& expr) const;
   void checkArray(const Expr& expr) const;
   void checkSubquery(const Expr& expr, const VisibleColumns& visible) const;

   const ColumnTable& columns_;
   const std::string_view after_;
   const bool isLowered_;
   std::string node_;
   SubqueryCheck subquery_;
};

} // namespace ouzel::sql
