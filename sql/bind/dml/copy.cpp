#include "sql/bind/dml/copy.hpp"

#include "io/format/external_table.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/coercion.hpp"

// COPY FROM as an INSERT: the input is a table to scan, the rest is what every INSERT does. WHERE sees the row with its
// defaults, before generated columns are computed.

namespace ouzel::sql {

namespace {

/// A scan of the input; `values` receives the column of each attribute of `copy.columns`.
RelPtr scanInput(BindState& state, Scope& scope, const CopyRows& copy, Dml& dml, std::vector<GetColumn>& values) {
   op::Get get;
   get.table.external = copy.input;
   get.table.name = get.table.alias = copy.table->name;
   std::vector<ComputedColumn> casts;
   for (const CopyRows::Column& column : copy.columns) {
      const io::ExternalColumn& given = copy.input->columns()[static_cast<size_t>(column.inputAttribute - 1)];
      const ColumnId id = state.addColumn(scope, given.name, given.type);
      get.columns.push_back({id, column.inputAttribute});
      const catalog::Column& target = *copy.table->column(column.attribute);
      auto value =
          coerceForAssignment(state, makeColumn(id, given.type), target.type, target.name, Clause::InsertValues);
      if (value->kind == ExprKind::Column) {
         values.push_back({columnOf(*value), column.attribute});
         continue;
      }
      values.push_back({state.addColumn(scope, target.name, target.type), column.attribute});
      casts.push_back({values.back().column, std::move(value)});
   }
   dml.input = std::dynamic_pointer_cast<const io::LineInput>(copy.input);
   if (dml.input) {
      const auto line = static_cast<int16_t>(copy.input->columns().size());
      dml.inputLine = state.addColumn(scope, "line", {oid::int8, -1, invalidOid});
      get.columns.push_back({dml.inputLine, line});
   }
   return makeMap(makeRel(RelKind::VirtualGet, std::move(get)), std::move(casts));
}

ExprPtr bindWhere(BindState& state, const catalog::Relation& table, const std::vector<GetColumn>& row,
                  const ::Node& where) {
   Scope scope(nullptr);
   scope.items.push_back(itemOf(table, row));
   addEntry(scope, scope.items.back());
   return coerceToBoolean(state, bindExpr(state, scope, &where, Clause::CopyWhere), "WHERE");
}

} // namespace

BoundRel bindCopy(BindState& state, const CopyRows& copy) {
   Scope scope(nullptr);
   const catalog::Relation& table = *copy.table;
   state.relations.push_back(table.oid);
   state.pinned.push_back(copy.table);
   RelationAccess& access = state.access.of(table.oid);
   access.privileges |= catalog::privilege::insert;
   for (const CopyRows::Column& column : copy.columns)
      access.inserted.push_back(column.attribute);
   auto dml = makeDml(state, table, nullptr);
   std::vector<GetColumn> values;
   RelPtr rel = scanInput(state, scope, copy, *dml, values);
   rel = fillTarget(state, scope, std::move(rel), *dml, table, values);
   if (copy.where) rel = makeSelect(std::move(rel), bindWhere(state, table, dml->target, *copy.where));
   rel = fireForInsert(state, scope, std::move(rel), copy.table, *dml);
   rel = computeGenerated(state, scope, std::move(rel), *dml, table);
   dml->checks = checksOf(state, table, dml->target);
   setParts(state, copy.table, *dml);
   return finishDml(state, scope, RelKind::Insert, std::move(rel), std::move(dml), nullptr, {});
}

} // namespace ouzel::sql
