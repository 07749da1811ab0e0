#include "sql/bind/query/set_operation.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/type_rules.hpp"

// UNION, INTERSECT, EXCEPT. The type of each output column is found pair by pair, as in PostgreSQL.

namespace ouzel::sql {

namespace {

const char* nameOf(::SetOperation op) {
   switch (op) {
   case SETOP_UNION: return "UNION";
   case SETOP_INTERSECT: return "INTERSECT";
   case SETOP_EXCEPT: return "EXCEPT";
   case SETOP_NONE: break;
   }
   return "SELECT";
}

SetOpKind setOpKindOf(::SetOperation op) {
   return op == SETOP_UNION ? SetOpKind::Union : op == SETOP_INTERSECT ? SetOpKind::Intersect : SetOpKind::Except;
}

/// The expression in a Map that computes a column; looks through operators that pass on the column.
ExprPtr* findComputed(Rel& rel, ColumnId column) {
   checkStack();
   if (auto* map = rel.getIf<op::Map>())
      for (ComputedColumn& computed : map->computed)
         if (computed.column == column) return &computed.expr;
   switch (rel.kind) {
   case RelKind::Map:
   case RelKind::Select:
   case RelKind::Sort:
   case RelKind::Limit:
   case RelKind::Barrier:
   case RelKind::Distinct:
   case RelKind::With: return findComputed(*rel.inputs[0], column);
   default: return nullptr;
   }
}

} // namespace

void retypeUnknown(BindState& state, BoundRel& query, size_t index, Oid type) {
   OutputColumn& output = query.output[index];
   if (output.type.oid != oid::unknown) return;
   ExprPtr* expr = findComputed(*query.rel, output.column);
   if (!expr) return;
   *expr = coerce(state, std::move(*expr), type, -1, CoercionContext::Implicit);
   output.type = (*expr)->type;
   state.columns[output.column].type = output.type;
   state.columns[output.column].repr = storedRepresentation(output.type);
}

BoundRel bindSetOperation(BindState& state, Scope& scope, const ::SelectStmt& select, bool) {
   const char* name = nameOf(select.op);
   BoundRel sides[2];
   {
      const ObstacleGuard obstacle(state, select.op == SETOP_INTERSECT && select.all ? "within INTERSECT" : nullptr);
      sides[0] = bindSelect(state, *select.larg, &scope, {}, false);
   }
   {
      const ObstacleGuard obstacle(state, select.op == SETOP_INTERSECT && select.all ? "within INTERSECT"
                                          : select.op == SETOP_EXCEPT                ? "within EXCEPT"
                                                                                     : nullptr);
      sides[1] = bindSelect(state, *select.rarg, &scope, {}, false);
   }
   BoundRel result;
   result.leaves = std::move(sides[0].leaves);
   for (const BoundRel& side : sides) { // the queries of the set operation, for hints in errors
      if (&side != sides) std::move(side.leaves.begin(), side.leaves.end(), std::back_inserter(result.leaves));
      if (&side == sides ? !result.leaves.empty() : !side.leaves.empty()) continue;
      RangeEntry& entry = result.leaves.emplace_back();
      for (const OutputColumn& column : side.output)
         entry.columns.push_back(column.name);
   }
   if (select.sortClause) {
      for (size_t i = 0; i < result.leaves.size(); ++i)
         result.leaves[i].alias = result.leaves[i].relationName = "*SELECT* " + std::to_string(i + 1);
      scope.entries.insert(scope.entries.end(), result.leaves.begin(), result.leaves.end());
   }
   makeRowsValues(state, scope.depth, sides[0]);
   makeRowsValues(state, scope.depth, sides[1]);
   auto& left = sides[0].output;
   auto& right = sides[1].output;
   const auto positionOf = [&](int side, size_t i) {
      return i < sides[side].positions.size() ? sides[side].positions[i] : 0;
   };
   if (left.size() != right.size())
      throw SqlError(sqlstate::syntaxError, std::string("each ") + name + " query must have the same number of columns")
          .at(positionOf(1, 0));

   op::SetOp setOp;
   setOp.kind = setOpKindOf(select.op);
   setOp.all = select.all;
   std::vector<ComputedColumn> casts[2];
   for (size_t i = 0; i < left.size(); ++i) {
      ExprPtr exprs[2] = {makeColumn(left[i].column, left[i].type), makeColumn(right[i].column, right[i].type)};
      exprs[0]->position = positionOf(0, i);
      exprs[1]->position = positionOf(1, i);
      ExprPtr* both[] = {&exprs[0], &exprs[1]};
      const Oid common = selectCommonType(both, name);
      SqlType type = plainType(common, selectCommonTypmod(both, common));
      if (state.hasCollations && type.collation != invalidOid) {
         Expr* sources[2];
         for (int side = 0; side < 2; ++side) {
            ExprPtr* computed = findComputed(*sides[side].rel, sides[side].output[i].column);
            sources[side] = computed ? computed->get() : exprs[side].get();
         }
         type.collation = commonCollation(state, sources, select.op == SETOP_UNION && select.all);
      }
      if (!select.all) requireEquality(state, type, positionOf(0, i));
      for (int side = 0; side < 2; ++side) {
         OutputColumn& output = sides[side].output[i];
         if (output.type.oid == oid::unknown) retypeUnknown(state, sides[side], i, common);
         ColumnId source = output.column;
         const bool losesLength = common == oid::bpchar && output.type.typmod != type.typmod;
         if (output.type.oid != common || losesLength) {
            auto value = makeColumn(output.column, output.type);
            value->position = positionOf(side, i);
            auto cast = coerceToCommon(state, std::move(value), common, name);
            if (losesLength) cast = applyTypmod(std::move(cast), type.typmod, CoercionContext::Implicit);
            source = state.addColumn(scope.depth + 1, output.name, cast->type);
            casts[side].push_back({source, std::move(cast)});
         }
         setOp.inputColumns[side].push_back(source);
      }
      const ColumnId column = state.addColumn(scope, left[i].name, type);
      setOp.columns.push_back(column);
      result.output.push_back({left[i].name, column, type});
      result.positions.push_back(positionOf(0, i));
   }
   result.rel = makeRel(RelKind::SetOp, std::move(setOp), makeMap(std::move(sides[0].rel), std::move(casts[0])),
                        makeMap(std::move(sides[1].rel), std::move(casts[1])));
   bindOrderOverOutput(state, scope, select, result);
   return result;
}

} // namespace ouzel::sql
