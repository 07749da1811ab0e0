#include "sql/bind/type/row_value.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"

// Rows as values. While it is bound, a row is a Row: the list of its fields. It becomes a value, made by ouzel_row(),
// where a construct cannot take it apart: in a result, in a CASE, as an argument.

namespace ouzel::sql {

namespace {

const catalog::FunctionInfo* onlyFunction(std::string_view name) {
   return catalog::builtins().functions(name)[0];
}

catalog::RelationPtr relationOf(const BindState& state, Oid rowType) {
   auto relation = state.context.catalog.relationOfType(rowType);
   if (!relation) throwInternal("row type " + std::to_string(rowType) + " does not exist");
   if (state.recorder) state.recorder->readRelation(relation->oid);
   return relation;
}

/// f1, f2, ...: the names that the fields of ROW(...) have by themselves.
bool areUsual(const std::vector<std::string>& names) {
   for (size_t i = 0; i < names.size(); ++i)
      if (names[i] != "f" + std::to_string(i + 1)) return false;
   return true;
}

ExprPtr makeRowCall(Oid type, ExprPtr names, std::vector<ExprPtr> fields, uint32_t position) {
   fields.insert(fields.begin(), std::move(names));
   auto call = makeCall(onlyFunction("ouzel_row"), plainType(type), std::move(fields));
   call->position = position;
   return call;
}

ExprPtr noNames() {
   return makeNull(plainType(oid::textArray));
}

/// The names of a record's fields, which its value keeps for to_json().
ExprPtr namesOf(const Expr& row, size_t fields) {
   const auto& names = row.as<scalar::Row>().names;
   if (areUsual(names)) return noNames();
   std::vector<Value> values;
   for (size_t i = 0; i < fields; ++i)
      values.push_back(Value::string(i < names.size() ? names[i] : "f" + std::to_string(i + 1)));
   return makeConstant(plainType(oid::textArray), Value::string(makeArray(oid::text, values)));
}

ExprPtr takeField(ExprPtr row, const catalog::Column& column) {
   const uint32_t position = row->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(row));
   args.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, column.attribute - 1)));
   auto call = makeCall(onlyFunction("ouzel_field"), column.type, std::move(args));
   call->position = position;
   return call;
}

std::string nameOf(const Expr& row, size_t field) {
   const auto& names = row.as<scalar::Row>().names;
   return field < names.size() ? names[field] : "f" + std::to_string(field + 1);
}

[[noreturn]] void throwNoField(Oid type, std::string_view name, uint32_t position) {
   throw SqlError(sqlstate::undefinedColumn,
                  "column \"" + std::string(name) + "\" not found in data type " + typeName(type))
       .at(position);
}

const catalog::Column& requireField(const catalog::Relation& relation, Oid type, std::string_view name,
                                    uint32_t position) {
   const catalog::Column* column = relation.findColumn(name);
   if (!column) throwNoField(type, name, position);
   return *column;
}

} // namespace

bool isRowConstructor(const Expr& expr) {
   const auto* row = expr.getIf<scalar::Row>();
   return row && row->names.empty();
}

ExprPtr rowValue(BindState& state, ExprPtr expr) {
   if (expr->kind != ExprKind::Row) return expr;
   checkStack();
   std::vector<ExprPtr> fields, present;
   for (ExprPtr& field : expr->args)
      fields.push_back(rowValue(state, unknownToText(state, std::move(field))));
   expr->args.clear();
   if (expr->as<scalar::Row>().isNullExtended)
      for (const ExprPtr& field : fields)
         present.push_back(makeTest(ExprKind::IsNotNull, clone(*field)));
   Oid type = expr->type.oid >= firstUserOid ? expr->type.oid : Oid{oid::record};
   std::vector<ExprPtr> placed;
   if (type != oid::record) {
      // Columns that were dropped have their places.
      const auto relation = relationOf(state, type);
      size_t next = 0;
      for (const catalog::Column& column : relation->columns)
         placed.push_back(column.isDropped || next == fields.size() ? makeNull(plainType(oid::text))
                                                                    : std::move(fields[next++]));
      if (next != fields.size()) throwInternal("a row has other columns than its type");
   }
   auto names = type == oid::record ? namesOf(*expr, fields.size()) : noNames();
   auto row =
       makeRowCall(type, std::move(names), type == oid::record ? std::move(fields) : std::move(placed), expr->position);
   if (present.empty()) return row;
   // A row that an outer join has added is NULL as a whole.
   auto known = makeTyped(ExprKind::Case, row->type, expr->position);
   known->args.push_back(makeOr(std::move(present)));
   known->args.push_back(std::move(row));
   return known;
}

ExprPtr coerceRow(BindState& state, ExprPtr row, Oid target, CoercionContext context) {
   const uint32_t position = row->position;
   const auto refuse = [&](const std::string& detail) {
      throw SqlError(sqlstate::cannotCoerce, "cannot cast type " + typeName(row->type.oid) + " to " + typeName(target))
          .at(position)
          .detail(detail);
   };
   if (row->kind != ExprKind::Row) refuse({});
   const auto relation = relationOf(state, target);
   std::vector<ExprPtr> fields;
   size_t next = 0;
   for (const catalog::Column& column : relation->columns) {
      if (column.isDropped) {
         fields.push_back(makeNull(plainType(oid::text)));
         continue;
      }
      if (next == row->args.size()) refuse("Input has too few columns.");
      const Oid source = row->args[next]->type.oid;
      auto field = tryCoerce(state, row->args[next++], column.type, context);
      if (!field)
         refuse("Cannot cast type " + typeName(source) + " to " + typeName(column.type) + " in column " +
                std::to_string(next) + ".");
      fields.push_back(std::move(field));
   }
   if (next != row->args.size()) refuse("Input has too many columns.");
   return makeRowCall(target, noNames(), std::move(fields), position);
}

std::vector<RowMember> membersOf(BindState& state, ExprPtr row) {
   std::vector<RowMember> members;
   if (row->kind == ExprKind::Row) {
      for (size_t i = 0; i < row->args.size(); ++i)
         members.push_back({nameOf(*row, i), std::move(row->args[i])});
      return members;
   }
   const Oid type = row->type.oid;
   if (type == oid::record)
      throw SqlError(sqlstate::syntaxError, "record type has not been registered").at(row->position);
   if (!isRowValue(type))
      throw SqlError(sqlstate::wrongObjectType, "type " + typeName(type) + " is not composite").at(row->position);
   const auto relation = relationOf(state, type);
   for (const catalog::Column& column : relation->columns)
      if (!column.isDropped) members.push_back({column.name, takeField(clone(*row), column)});
   return members;
}

ExprPtr selectField(BindState& state, ExprPtr row, std::string_view name) {
   if (row->kind == ExprKind::Row)
      for (size_t i = 0; i < row->args.size(); ++i)
         if (nameOf(*row, i) == name) return std::move(row->args[i]);
   const Oid type = row->type.oid;
   if (row->kind == ExprKind::Row && type >= firstUserOid) throwNoField(type, name, row->position);
   if (row->kind == ExprKind::Row || type == oid::record)
      throw SqlError(sqlstate::undefinedColumn,
                     "could not identify column \"" + std::string(name) + "\" in record data type")
          .at(row->position);
   const auto relation = relationOf(state, type);
   const uint32_t position = row->position;
   return takeField(std::move(row), requireField(*relation, type, name, position));
}

ExprPtr replaceField(BindState& state, ExprPtr base, Oid type, std::string_view name, ExprPtr value,
                     uint32_t position) {
   const auto relation = relationOf(state, type);
   const catalog::Column& replaced = requireField(*relation, type, name, position);
   std::vector<ExprPtr> fields;
   for (const catalog::Column& column : relation->columns) {
      if (&column == &replaced)
         fields.push_back(std::move(value));
      else if (column.isDropped || isNullConstant(*base))
         fields.push_back(makeNull(column.isDropped ? plainType(oid::text) : column.type));
      else
         fields.push_back(takeField(clone(*base), column));
   }
   return makeRowCall(type, noNames(), std::move(fields), position);
}

} // namespace ouzel::sql
