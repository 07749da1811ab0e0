#include "sql/algebra/rel.hpp"

#include <iterator>
#include <unordered_set>

#include "common/thread/stack.hpp"
#include "sql/algebra/members.hpp"

namespace ouzel::sql {

namespace {

template <typename T, typename Visit>
void visitColumns(T& value, ColumnRole role, const Visit& visit) {
   if constexpr (Listed<T>)
      forEachMember(value, [&](auto& member, const auto& entry) { visitColumns(member, roleOf(entry, role), visit); });
   else if constexpr (std::is_same_v<T, ColumnId>) {
      if (value != noColumn) visit(value, role);
   } else if constexpr (std::is_same_v<T, std::unique_ptr<Dml>>) {
      if (value) visitColumns(*value, role, visit);
   } else if constexpr (isVector<T> || isArray<T>)
      for (auto& element : value)
         visitColumns(element, role, visit);
}

struct FreeColumns {
   std::vector<ColumnId> read; ///< in order of appearance
   std::unordered_set<uint32_t> seen, made;

   void reads(ColumnId column) {
      if (column != noColumn && seen.insert(static_cast<uint32_t>(column)).second) read.push_back(column);
   }
   void visit(const Rel& rel) {
      checkStack();
      forEachOwnExpr(rel, [this](const Expr& expr) { visit(expr); });
      forEachOwnColumn(rel, [this](ColumnId column, ColumnRole role) {
         if (role == ColumnRole::Made) made.insert(static_cast<uint32_t>(column));
         if (role == ColumnRole::Read) reads(column);
      });
      forEachChild(rel, [this](const RelPtr& child) { visit(*child); });
   }
   void visit(const Expr& root) {
      forEachExpr(root, [this](const Expr& expr) {
         reads(columnOf(expr));
         if (const Rel* subquery = subqueryOf(expr)) visit(*subquery);
         return true;
      });
   }
};

op::Fields emptyFields(RelKind kind) {
   switch (kind) {
   case RelKind::Get:
   case RelKind::VirtualGet: return op::Get();
   case RelKind::Values: return op::Values();
   case RelKind::TableFunction: return op::TableFunction();
   case RelKind::Select: return op::Select();
   case RelKind::Map:
   case RelKind::ProjectSet: return op::Map();
   case RelKind::Join: return op::Join();
   case RelKind::GroupBy: return op::GroupBy();
   case RelKind::Window: return op::Window();
   case RelKind::Distinct: return op::Distinct();
   case RelKind::Sort: return op::Sort();
   case RelKind::Limit: return op::Limit();
   case RelKind::SetOp: return op::SetOp();
   case RelKind::CteScan:
   case RelKind::RecursiveScan: return op::CteScan();
   case RelKind::With: return op::With();
   case RelKind::LockRows: return op::LockRows();
   case RelKind::Barrier: return op::Barrier();
   case RelKind::Insert:
   case RelKind::Update:
   case RelKind::Delete:
   case RelKind::Merge: break;
   }
   return op::Write();
}

} // namespace

const char* nameOf(RelKind kind) {
   static const char* const names[] = {
       "Get",           "VirtualGet", "Values",   "TableFunction", "Select", "Map",    "ProjectSet", "Join",
       "GroupBy",       "Window",     "Distinct", "Sort",          "Limit",  "SetOp",  "CteScan",    "With",
       "RecursiveScan", "LockRows",   "Barrier",  "Insert",        "Update", "Delete", "Merge"};
   static_assert(std::size(names) == static_cast<size_t>(RelKind::Merge) + 1);
   return names[static_cast<size_t>(kind)];
}

Rel::Rel(RelKind k) : kind(k), fields(emptyFields(k)) {}

op::Fields::Fields(Fields&& other) noexcept = default;
op::Fields::~Fields() = default;

Rel::~Rel() = default;

Rel::Rel(RelKind k, op::Fields&& f) : kind(k), fields(std::move(f)) {
   DCHECK(fields.index() == emptyFields(k).index());
}

RelPtr makeRel(RelKind kind, op::Fields&& fields) {
   return std::make_unique<Rel>(kind, std::move(fields));
}

RelPtr makeRel(RelKind kind, op::Fields&& fields, RelPtr input) {
   RelPtr rel = makeRel(kind, std::move(fields));
   rel->inputs.push_back(std::move(input));
   return rel;
}

RelPtr makeRel(RelKind kind, op::Fields&& fields, RelPtr left, RelPtr right) {
   RelPtr rel = makeRel(kind, std::move(fields));
   rel->inputs.reserve(2);
   rel->inputs.push_back(std::move(left));
   rel->inputs.push_back(std::move(right));
   return rel;
}

namespace {

/// Appends the columns, so that a tree of n levels takes O(n) and not the copies of each level.
void appendOutputColumns(const Rel& rel, std::vector<ColumnId>& out) {
   checkStack();
   switch (rel.kind) {
   case RelKind::GroupBy:
   case RelKind::SetOp:
   case RelKind::Insert:
   case RelKind::Update:
   case RelKind::Delete:
   case RelKind::Merge: break;
   case RelKind::Distinct: {
      const auto& distinct = rel.as<op::Distinct>();
      if (!distinct.sortKeys.empty()) return appendOutputColumns(*rel.inputs[0], out);
      out.insert(out.end(), distinct.columns.begin(), distinct.columns.end());
      return;
   }
   case RelKind::Join: {
      appendOutputColumns(*rel.inputs[0], out);
      const JoinKind kind = rel.as<op::Join>().kind;
      if (kind != JoinKind::Semi && kind != JoinKind::Anti && kind != JoinKind::Mark)
         appendOutputColumns(*rel.inputs[1], out);
      break;
   }
   default:
      if (!rel.inputs.empty()) appendOutputColumns(*rel.inputs[0], out);
   }
   forEachOwnColumn(rel, [&out](ColumnId column, ColumnRole role) {
      if (role == ColumnRole::Made) out.push_back(column);
   });
}

} // namespace

std::vector<ColumnId> outputColumns(const Rel& rel) {
   std::vector<ColumnId> out;
   appendOutputColumns(rel, out);
   return out;
}

ExprPtr* predicateOf(Rel& rel) {
   if (auto* get = rel.getIf<op::Get>()) return &get->predicate;
   if (auto* select = rel.getIf<op::Select>()) return &select->predicate;
   if (auto* join = rel.getIf<op::Join>()) return &join->predicate;
   return nullptr;
}

void forEachOwnColumn(Rel& rel, const std::function<void(ColumnId&, ColumnRole)>& visit) {
   std::visit([&visit](auto& fields) { visitColumns(fields, ColumnRole::Read, visit); }, rel.fields);
}

void forEachOwnColumn(const Rel& rel, const std::function<void(ColumnId, ColumnRole)>& visit) {
   // The mutable visitor only hands out references and changes nothing.
   forEachOwnColumn(const_cast<Rel&>(rel), [&visit](ColumnId& column, ColumnRole role) { visit(column, role); });
}

void forEachOwnExpr(Rel& rel, const std::function<void(ExprPtr&)>& visit) {
   std::visit([&visit](auto& fields) { visitExprs(fields, visit); }, rel.fields);
}

void forEachOwnExpr(const Rel& rel, const std::function<void(const Expr&)>& visit) {
   // The mutable visitor only hands out references and changes nothing.
   forEachOwnExpr(const_cast<Rel&>(rel), [&visit](ExprPtr& expr) { visit(*expr); });
}

std::vector<ColumnId> freeColumns(const Rel& rel) {
   FreeColumns walk;
   walk.visit(rel);
   std::vector<ColumnId> free;
   for (const ColumnId column : walk.read)
      if (!walk.made.contains(static_cast<uint32_t>(column))) free.push_back(column);
   return free;
}

RelPtr clone(const Rel& rel) {
   checkStack();
   auto copy = std::make_unique<Rel>(
       rel.kind, std::visit([](const auto& fields) { return op::Fields(copyOf(fields)); }, rel.fields));
   copy->inputs = copyOf(rel.inputs);
   return copy;
}

} // namespace ouzel::sql
