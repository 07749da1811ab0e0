#include "sql/bind/query/cte.hpp"

#include <algorithm>
#include <optional>

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/search_cycle.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/set_operation.hpp"
#include "sql/bind/state/nested_query.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/type_rules.hpp"

// WITH: names and visibility of its queries, and the two terms of recursive queries.

namespace ouzel::sql {

namespace {

void bindCte(BindState& state, Scope& scope, CteBinding& cte);
void bindRecursiveCte(BindState& state, Scope& scope, CteBinding& cte, const ::SelectStmt& select);

} // namespace

void declareCtes(BindState& state, Scope& scope, const ::WithClause* with) {
   if (!with) return;
   scope.ctesAreRecursive = with->recursive;
   for (const auto* node : ListOf<CommonTableExpr>(with->ctes)) {
      for (const CteBinding& other : scope.ctes)
         if (other.name == node->ctename)
            throw SqlError(sqlstate::duplicateAlias, "WITH query name \"" + other.name + "\" specified more than once")
                .at(state.at(node->location));
      if (isNode(node->ctequery, T_MergeStmt))
         throw SqlError(sqlstate::featureNotSupported, "MERGE not supported in WITH query")
             .at(state.at(node->location));
      if (!isNode(node->ctequery, T_SelectStmt) && scope.parent)
         throw SqlError(sqlstate::featureNotSupported,
                        "WITH clause containing a data-modifying statement must be at the top level")
             .at(state.at(node->location));
      CteBinding& cte = scope.ctes.emplace_back();
      cte.name = node->ctename;
      cte.node = node;
      cte.id = state.nextCte++;
      cte.cte.id = cte.id;
      cte.cte.name = cte.name;
      if (node->ctematerialized != CTEMaterializeDefault)
         cte.cte.materialized = node->ctematerialized == CTEMaterializeAlways;
   }
   for (CteBinding& cte : scope.ctes) {
      if (cte.state == CteBinding::State::Unbound) bindCte(state, scope, cte);
      ++scope.ctesVisible;
   }
}

RelPtr placeCtes(Scope& scope, RelPtr body) {
   if (scope.ctes.empty()) return body;
   op::With with;
   for (CteBinding* cte : scope.cteOrder)
      if (cte->cte.references > 0 || !isNode(cte->node->ctequery, T_SelectStmt))
         with.ctes.push_back(std::move(cte->cte));
   if (with.ctes.empty()) return body;
   return makeRel(RelKind::With, std::move(with), std::move(body));
}

CteBinding* findCte(BindState& state, Scope& scope, std::string_view name) {
   for (Scope* level = &scope; level; level = level->parent) {
      const size_t visible = level->ctesAreRecursive ? level->ctes.size() : level->ctesVisible;
      for (size_t i = 0; i < visible; ++i) {
         CteBinding& cte = level->ctes[i];
         if (cte.name != name) continue;
         if (cte.state == CteBinding::State::Unbound) bindCte(state, *level, cte); // forward reference
         return &cte;
      }
   }
   return nullptr;
}

bool isLaterCte(const Scope& scope, std::string_view name) {
   for (const Scope* level = &scope; level; level = level->parent)
      for (const CteBinding& cte : level->ctes)
         if (cte.name == name) return true;
   return false;
}

namespace {

void nameCteColumns(const BindState& state, CteBinding& cte, const std::vector<OutputColumn>& output) {
   const ListOf<> names(cte.node->aliascolnames);
   if (names.size() > output.size())
      throw SqlError(sqlstate::invalidColumnReference, "WITH query \"" + cte.name + "\" has " +
                                                           std::to_string(output.size()) + " columns available but " +
                                                           std::to_string(names.size()) + " columns specified")
          .at(state.at(cte.node->location));
   cte.columns.clear();
   cte.cte.columns.clear();
   for (uint32_t i = 0; i < output.size(); ++i) {
      const std::string name = i < names.size() ? std::string(stringOf(names[i])) : output[i].name;
      cte.columns.push_back({name, output[i].column, output[i].type});
      cte.cte.columns.push_back(output[i].column);
   }
}

void bindCte(BindState& state, Scope& scope, CteBinding& cte) {
   const DepthGuard guard(state);
   const bool isSelect = isNode(cte.node->ctequery, T_SelectStmt);
   const auto outer = std::exchange(state.recursion, {&cte, nullptr});
   cte.state = CteBinding::State::NonRecursiveTerm;
   bool isRecursive = false;
   if (scope.ctesAreRecursive && isSelect && as<SelectStmt>(cte.node->ctequery)->op == SETOP_UNION) {
      bindRecursiveCte(state, scope, cte, *as<SelectStmt>(cte.node->ctequery));
      isRecursive = cte.selfReferences > 0;
   }
   if (!isRecursive) {
      if (SearchCycle::isWanted(cte))
         throw SqlError(sqlstate::syntaxError, "WITH query is not recursive").at(state.at(cte.node->location));
      cte.cte.recursive = nullptr;
      cte.cte.recursiveColumns.clear();
      cte.cte.references = 0;
      cte.state = CteBinding::State::NonRecursiveTerm;
      auto query = isSelect ? bindSelect(state, *as<SelectStmt>(cte.node->ctequery), &scope)
                            : bindDml(state, *cte.node->ctequery, &scope);
      makeRowsValues(state, scope.depth + 1, query);
      makeOutputUnique(state, scope, query);
      nameCteColumns(state, cte, query.output);
      cte.cte.query = std::move(query.rel);
   }
   cte.state = CteBinding::State::Bound;
   state.recursion = outer;
   scope.cteOrder.push_back(&cte);
}

void bindRecursiveCte(BindState& state, Scope& scope, CteBinding& cte, const ::SelectStmt& select) {
   Scope inner(&scope); // for a WITH inside the recursive union
   declareCtes(state, inner, select.withClause);
   BoundRel base;
   {
      state.recursion.obstacle = "within its non-recursive term";
      base = bindSelect(state, *select.larg, &inner);
      state.recursion.obstacle = nullptr;
   }
   makeRowsValues(state, scope.depth + 1, base);
   makeOutputUnique(state, inner, base);
   nameCteColumns(state, cte, base.output);
   std::optional<SearchCycle> added;
   if (SearchCycle::isWanted(cte)) added.emplace(state, cte).extendBase(inner, base);
   cte.state = CteBinding::State::RecursiveTerm;
   auto step = bindSelect(state, *select.rarg, &inner, {}, false);
   makeRowsValues(state, scope.depth + 1, step);
   if (cte.selfReferences == 0) return;
   const auto refuse = [&](const ::Node* node, const char* what) {
      if (node)
         throw SqlError(sqlstate::featureNotSupported, std::string(what) + " in a recursive query is not implemented")
             .at(state.startOfNode(node));
   };
   refuse(select.sortClause ? ListOf<SortBy>(select.sortClause).front()->node : nullptr, "ORDER BY");
   refuse(select.limitOffset, "OFFSET");
   refuse(select.limitCount, "LIMIT");
   if (select.lockingClause)
      throw SqlError(sqlstate::featureNotSupported, "FOR UPDATE/SHARE in a recursive query is not implemented");
   if (base.output.size() != step.output.size())
      throw SqlError(sqlstate::syntaxError, "each UNION query must have the same number of columns")
          .at(step.positions.empty() ? 0 : step.positions[0]);
   std::vector<ComputedColumn> casts;
   for (size_t i = 0; i < base.output.size(); ++i) {
      const SqlType& type = base.output[i].type;
      OutputColumn& output = step.output[i];
      retypeUnknown(state, step, i, type.oid);
      ExprPtr left = makeColumn(base.output[i].column, type), right = makeColumn(output.column, output.type);
      left->position = i < base.positions.size() ? base.positions[i] : 0;
      right->position = i < step.positions.size() ? step.positions[i] : 0;
      ExprPtr* both[] = {&left, &right};
      const Oid common = selectCommonType(both, "UNION");
      const SqlType overall = plainType(common, selectCommonTypmod(both, common));
      const bool losesDomain = type.domain && output.type.domain != type.domain;
      if (overall.oid != type.oid || overall.typmod != type.typmod || losesDomain)
         throw SqlError(sqlstate::datatypeMismatch,
                        "recursive query \"" + cte.name + "\" column " + std::to_string(i + 1) + " has type " +
                            typeName(type) + " in non-recursive term but type " + typeName(overall) + " overall")
             .at(left->position)
             .hint("Cast the output of the non-recursive term to the correct type.");
      if (state.hasCollations && type.collation != invalidOid) {
         Expr* sides[] = {left.get(), right.get()};
         const Oid collation = commonCollation(state, sides, select.all);
         if (collation != type.collation)
            throw SqlError(sqlstate::collationMismatch, "recursive query \"" + cte.name + "\" column " +
                                                            std::to_string(i + 1) + " has collation \"" +
                                                            collationName(state, type.collation) +
                                                            "\" in non-recursive term but collation \"" +
                                                            collationName(state, collation) + "\" overall")
                .at(left->position)
                .hint("Use the COLLATE clause to set the collation of the non-recursive term.");
         const IcuCollation* compared = state.columns.collations.find(collation);
         if (!select.all && compared && !compared->isDeterministic) // the rows that are new are known by their bytes
            throwNotSupported("UNION of a recursive query by a nondeterministic collation", left->position);
      }
      if (!select.all) requireEquality(state, type, 0);
      const bool losesLength = type.oid == oid::bpchar && output.type.typmod != type.typmod;
      if (output.type.oid != type.oid || losesLength) {
         auto cast = coerceToCommon(state, std::move(right), type.oid, "UNION");
         if (losesLength) cast = applyTypmod(std::move(cast), type.typmod, CoercionContext::Implicit);
         const ColumnId column = state.addColumn(inner, output.name, cast->type);
         casts.push_back({column, std::move(cast)});
         output.column = column;
      }
      cte.cte.recursiveColumns.push_back(output.column);
   }
   step.rel = makeMap(std::move(step.rel), std::move(casts));
   if (added) {
      added->extendStep(inner, step);
      added->finish();
   }
   cte.cte.unionAll = select.all;
   // Only the two terms of the union read its inner WITH. Its CTEs come before the recursive CTE in the outer With.
   for (CteBinding* nested : inner.cteOrder)
      scope.cteOrder.push_back(&scope.nestedCtes.emplace_back(std::move(*nested)));
   cte.cte.query = std::move(base.rel);
   cte.cte.recursive = std::move(step.rel);
}

} // namespace

FromItem scanCte(BindState& state, Scope& scope, CteBinding& cte, const ::RangeVar& name) {
   const uint32_t position = state.at(name.location);
   const auto refuse = [&](std::string_view why) {
      throw SqlError(sqlstate::invalidRecursion,
                     "recursive reference to query \"" + cte.name + "\" must not appear " + std::string(why))
          .at(position);
   };
   const bool isSelf = cte.state != CteBinding::State::Bound;
   if (isSelf && state.recursion.cte != &cte)
      throw SqlError(sqlstate::featureNotSupported, "mutual recursion between WITH items is not implemented")
          .at(state.at(cte.node->location));
   const bool isSelect = isNode(cte.node->ctequery, T_SelectStmt);
   if (isSelf && !isSelect)
      throw SqlError(sqlstate::invalidRecursion,
                     "recursive query \"" + cte.name + "\" must not contain data-modifying statements")
          .at(state.at(cte.node->location));
   if (!isSelect && cte.columns.empty())
      throw SqlError(sqlstate::featureNotSupported, "WITH query \"" + cte.name + "\" does not have a RETURNING clause")
          .at(position);
   if (isSelf && cte.state == CteBinding::State::NonRecursiveTerm) {
      if (as<SelectStmt>(cte.node->ctequery)->op == SETOP_UNION) refuse("within its non-recursive term");
      throw SqlError(sqlstate::invalidRecursion, "recursive query \"" + cte.name +
                                                     "\" does not have the form non-recursive-term UNION [ALL] "
                                                     "recursive-term")
          .at(state.at(cte.node->location));
   }
   if (isSelf) {
      cte.selfColumns.clear();
      if (state.recursion.obstacle) refuse(state.recursion.obstacle);
      if (++cte.selfReferences > 1) refuse("more than once");
      scope.isRecursiveTerm = true;
   } else {
      ++cte.cte.references;
   }
   op::CteScan scan;
   scan.cte = cte.id;
   NamespaceItem item;
   item.alias = cte.name;
   for (const ScopeColumn& column : cte.columns) {
      const ColumnId id = state.addColumn(scope, column.name, column.type);
      scan.columns.push_back(id);
      scan.cteColumns.push_back(column.column);
      item.columns.push_back({column.name, id, column.type});
      item.columns.back().isHidden = column.isHidden;
      if (isSelf) cte.selfColumns.push_back(id);
   }
   applyAlias(item, name.alias);
   addEntry(scope, item);
   FromItem result;
   result.rel = makeRel(isSelf ? RelKind::RecursiveScan : RelKind::CteScan, std::move(scan));
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
