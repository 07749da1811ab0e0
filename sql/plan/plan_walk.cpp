#include "sql/algebra/members.hpp"
#include "sql/plan/plan.hpp"

// Walks over the fields of any operator.

namespace ouzel::sql {

template <>
inline constexpr bool ownsNoExpr<plan::IndexUse> = true;
template <>
inline constexpr bool ownsNoExpr<plan::ScanPath> = true;
template <>
inline constexpr bool ownsNoExpr<plan::CtePlan> = true; // its expressions are another plan's

} // namespace ouzel::sql

namespace ouzel::sql::plan {

namespace {

/// Collects the columns that one field makes.
struct MadeColumns {
   std::vector<ColumnId>& made;

   void operator()(ColumnId column) const {
      if (column != noColumn) made.push_back(column);
   }
   template <class T>
   void operator()(const std::vector<T>& list) const {
      for (const T& one : list)
         (*this)(one);
   }
   template <class T>
   requires requires(const T& one) { one.column; }
   void operator()(const T& one) const { made.push_back(one.column); }
   void operator()(const std::unique_ptr<Dml>& dml) const { (*this)(dml->returning); }
   template <class T>
   void operator()(const T&) const {}
};

} // namespace

void forEachOwnExpr(Node& node, const std::function<void(Expr&)>& visit) {
   const auto each = [&visit](const ExprPtr& expr) { visit(*expr); };
   node.visit(
       [&](const auto& op) { forEachField(op, [&](const auto&, const auto& value) { visitExprs(value, each); }); });
}

std::vector<ColumnId> madeColumns(const Node& node) {
   std::vector<ColumnId> made;
   const MadeColumns collect{made};
   node.visit([&](const auto& op) {
      forEachField(op, [&](const auto& field, const auto& value) {
         if (field.isMade) collect(value);
      });
   });
   return made;
}

} // namespace ouzel::sql::plan
