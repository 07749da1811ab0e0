#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error/check.hpp"
#include "sql/plan/operators.hpp"

// The physical plan: optimizer/lower writes it, executor/ reads it. A plan has no behaviour and is read-only once
// built, so threads may share it; objects of the executor hold the running state. Expressions in a plan contain no
// Subquery, and no Parameter but in a generic plan before its first start. Every expression has its `repr`;
// ColumnInfo::repr is the representation in which batches carry a column.

namespace ouzel::sql::plan {

template <class T, class Variant>
inline constexpr bool isAlternative = false;
template <class T, class... All>
inline constexpr bool isAlternative<T, std::variant<All...>> = (std::is_same_v<T, All> || ...);
template <class T>
inline constexpr bool isOperator = isAlternative<T, AnyOf>; ///< and not the base of some

/// One operator of a plan; owns its children and expressions.
struct Node {
   const NodeKind kind; ///< which operator the node holds
   std::vector<NodePtr> children;
   /// The layout of the batches that this node gives. Columns that pass through keep their ids.
   std::vector<ColumnId> output;
   double estimatedRows = 0;
   double estimatedCost = 0; ///< arbitrary unit (about ns/100), for EXPLAIN

   explicit Node(Operator&& op);
   ~Node();

   /// The operator as T, which is its struct or the base of its struct (Scan, Computing, Join, Write); null: it is
   /// another one.
   template <class T>
   const T* getIf() const {
      if constexpr (isOperator<T>)
         return std::get_if<T>(&operator_);
      else
         return base(static_cast<const T*>(nullptr));
   }
   template <class T>
   T* getIf() {
      return const_cast<T*>(std::as_const(*this).getIf<T>());
   }
   /// The same for an operator that is known to be a T.
   template <class T>
   const T& as() const {
      const T* op = getIf<T>();
      DCHECK(op != nullptr);
      return *op;
   }
   template <class T>
   T& as() {
      return const_cast<T&>(std::as_const(*this).as<T>());
   }
   /// Calls `visitor` with the operator's struct.
   template <class Visitor>
   decltype(auto) visit(Visitor&& visitor) const {
      return std::visit(std::forward<Visitor>(visitor), operator_);
   }
   /// The CTEs of a Materialize; none of other operators.
   std::span<CtePlan> ctes() {
      auto* with = getIf<Materialize>();
      return with ? std::span(with->ctes) : std::span<CtePlan>();
   }
   std::span<const CtePlan> ctes() const { return const_cast<Node*>(this)->ctes(); }

private:
   // The base T of the operator's struct; null: it has none.
   const Scan* base(const Scan*) const;
   const Computing* base(const Computing*) const;
   const Join* base(const Join*) const;
   const Write* base(const Write*) const;

   Operator operator_;
};

/// A plan ready to run, with its columns and the client's result columns. Owns its nodes.
struct Plan {
   NodePtr root;
   std::vector<OutputColumn> output; ///< order of the result; may repeat or reorder root->output
   ColumnTable columns;
   uint32_t runtimeFilterCount = 0;
   bool readOnly = true;
   bool runsRoutines = false;    ///< calls functions that the session's thread has to run, so that it runs the plan
   bool boundToSnapshot = false; ///< relies on bounds of the planning snapshot's data: run it under that snapshot only
};

/// Calls `visit` for every expression directly in this node (not in its children).
void forEachOwnExpr(Node& node, const std::function<void(Expr&)>& visit);
/// The columns that the node makes, not those that its children give. Columns of Values and of operators that rename
/// columns stand in `output` only.
std::vector<ColumnId> madeColumns(const Node& node);
/// Name as EXPLAIN prints it: "Hash Join", "Table Scan on lineitem".
std::string nodeName(const Node& node);
/// Indented text for tests and debugging.
std::string toString(const Plan& plan);

} // namespace ouzel::sql::plan
