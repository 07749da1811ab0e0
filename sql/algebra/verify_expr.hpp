#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/algebra/rel.hpp"

// The part of verification that algebra and plans share: what an expression's node promises about its children. A
// broken promise is a mistake of ours, found before it gives wrong rows: XX000 names the rule, the step after which it
// was found, and the operator.

namespace ouzel::sql {

/// A set of columns of one plan.
class VisibleColumns {
public:
   VisibleColumns() = default;
   explicit VisibleColumns(const std::vector<ColumnId>& columns) { add(columns); }

   /// False: it was there already.
   bool add(ColumnId column);
   void add(const std::vector<ColumnId>& columns);
   void add(const VisibleColumns& other);
   bool has(ColumnId column) const;

private:
   std::vector<uint64_t> words_; ///< bit id % 64 of word id / 64
};

/// Says yes where values of one type may stand for values of the other without a cast: the same type, two kinds of
/// text, two integers, two arrays.
bool isCompatible(const SqlType& a, const SqlType& b);

/// Checks expressions of one tree, operator by operator. Also reports what operators themselves break.
class ExprVerifier {
public:
   /// Called for each Subquery with the columns that it may read besides its own.
   using SubqueryCheck = std::function<void(const Expr& subquery, const VisibleColumns& outer)>;

   /// `after`: "binding" or the rewrite that ran last. `isLowered`: representations have been chosen.
   ExprVerifier(const ColumnTable& columns, std::string_view after, bool isLowered)
      : columns_(columns), after_(after), isLowered_(isLowered) {}
   void onSubquery(SubqueryCheck check) { subquery_ = std::move(check); }
   /// What comes next belongs to this operator; gives the one before.
   std::string enter(std::string node) { return std::exchange(node_, std::move(node)); }

   /// The expression's nodes fit together, and it reads columns of `visible` only.
   void check(const ExprPtr& root, const VisibleColumns& visible) const;
   void check(const std::vector<ExprPtr>& list, const VisibleColumns& visible) const;
   /// The same, and it is a boolean.
   void checkPredicate(const ExprPtr& root, const VisibleColumns& visible) const;
   /// The same, and its values can stand in `column`.
   void checkComputed(const ComputedColumn& computed, const VisibleColumns& visible) const;
   /// `column` exists and is one of `visible`.
   void checkColumn(ColumnId column, const VisibleColumns& visible) const;

   /// Throws XX000 unless `holds`. `rule` says what must be; the rest, what it is about, is printed on refusal only.
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
