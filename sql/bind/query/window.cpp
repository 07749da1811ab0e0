#include "sql/bind/query/window.hpp"

#include <algorithm>
#include <array>

#include "sql/bind/expression/expression.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Window definitions, their frames, and the calls over them.

namespace ouzel::sql {

using catalog::FunctionKind;

namespace {

void bindFrame(BindState& state, Scope& scope, const ::WindowDef& definition, WindowSpec& spec);

bool sameSpec(const WindowSpec& a, const WindowSpec& b) {
   const auto sameBound = [](const FrameBound& x, const FrameBound& y) {
      return x.kind == y.kind && !x.offset == !y.offset && (!x.offset || equal(*x.offset, *y.offset));
   };
   return a.mode == b.mode && a.exclusion == b.exclusion && sameBound(a.start, b.start) && sameBound(a.end, b.end) &&
          std::equal(a.partitionBy.begin(), a.partitionBy.end(), b.partitionBy.begin(), b.partitionBy.end(),
                     [](const ExprPtr& x, const ExprPtr& y) { return equal(*x, *y); }) &&
          std::equal(a.orderBy.begin(), a.orderBy.end(), b.orderBy.begin(), b.orderBy.end(),
                     [](const SortKey& x, const SortKey& y) {
                        return x.descending == y.descending && x.nullsFirst == y.nullsFirst && equal(*x.expr, *y.expr);
                     });
}

/// The offset types that RANGE takes for an ordering type, the preferred type first: PostgreSQL's in_range functions.
std::vector<Oid> rangeOffsetTypes(Oid type) {
   switch (type) {
   case oid::int2: return {oid::int2, oid::int4, oid::int8};
   case oid::int4: return {oid::int4, oid::int8, oid::int2};
   case oid::int8: return {oid::int8};
   case oid::float4:
   case oid::float8: return {oid::float8};
   case oid::numeric: return {oid::numeric};
   case oid::date:
   case oid::time:
   case oid::timetz:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::interval: return {oid::interval};
   default: return {};
   }
}

} // namespace

namespace {

std::vector<SortKey> bindWindowOrder(BindState& state, Scope& scope, const ::List* list, Clause clause) {
   std::vector<SortKey> keys;
   for (const auto* sort : ListOf<SortBy>(list)) {
      SortKey key;
      key.expr = unknownToText(state, bindExpr(state, scope, sort->node, clause));
      requireSortKey(state, *key.expr, key.expr->position);
      direction(state, *sort, key.expr->type, key.descending, key.nullsFirst);
      keys.push_back(std::move(key));
   }
   return keys;
}

WindowSpec bindWindowSpec(BindState& state, Scope& scope, const ::WindowDef& definition, size_t namedUpTo) {
   const uint32_t position = state.at(definition.location);
   WindowSpec spec;
   bool hasBaseOrder = false;
   if (definition.refname) { // (w ORDER BY ...): copies w and may add clauses that w lacks
      const std::string name = definition.refname;
      const auto& base = findWindow(scope, name, position, namedUpTo);
      if (definition.partitionClause)
         throw SqlError(sqlstate::windowingError, "cannot override PARTITION BY clause of window \"" + name + "\"")
             .at(position);
      if (base.orderClause && definition.orderClause)
         throw SqlError(sqlstate::windowingError, "cannot override ORDER BY clause of window \"" + name + "\"")
             .at(position);
      if (base.frameOptions != FRAMEOPTION_DEFAULTS) {
         SqlError error(sqlstate::windowingError, "cannot copy window \"" + name + "\" because it has a frame clause");
         error.setPosition(position);
         const bool isBare = !definition.orderClause && definition.frameOptions == FRAMEOPTION_DEFAULTS;
         throw std::move(error).hint(isBare ? "Omit the parentheses in this OVER clause." : "");
      }
      spec = bindWindowSpec(state, scope, base, namedUpTo);
      hasBaseOrder = base.orderClause != nullptr;
   }
   for (const ::Node* node : ListOf<>(definition.partitionClause)) {
      auto expr = unknownToText(state, bindExpr(state, scope, node, Clause::WindowPartition));
      requireEqualKey(state, *expr, expr->position);
      spec.partitionBy.push_back(std::move(expr));
   }
   if (!hasBaseOrder) spec.orderBy = bindWindowOrder(state, scope, definition.orderClause, Clause::WindowOrder);
   bindFrame(state, scope, definition, spec);
   return spec;
}

void bindFrame(BindState& state, Scope& scope, const ::WindowDef& definition, WindowSpec& spec) {
   const int options = definition.frameOptions;
   const uint32_t position = state.at(definition.location);
   const char* mode = options & FRAMEOPTION_RANGE ? "RANGE" : options & FRAMEOPTION_ROWS ? "ROWS" : "GROUPS";
   spec.mode = options & FRAMEOPTION_RANGE  ? FrameMode::Range
               : options & FRAMEOPTION_ROWS ? FrameMode::Rows
                                            : FrameMode::Groups;
   spec.exclusion = options & FRAMEOPTION_EXCLUDE_CURRENT_ROW ? FrameExclusion::CurrentRow
                    : options & FRAMEOPTION_EXCLUDE_GROUP     ? FrameExclusion::Group
                    : options & FRAMEOPTION_EXCLUDE_TIES      ? FrameExclusion::Ties
                                                              : FrameExclusion::None;
   const auto boundKind = [&](int unboundedPreceding, int offsetPreceding, int currentRow, int offsetFollowing) {
      if (options & unboundedPreceding) return FrameBoundKind::UnboundedPreceding;
      if (options & offsetPreceding) return FrameBoundKind::OffsetPreceding;
      if (options & currentRow) return FrameBoundKind::CurrentRow;
      if (options & offsetFollowing) return FrameBoundKind::OffsetFollowing;
      return FrameBoundKind::UnboundedFollowing;
   };
   spec.start.kind = boundKind(FRAMEOPTION_START_UNBOUNDED_PRECEDING, FRAMEOPTION_START_OFFSET_PRECEDING,
                               FRAMEOPTION_START_CURRENT_ROW, FRAMEOPTION_START_OFFSET_FOLLOWING);
   spec.end.kind = boundKind(FRAMEOPTION_END_UNBOUNDED_PRECEDING, FRAMEOPTION_END_OFFSET_PRECEDING,
                             FRAMEOPTION_END_CURRENT_ROW, FRAMEOPTION_END_OFFSET_FOLLOWING);
   if (spec.mode == FrameMode::Groups && spec.orderBy.empty())
      throw SqlError(sqlstate::windowingError, "GROUPS mode requires an ORDER BY clause").at(position);
   if (spec.mode == FrameMode::Range && (definition.startOffset || definition.endOffset) && spec.orderBy.size() != 1)
      throw SqlError(sqlstate::windowingError,
                     "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
          .at(position);
   const auto bindOffset = [&](const ::Node* node) -> ExprPtr {
      if (!node) return nullptr;
      auto offset = bindExpr(state, scope, node, Clause::WindowFrame);
      if (spec.mode != FrameMode::Range) {
         offset = coerceToType(state, std::move(offset), oid::int8, mode);
      } else {
         const Oid ordered = spec.orderBy[0].expr->type.oid, given = offset->type.oid;
         const auto types = rangeOffsetTypes(ordered);
         if (types.empty())
            throw SqlError(sqlstate::featureNotSupported,
                           "RANGE with offset PRECEDING/FOLLOWING is not supported for column type " +
                               typeName(ordered))
                .at(offset->position);
         const bool isExact = std::find(types.begin(), types.end(), given) != types.end();
         const auto fitting = std::find_if(types.begin(), types.end(),
                                           [&](Oid type) { return canCoerce(given, type, CoercionContext::Implicit); });
         if (!isExact && fitting == types.end())
            throw SqlError(sqlstate::featureNotSupported,
                           "RANGE with offset PRECEDING/FOLLOWING is not supported for column type " +
                               typeName(ordered) + " and offset type " + typeName(given))
                .at(offset->position)
                .hint("Cast the offset value to an appropriate type.");
         if (!isExact) offset = coerce(state, std::move(offset), *fitting, -1, CoercionContext::Implicit);
      }
      if (state.readsLevel(*offset, scope))
         throw SqlError(sqlstate::invalidColumnReference,
                        std::string("argument of ") + mode + " must not contain variables")
             .at(positionOfColumn(*offset, [&](ColumnId column) { return state.depthOf(column) == scope.depth; }));
      forEachExpr(*offset, [](const Expr& expr) { // the optimizer does not unnest subqueries in frames
         if (expr.kind == ExprKind::Subquery)
            throwNotSupported("a subquery in the offset of a window frame", expr.position);
         return true;
      });
      return offset;
   };
   spec.start.offset = bindOffset(definition.startOffset);
   spec.end.offset = bindOffset(definition.endOffset);
}

} // namespace

std::vector<BoundWindow> bindWindows(BindState& state, Scope& scope) {
   std::vector<BoundWindow> windows;
   for (size_t i = 0; i < scope.namedWindows.size(); ++i) // reports errors in unused definitions, too
      bindWindowSpec(state, scope, *scope.namedWindows[i], i);
   const size_t named = scope.namedWindows.size();
   for (PendingWindowCall& pending : scope.windowCalls) {
      const ::WindowDef* definition = pending.over;
      if (definition->name) definition = &findWindow(scope, definition->name, pending.position, named);
      auto spec = bindWindowSpec(state, scope, *definition, named);
      const auto same = std::find_if(windows.begin(), windows.end(),
                                     [&](const BoundWindow& other) { return sameSpec(other.spec, spec); });
      if (same != windows.end()) {
         same->calls.push_back(std::move(pending.call));
         continue;
      }
      BoundWindow& window = windows.emplace_back();
      window.spec = std::move(spec);
      window.calls.push_back(std::move(pending.call));
   }
   return windows;
}

} // namespace ouzel::sql
