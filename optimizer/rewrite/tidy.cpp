#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "optimizer/rewrite/rules.hpp"

// Small rewrites around order, duplicates and limits.

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool dependsOnInputOrder(const AggregateCall& call) {
   static constexpr std::string_view names[] = {"array_agg",       "string_agg",       "json_agg", "jsonb_agg",
                                                "json_object_agg", "jsonb_object_agg", "xmlagg"};
   return call.orderBy.empty() && !call.distinct && call.function &&
          (call.fold || std::find(std::begin(names), std::end(names), call.function->name) != std::end(names));
}

std::vector<SortKey> copyKeys(const std::vector<SortKey>& keys) {
   std::vector<SortKey> copy;
   for (const SortKey& key : keys)
      copy.push_back({clone(*key.expr), key.descending, key.nullsFirst});
   return copy;
}

/// The Sort whose order the rows of `rel` have; null if there is none.
const op::Sort* orderOf(const Rel& rel) {
   const Rel* at = &rel;
   while (at->kind == RelKind::Map || at->kind == RelKind::Select || at->kind == RelKind::Limit ||
          at->kind == RelKind::LockRows || at->kind == RelKind::Barrier)
      at = at->inputs[0].get();
   return at->getIf<op::Sort>();
}

/// array_agg(x) FROM (SELECT ... ORDER BY y): gives the aggregate an ORDER BY of its own, because the executor keeps
/// only orders that an operator asks for.
void keepOrderOfInput(Rel& rel) {
   const op::Sort* sort = orderOf(*rel.inputs[0]);
   if (!sort) return;
   for (AggregateCall& call : rel.as<op::GroupBy>().aggregates)
      if (dependsOnInputOrder(call)) call.orderBy = copyKeys(sort->keys);
}

void numberInOrder(Rel& rel) {
   auto& window = rel.as<op::Window>();
   if (!window.spec.orderBy.empty()) return;
   const bool onlyNumbers = std::all_of(window.calls.begin(), window.calls.end(), [](const WindowCall& call) {
      return call.function && call.function->name == "row_number";
   });
   const op::Sort* sort = orderOf(*rel.inputs[0]);
   if (onlyNumbers && sort) window.spec.orderBy = copyKeys(sort->keys);
}

class Tidier {
public:
   explicit Tidier(Query& query) : query_(query) {}

   /// `ordered`: the parent uses the order of `rel`'s rows.
   void visit(RelPtr& rel, bool ordered) {
      if (rel->kind == RelKind::GroupBy) keepOrderOfInput(*rel);
      if (rel->kind == RelKind::Window) numberInOrder(*rel);
      if (rel->kind == RelKind::Sort && !ordered) {
         RelPtr input = std::move(rel->inputs[0]);
         rel = std::move(input);
         visit(rel, false);
         return;
      }
      if (rel->kind == RelKind::Limit) limitBelowMaps(rel);
      if (rel->kind == RelKind::Distinct) dropDistinct(rel);
      for (RelPtr& input : rel->inputs)
         visit(input, passesOrder(*rel, ordered));
      if (rel->kind != RelKind::With) return;
      for (Cte& cte : rel->as<op::With>().ctes) {
         visit(cte.query, true); // a scan of the CTE gives its rows in order
         if (cte.recursive) visit(cte.recursive, false);
      }
   }

private:
   static bool passesOrder(const Rel& rel, bool ordered) {
      switch (rel.kind) {
      case RelKind::Limit:
      case RelKind::Insert: return true; // Insert: serial columns count in the order of the rows
      case RelKind::Map:
      case RelKind::Select:
      case RelKind::ProjectSet:
      case RelKind::With:
      case RelKind::LockRows:
      case RelKind::Barrier: return ordered;
      case RelKind::Window: {
         const WindowSpec& spec = rel.as<op::Window>().spec;
         return ordered && spec.orderBy.empty() && spec.partitionBy.empty();
      }
      case RelKind::SetOp: return ordered && rel.as<op::SetOp>().all; // UNION ALL keeps the order of its inputs
      default: return false;
      }
   }

   /// Moves a Limit below projections: they compute only the rows that remain, and Limit and Sort become adjacent.
   static void limitBelowMaps(RelPtr& rel) {
      const auto& limit = rel->as<op::Limit>();
      if (limit.withTies && !limit.sortKeys.empty()) return;
      const Rel& map = *rel->inputs[0];
      if (map.kind != RelKind::Map) return;
      for (const ComputedColumn& computed : map.as<op::Map>().computed)
         if (isVolatile(*computed.expr)) return;
      RelPtr top = std::move(rel->inputs[0]);
      rel->inputs[0] = std::move(top->inputs[0]);
      top->inputs[0] = std::move(rel);
      rel = std::move(top);
      limitBelowMaps(rel->inputs[0]);
   }

   void dropDistinct(RelPtr& rel) {
      const auto& distinct = rel->as<op::Distinct>();
      if (!distinct.sortKeys.empty() || !isUniqueOn(*rel->inputs[0], ColumnSet(distinct.columns), query_)) return;
      RelPtr input = std::move(rel->inputs[0]);
      rel = std::move(input);
   }

   Query& query_;
};

} // namespace

void keepOrders(Rel& root) {
   forEachRel(root, [](Rel& rel) {
      if (rel.kind == RelKind::GroupBy) keepOrderOfInput(rel);
      if (rel.kind == RelKind::Window) numberInOrder(rel);
   });
}

void tidy(RelPtr& root, Query& query) {
   Tidier(query).visit(root, true);
}

} // namespace ouzel::optimizer
