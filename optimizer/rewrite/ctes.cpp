#include "optimizer/rewrite/ctes.hpp"

#include <algorithm>
#include <unordered_set>

#include "catalog/builtin/builtin.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/rules.hpp"

// Common table expressions, as in PostgreSQL's manual, section 7.8.3. A CTE that is read once, or is NOT MATERIALIZED,
// becomes part of its reader, so that predicates can be pushed into its query. A CTE without readers is dropped. Of one
// that several readers filter, the rows that none of them keeps are left out.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// Visits every operator of the tree like forEachRel, and also enters subqueries of expressions.
void forEachRelDeep(RelPtr& rel, const std::function<void(RelPtr&)>& visit) {
   visit(rel);
   forEachChild(*rel, [&visit](RelPtr& child) { forEachRelDeep(child, visit); });
   forEachOwnExpr(*rel, [&visit](ExprPtr& root) {
      rewriteExpr(root, [&visit](ExprPtr& expr) {
         if (auto* subquery = expr->getIf<scalar::Subquery>()) forEachRelDeep(subquery->query, visit);
      });
   });
}

bool hasSideEffects(Rel& rel) {
   bool found = false;
   forEachRel(rel, [&found](Rel& below) { found = found || isDml(below.kind) || callsVolatile(below); });
   return found;
}

bool modifiesData(Rel& rel) {
   bool found = false;
   forEachRel(rel, [&found](Rel& below) { found = found || isDml(below.kind); });
   return found;
}

} // namespace

void forEachCteScan(RelPtr& tree, uint32_t cte, const std::function<void(RelPtr&)>& visit) {
   // Find all scans before the first visit, because a visitor may put an operator over the scan.
   std::vector<RelPtr*> scans;
   forEachRelDeep(tree, [&](RelPtr& rel) {
      if (const auto* scan = rel->getIf<op::CteScan>(); scan && scan->cte == cte) scans.push_back(&rel);
   });
   for (RelPtr* scan : scans)
      visit(*scan);
}

void replaceCteScans(Rel& with, const Cte& cte, Query& query) {
   const auto replace = [&](RelPtr& rel) {
      if (rel->kind != RelKind::CteScan) return;
      const auto& scan = rel->as<op::CteScan>();
      if (scan.cte != cte.id) return;
      ColumnMap renamed;
      RelPtr copy = cloneRenamed(*cte.query, query, renamed);
      std::vector<ComputedColumn> computed;
      for (size_t i = 0; i < scan.columns.size(); ++i) {
         const auto it = renamed.find(scan.cteColumns[i]);
         computed.push_back({scan.columns[i], query.ref(it == renamed.end() ? scan.cteColumns[i] : it->second)});
      }
      rel = makeMap(std::move(copy), std::move(computed));
   };
   for (RelPtr& input : with.inputs)
      forEachRelDeep(input, replace);
   for (Cte& other : with.as<op::With>().ctes) {
      if (&other == &cte) continue;
      forEachRelDeep(other.query, replace);
      if (other.recursive) forEachRelDeep(other.recursive, replace);
   }
}

namespace {

/// Whether the tree only joins stored tables, with the sum of their rows.
bool isJoinOfTables(Rel& tree, Estimator& estimator, double& rows) {
   bool isJoin = false, isPlain = true;
   forEachRel(tree, [&](Rel& rel) {
      const auto* join = rel.getIf<op::Join>();
      isJoin = isJoin || join;
      isPlain = isPlain && (rel.kind == RelKind::Get || rel.kind == RelKind::Select || rel.kind == RelKind::Map ||
                            (join && join->kind == JoinKind::Inner));
      if (rel.kind == RelKind::Get) rows += estimator.rows(rel);
   });
   return isJoin && isPlain;
}

} // namespace

bool inlineExpandingCtes(RelPtr& root, Query& query) {
   constexpr size_t readersMax = 3;
   constexpr double inputMin = 10'000;
   bool isChanged = false;
   std::vector<RelPtr*> withs;
   forEachRelDeep(root, [&withs](RelPtr& rel) {
      if (rel->kind == RelKind::With) withs.push_back(&rel);
   });
   for (auto it = withs.rbegin(); it != withs.rend(); ++it) {
      RelPtr& place = **it;
      std::vector<Cte>& ctes = place->as<op::With>().ctes;
      for (size_t i = ctes.size(); i-- > 0;) {
         Cte& cte = ctes[i];
         if (cte.recursive || cte.materialized == true || hasSideEffects(*cte.query)) continue;
         Estimator estimator(query);
         double input = 0;
         if (!isJoinOfTables(*cte.query, estimator, input)) continue;
         if (input < inputMin || estimator.rows(*cte.query) < input) continue;
         size_t readers = 0;
         forEachCteScan(place, cte.id, [&readers](RelPtr&) { ++readers; });
         if (readers > readersMax) continue;
         replaceCteScans(*place, cte, query);
         ctes.erase(ctes.begin() + static_cast<std::ptrdiff_t>(i));
         isChanged = true;
      }
      if (ctes.empty()) {
         RelPtr body = std::move(place->inputs[0]);
         place = std::move(body);
      }
   }
   return isChanged;
}

ExprPtr filterOfReaders(Rel& tree, const Cte& cte, Query& query) {
   std::vector<ExprPtr> filters; // of each reader
   std::unordered_set<const Rel*> filtered;
   bool readsAll = cte.recursive || cte.materialized == true || hasSideEffects(*cte.query);
   forEachRel(*cte.query, [&readsAll](Rel& rel) { readsAll = readsAll || rel.kind == RelKind::LockRows; });
   forEachRel(tree, [&](Rel& rel) { // a Select comes before its scan
      const bool isSelect = rel.kind == RelKind::Select;
      const auto* scan = isSelect ? rel.inputs[0]->getIf<op::CteScan>() : rel.getIf<op::CteScan>();
      if (!scan || scan->cte != cte.id || readsAll || filtered.contains(&rel)) return;
      std::vector<ExprPtr> conjuncts;
      if (isSelect && rel.as<op::Select>().predicate)
         for (ExprPtr& conjunct : conjunctsOf(clone(*rel.as<op::Select>().predicate)))
            if (!isVolatile(*conjunct) && !mayFail(*conjunct)) conjuncts.push_back(std::move(conjunct));
      readsAll = conjuncts.empty();
      if (readsAll) return;
      filtered.insert(rel.inputs[0].get());
      ExprPtr filter = makeAnd(std::move(conjuncts));
      rewriteExpr(filter, [&](ExprPtr& expr) {
         if (expr->kind != ExprKind::Column) return;
         const auto at = std::ranges::find(scan->columns, columnOf(*expr)) - scan->columns.begin();
         expr = query.ref(scan->cteColumns[static_cast<size_t>(at)]);
      });
      if (std::ranges::none_of(filters, [&](const ExprPtr& other) { return equal(*other, *filter); }))
         filters.push_back(std::move(filter));
   });
   if (readsAll || filters.empty()) return nullptr;
   ExprPtr filter = filters.size() == 1 ? std::move(filters[0]) : makeOr(std::move(filters));
   simplifyExpr(filter, query);
   return filter;
}

void inlineCtes(RelPtr& root, Query& query) {
   // Inner Withs come first, so that an outer With inlines queries in which inner CTEs are already inlined.
   std::vector<RelPtr*> withs;
   forEachRelDeep(root, [&withs](RelPtr& rel) {
      if (rel->kind == RelKind::With) withs.push_back(&rel);
   });
   for (auto it = withs.rbegin(); it != withs.rend(); ++it) {
      RelPtr& place = **it;
      Rel& with = *place;
      std::vector<Cte>& ctes = with.as<op::With>().ctes;
      // From the last CTE to the first: only later CTEs and the body read a CTE.
      for (size_t i = ctes.size(); i-- > 0;) {
         uint32_t references = 0;
         const uint32_t id = ctes[i].id;
         const auto count = [&](RelPtr& rel) {
            references += rel->kind == RelKind::CteScan && rel->as<op::CteScan>().cte == id;
         };
         forEachRelDeep(with.inputs[0], count);
         for (Cte& other : ctes)
            if (other.id != id) {
               forEachRelDeep(other.query, count);
               if (other.recursive) forEachRelDeep(other.recursive, count);
            }
         Cte& cte = ctes[i];
         cte.references = references;
         const bool drop = references == 0 && !modifiesData(*cte.query);
         const bool wanted = references == 1 ? cte.materialized != true : cte.materialized == false;
         const bool canInline = references > 0 && wanted && !cte.recursive && !hasSideEffects(*cte.query);
         if (canInline) replaceCteScans(with, cte, query);
         if (drop || canInline) ctes.erase(ctes.begin() + static_cast<std::ptrdiff_t>(i));
      }
      // Drop the empty With now, while `place` is valid: an outer With may destroy the query that contains this With.
      if (ctes.empty()) {
         RelPtr body = std::move(with.inputs[0]);
         place = std::move(body);
      }
   }
}

} // namespace ouzel::optimizer
