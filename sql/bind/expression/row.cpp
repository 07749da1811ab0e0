#include "sql/bind/expression/row.hpp"

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/expression/sql_function.hpp"
#include "sql/bind/expression/star.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

// ROW(...), whole-row references and functions of several columns. Row values never reach the algebra. Comparisons, IN,
// IS NULL and field selection take a Row node apart; a subquery passes on its fields; all other constructs refuse a
// row.

namespace ouzel::sql {

namespace {

void adoptFields(BindState& state, const Scope& scope, const std::vector<ScopeColumn>& fields);

std::vector<std::string> fieldNames(const Expr& row) {
   std::vector<std::string> names = row.as<scalar::Row>().names;
   for (size_t i = names.size(); i < row.args.size(); ++i)
      names.push_back("f" + std::to_string(i + 1));
   return names;
}

} // namespace

ExprPtr bindRow(BindState& state, Scope& scope, const ::RowExpr& node) {
   auto row = makeTyped(ExprKind::Row, {oid::record, -1, invalidOid}, state.at(node.location));
   row->args = bindExpressionList(state, scope, node.args, scope.clause);
   if (row->args.size() > 1664)
      throw SqlError(sqlstate::tooManyColumns, "ROW expressions can have at most 1664 entries").at(row->position);
   return row;
}

ExprPtr selectField(ExprPtr row, std::string_view name) {
   if (row->kind != ExprKind::Row) throwNotSupported("fields of row values", row->position);
   const auto names = fieldNames(*row);
   for (size_t i = 0; i < row->args.size(); ++i)
      if (names[i] == name) return std::move(row->args[i]);
   throw SqlError(sqlstate::undefinedColumn,
                  "could not identify column \"" + std::string(name) + "\" in record data type")
       .at(row->position);
}

ExprPtr referTo(const ScopeColumn& column, uint32_t position) {
   if (column.column != noColumn) {
      auto expr = makeColumn(column.column, column.type);
      expr->position = position;
      return expr;
   }
   auto row = makeTyped(ExprKind::Row, column.type, position);
   for (const ScopeColumn& field : column.fields) {
      row->args.push_back(referTo(field, position));
      row->as<scalar::Row>().names.push_back(field.name);
   }
   return row;
}

void placeRow(BindState& state, Scope& scope, const Expr& row, std::vector<ScopeColumn>& fields,
              std::vector<ComputedColumn>& computed) {
   checkStack();
   const auto names = fieldNames(row);
   for (size_t i = 0; i < row.args.size(); ++i) {
      const Expr& field = *row.args[i];
      ScopeColumn placed{names[i], noColumn, field.type};
      if (field.kind == ExprKind::Row) {
         placeRow(state, scope, field, placed.fields, computed);
      } else if (field.kind == ExprKind::Column && state.depthOf(columnOf(field)) == scope.depth) {
         placed.column = columnOf(field);
      } else {
         auto value = unknownToText(state, clone(field));
         placed.type = value->type;
         placed.column = state.addColumn(scope, names[i], value->type);
         computed.push_back({placed.column, std::move(value)});
      }
      fields.push_back(std::move(placed));
   }
}

namespace {

/// The text of a row as record_out prints it: (1,"a b",).
ExprPtr rowText(BindState& state, const Expr& row) {
   checkStack();
   constexpr std::string_view quoted = R"(CASE WHEN $1 IS NULL THEN '' WHEN $1 = '' OR $1 ~ '[\s(),"\\]'
      THEN '"' || replace(replace($1, '\', '\\'), '"', '""') || '"' ELSE $1 END)";
   std::vector<ExprPtr> parts;
   const SqlType text = plainType(oid::text);
   const auto literal = [&](const char* value) { return makeConstant(text, Value::string(value)); };
   ExprPtr result = literal("(");
   for (size_t i = 0; i < row.args.size(); ++i) {
      const Expr& field = *row.args[i];
      std::vector<ExprPtr> value;
      if (field.kind == ExprKind::Row) {
         value.push_back(rowText(state, field));
      } else {
         value.push_back(unknownToText(state, clone(field)));
         if (value[0]->type.oid == oid::boolean) { // output is t or f, while the cast to text gives true or false
            value.push_back(bindBody(state, "CASE WHEN $1 THEN 't' WHEN NOT $1 THEN 'f' END", value));
            value.erase(value.begin());
         }
         if (value[0]->type.oid == oid::bpchar) { // whose cast to text drops the blanks
            auto output = makeTyped(ExprKind::TextCast, text);
            output->args.push_back(std::move(value[0]));
            value[0] = std::move(output);
         }
         value[0] = coerce(state, std::move(value[0]), oid::text, -1, CoercionContext::Explicit);
      }
      if (i > 0) result = makeOperator(state, "||", std::move(result), literal(","), 0);
      result = makeOperator(state, "||", std::move(result), bindBody(state, quoted, value), 0);
   }
   return makeOperator(state, "||", std::move(result), literal(")"), 0);
}

} // namespace

void printRows(BindState& state, BoundRel& query) {
   std::vector<ComputedColumn> computed;
   for (size_t i = 0; i < query.output.size(); ++i) {
      OutputColumn& output = query.output[i];
      if (output.column != noColumn) continue;
      ScopeColumn column{output.name, noColumn, output.type};
      column.fields = query.fields[i];
      output.type = {oid::record, -1, invalidOid};
      auto text = makeTyped(ExprKind::Relabel, output.type);
      text->args.push_back(rowText(state, *referTo(column, 0)));
      output.column = state.addColumn(0, output.name, output.type);
      computed.push_back({output.column, std::move(text)});
   }
   query.rel = makeMap(std::move(query.rel), std::move(computed));
}

void requireNoRows(const BoundRel& query) {
   for (size_t i = 0; i < query.output.size(); ++i)
      if (query.output[i].column == noColumn)
         throwNotSupported("row values in a result", i < query.positions.size() ? query.positions[i] : 0);
}

std::vector<ScopeColumn> scopeColumns(BindState& state, const Scope& scope, const BoundRel& query) {
   std::vector<ScopeColumn> columns;
   for (size_t i = 0; i < query.output.size(); ++i) {
      const OutputColumn& output = query.output[i];
      ScopeColumn column{output.name, output.column, output.type};
      if (output.column != noColumn) {
         state.adopt(scope, output.column);
      } else {
         column.fields = query.fields[i];
         adoptFields(state, scope, column.fields);
      }
      columns.push_back(std::move(column));
   }
   return columns;
}

namespace {

void adoptFields(BindState& state, const Scope& scope, const std::vector<ScopeColumn>& fields) {
   checkStack();
   for (const ScopeColumn& field : fields)
      if (field.column != noColumn) {
         state.adopt(scope, field.column);
      } else {
         adoptFields(state, scope, field.fields);
      }
}

} // namespace

} // namespace ouzel::sql
