#include "sql/plan/plan.hpp"

// Walks over the fields of any operator.

namespace ouzel::sql::plan {

namespace {

/// Visits the expressions in one field. A type of field that is not listed here does not compile if it could own an
/// expression.
struct ExprWalk {
   const std::function<void(Expr&)>& visit;

   void operator()(const ExprPtr& expr) const {
      if (expr) visit(*expr);
   }
   template <class T>
   void operator()(const std::vector<T>& list) const {
      for (const T& one : list)
         (*this)(one);
   }
   void operator()(const ComputedColumn& computed) const { visit(*computed.expr); }
   void operator()(const SortKey& key) const { visit(*key.expr); }
   void operator()(const JoinKey& key) const { all(key.probe, key.build); }
   void operator()(const AggregateCall& call) const { all(call.args, call.directArgs, call.orderBy, call.filter); }
   void operator()(const WindowCall& call) const { all(call.args, call.filter); }
   void operator()(const WindowSpec& spec) const {
      all(spec.partitionBy, spec.orderBy, spec.start.offset, spec.end.offset);
   }
   void operator()(const Dml::Check& check) const { (*this)(check.expr); }
   void operator()(const std::unique_ptr<Dml>& dml) const { all(dml->returning, dml->checks, dml->proposedChecks); }
   void operator()(const TableRef&) const {}
   void operator()(const IndexUse&) const {}
   void operator()(const Rel::GroupingCall&) const {}
   void operator()(const RowLock&) const {}
   void operator()(const CtePlan&) const {} // a plan of its own
   template <class T>
   requires std::is_trivially_copyable_v<T>
   void operator()(const T&) const {}

   template <class... Parts>
   void all(const Parts&... parts) const {
      ((*this)(parts), ...);
   }
};

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
   const ExprWalk walk{visit};
   node.visit([&](const auto& op) { forEachField(op, [&](const auto&, const auto& value) { walk(value); }); });
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
