#include <algorithm>
#include <utility>

#include "common/thread/stack.hpp"
#include "sql/algebra/members.hpp"
#include "sql/algebra/table_parts.hpp"

// Structural equality of expressions, with their subqueries.

namespace ouzel::sql {

namespace {

/// Compares two trees. Two bindings of one subquery make different columns: a column made in the one tree stands for
/// the column that the same operator makes in the other.
class Comparison {
public:
   bool equal(const Expr& a, const Expr& b) {
      checkStack();
      if (a.repr != b.repr || !sameFields(a, b)) return false;
      return a.kind == ExprKind::Column || (a.type == b.type && same(a.args, b.args, ColumnRole::Read));
   }
   bool sameFields(const Expr& a, const Expr& b) { return a.kind == b.kind && sameAlternatives(a.fields, b.fields); }

private:
   bool equal(const Rel& a, const Rel& b) {
      checkStack();
      return a.kind == b.kind && same(a.inputs, b.inputs, ColumnRole::Read) && sameAlternatives(a.fields, b.fields);
   }

   template <typename Fields>
   bool sameAlternatives(const Fields& a, const Fields& b) {
      if (a.index() != b.index()) return false;
      return std::visit(
          [&](const auto& own) { return same(own, *std::get_if<std::decay_t<decltype(own)>>(&b), ColumnRole::Read); },
          a);
   }

   /// `role`: of the column ids in the two values.
   template <typename T>
   bool same(const T& a, const T& b, ColumnRole role) {
      if constexpr (Listed<T>)
         return std::apply(
             [&](const auto&... entry) {
                return (same(a.*pointerOf(entry), b.*pointerOf(entry), roleOf(entry, role)) && ...);
             },
             T::template members<T>);
      else if constexpr (std::is_same_v<T, ColumnId>)
         return role == ColumnRole::Made ? pair(a, b) : counterpart(a) == b;
      else if constexpr (std::is_same_v<T, ExprPtr> || std::is_same_v<T, RelPtr>)
         return a && b ? equal(*a, *b) : !a && !b;
      else if constexpr (std::is_same_v<T, Value>)
         return a.identical(b);
      else if constexpr (std::is_same_v<T, TableRef>)
         return isSameTable(a, b);
      else if constexpr (std::is_same_v<T, std::unique_ptr<Dml>>)
         return false; // no subquery writes
      else if constexpr (isVector<T> || isArray<T>)
         return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                           [&](const auto& x, const auto& y) { return same(x, y, role); });
      else
         return a == b;
   }

   bool pair(ColumnId a, ColumnId b) {
      if ((a == noColumn) != (b == noColumn)) return false;
      if (a != noColumn) made_.emplace_back(a, b);
      return true;
   }
   ColumnId counterpart(ColumnId a) const {
      const auto found = std::find_if(made_.begin(), made_.end(), [a](const auto& pair) { return pair.first == a; });
      return found == made_.end() ? a : found->second;
   }

   std::vector<std::pair<ColumnId, ColumnId>> made_;
};

} // namespace

bool sameFields(const Expr& a, const Expr& b) {
   return Comparison().sameFields(a, b);
}

bool equal(const Expr& a, const Expr& b) {
   return Comparison().equal(a, b);
}

} // namespace ouzel::sql
