#include "sql/bind/dml/current_of.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/names.hpp"
#include "sql/bind/state/variable_names.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

// WHERE CURRENT OF: a cursor's rows come with the ids of the rows of tables that they are made of, and an UPDATE or
// DELETE finds its row by the id.

namespace ouzel::sql {

namespace {

/// The cursor that the name means: of PL/pgSQL's variable, or itself. Empty: it is not known yet.
std::optional<std::string> cursorNamed(BindState& state, const ::CurrentOfExpr& current) {
   std::string name(textOf(current.cursor_name));
   if (!state.context.variables) return name;
   const FoundVariable variable = state.context.variables->find(std::span(&name, 1));
   if (!variable.value || variable.value->type.oid != oid::refcursor) return name;
   const auto* constant = variable.value->getIf<scalar::Constant>();
   if (!constant || constant->value.isNull) return std::nullopt;
   return constant->value.bytes;
}

ExprPtr equals(ColumnId column, const SqlType& type, int64_t value) {
   auto constant = makeConstant(type, Value::integer(PhysicalType::I64, value));
   return makeCompare(CompareOp::Eq, makeColumn(column, type), std::move(constant));
}

} // namespace

ExprPtr isCurrentRow(BindState& state, Scope& scope, const ::CurrentOfExpr& current) {
   NamespaceItem& target = scope.items.front();
   if (!target.relation || !target.scan)
      throw SqlError(sqlstate::featureNotSupported, "WHERE CURRENT OF on a view is not implemented");
   state.isForOnce = true;
   const auto cursor = cursorNamed(state, current);
   if (!cursor || !state.context.cursorPlace) return makeBoolean(false); // it is bound for its columns only
   state.cursor = *cursor;
   const CursorPlace place = (*state.context.cursorPlace)(*cursor, *target.relation);
   std::vector<ExprPtr> conjuncts;
   conjuncts.push_back(equals(rowIdOf(state, scope, target), plainType(oid::int8), place.row));
   if (target.tableOid != noColumn)
      conjuncts.push_back(equals(target.tableOid, state.columns[target.tableOid].type, place.table));
   return makeAnd(std::move(conjuncts));
}

namespace {

class RowPlaces {
public:
   RowPlaces(BindState& state, BoundQuery& query) : state_(state), query_(query) {}

   void add(Rel& root) {
      Rel* rel = &root;
      bool isSorted = false;
      while (true) {
         switch (rel->kind) {
         case RelKind::LockRows:
            for (const RowLock& lock : rel->as<op::LockRows>().locks)
               note(lock.table.relation, lock.rowId, lock.tableOid, true);
            return;
         case RelKind::Get:
            if (!isSorted) addScan(rel->as<op::Get>());
            return;
         case RelKind::Sort: isSorted = true; break;
         case RelKind::Map:
         case RelKind::Select:
         case RelKind::Limit:
         case RelKind::Barrier: break;
         default: return;
         }
         rel = rel->inputs[0].get();
      }
   }

private:
   void addScan(op::Get& get) {
      if (get.table.external) return;
      ColumnId rowId = noColumn, tableOid = noColumn;
      for (const GetColumn& column : get.columns) {
         if (column.attribute == rowIdAttribute) rowId = column.column;
         if (column.attribute == tableOidAttribute) tableOid = column.column;
      }
      if (rowId == noColumn) {
         rowId = state_.addColumn(uint32_t{0}, "rowid", plainType(oid::int8));
         state_.columns[rowId].nullable = false;
         get.columns.push_back({rowId, rowIdAttribute});
      }
      if (get.table.parts && tableOid == noColumn) {
         tableOid = state_.addColumn(uint32_t{0}, "tableoid", plainType(oid::oid));
         get.columns.push_back({tableOid, tableOidAttribute});
      }
      note(get.table.relation, rowId, tableOid, false);
   }
   void note(Oid table, ColumnId rowId, ColumnId tableOid, bool isLocked) {
      RowPlace place{table, hide(rowId), std::nullopt, isLocked};
      if (tableOid != noColumn) place.tableOid = hide(tableOid);
      query_.places.push_back(place);
   }
   /// The number of the column among those behind the result.
   uint32_t hide(ColumnId column) {
      query_.output.push_back({"", column, state_.columns[column].type});
      return query_.hiddenColumns++;
   }

   BindState& state_;
   BoundQuery& query_;
};

} // namespace

void addRowPlaces(BindState& state, BoundQuery& query) {
   RowPlaces(state, query).add(*query.root);
}

} // namespace ouzel::sql
