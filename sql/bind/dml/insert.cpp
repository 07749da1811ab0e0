#include "sql/bind/dml/insert.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/instead.hpp"
#include "sql/bind/dml/on_conflict.hpp"
#include "sql/bind/dml/rule_binding.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/dml/view_check.hpp"
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/part_assignment.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/expression/star.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/type/coercion.hpp"

// INSERT: target columns, rows from VALUES or a query, defaults for all other columns.

namespace ouzel::sql {

namespace {

std::vector<ExprPtr> bindInsertRow(BindState& state, Scope& scope, const ::List* list, size_t limit,
                                   uint32_t shortPosition,
                                   const std::function<const catalog::Column*(size_t, uint32_t)>& columnOf);

template <typename InsertColumns>
void checkCount(size_t given, const InsertColumns& columns, bool isExplicit, uint32_t extraPosition) {
   if (given > columns.size())
      throw SqlError(sqlstate::syntaxError, "INSERT has more expressions than target columns").at(extraPosition);
   if (isExplicit && given < columns.size())
      throw SqlError(sqlstate::syntaxError, "INSERT has more target columns than expressions")
          .at(columns[given].position);
}

/// Refuses a value for a generated column or for an identity column GENERATED ALWAYS.
void checkAssignable(const catalog::Column& column, ::OverridingKind overriding) {
   const bool isIdentity = column.identity == 'a' && overriding == OVERRIDING_NOT_SET;
   if (!column.generated && !isIdentity) return;
   SqlError error(sqlstate::generatedAlways, "cannot insert a non-DEFAULT value into column \"" + column.name + "\"");
   if (column.generated) throw std::move(error).detail("Column \"" + column.name + "\" is a generated column.");
   throw std::move(error)
       .detail("Column \"" + column.name + "\" is an identity column defined as GENERATED ALWAYS.")
       .hint("Use OVERRIDING SYSTEM VALUE to override.");
}

/// Number of values per row of a statement that names no columns, where a star counts as one.
size_t givenColumns(const ::InsertStmt& statement) {
   const auto* select = as<SelectStmt>(statement.selectStmt);
   if (!select) return 0;
   if (select->valuesLists) return ListOf<>(ListOf<List>(select->valuesLists).front()).size();
   return ListOf<>(select->targetList).size();
}

/// Adds a column with the number of each row.
RelPtr numberRows(RelPtr rel, ColumnId column) {
   constexpr Oid rowNumber = 3100; // pg_proc
   op::Window window;
   WindowCall call;
   call.column = column;
   call.function = catalog::builtins().function(rowNumber);
   call.type = {oid::int8, -1, invalidOid};
   window.calls.push_back(std::move(call));
   return makeRel(RelKind::Window, std::move(window), std::move(rel));
}

RelPtr inOrder(RelPtr rel, ColumnId column) {
   op::Sort sort;
   sort.keys.push_back({makeColumn(column, {oid::int8, -1, invalidOid}), false, false});
   return makeRel(RelKind::Sort, std::move(sort), std::move(rel));
}

/// True for VALUES without ORDER BY, LIMIT, locks and WITH.
bool isPlainValues(const ::SelectStmt& select) {
   return select.valuesLists && !select.sortClause && !select.limitOffset && !select.limitCount &&
          !select.lockingClause && !select.withClause;
}

} // namespace

namespace {

/// The type of the value that is given for a column, or for a part of it.
SqlType givenType(BindState& state, const InsertColumn& target) {
   return target.indirection ? partType(state, *target.column, target.indirection, target.position)
                             : target.column->type;
}

} // namespace

std::vector<InsertColumn> insertColumns(const BindState& state, const ::List* names, const catalog::Relation& table) {
   std::vector<InsertColumn> result;
   if (!names) {
      for (const catalog::Column& column : table.columns)
         if (!column.isDropped) result.push_back({&column, 0});
      return result;
   }
   for (const auto* target : ListOf<ResTarget>(names)) {
      const uint32_t position = state.at(target->location);
      const auto& column = catalog::requireColumn(table, target->name, position);
      for (const InsertColumn& other : result)
         if (other.column == &column && !(other.indirection && target->indirection))
            throw SqlError(sqlstate::duplicateColumn, "column \"" + column.name + "\" specified more than once")
                .at(position);
      result.push_back({&column, position, target->indirection});
   }
   return result;
}

namespace {

/// Columns of domains that were put together of parts have yet to pass the checks.
void checkDomains(BindState& state, Scope& scope, const std::vector<InsertColumn>& columns,
                  std::vector<GetColumn>& values, RelPtr& rel) {
   std::vector<ComputedColumn> computed;
   for (GetColumn& value : values) {
      const auto found = std::find_if(columns.begin(), columns.end(), [&](const InsertColumn& column) {
         return column.indirection && column.column->attribute == value.attribute;
      });
      if (found == columns.end() || !found->column->type.domain) continue;
      const SqlType& type = found->column->type;
      auto checked = intoDomain(makeColumn(value.column, withoutDomain(type)), type);
      value.column = state.addColumn(scope, found->column->name, type);
      computed.push_back({value.column, std::move(checked)});
   }
   rel = makeMap(std::move(rel), std::move(computed));
}

/// Computes the columns of which parts were given, above `rel`; the other values are the columns given.
std::vector<GetColumn> joinParts(BindState& state, Scope& scope, const std::vector<ColumnId>& given,
                                 const std::vector<InsertColumn>& columns, RelPtr& rel) {
   std::vector<GetColumn> values;
   for (size_t i = 0; i < given.size(); ++i) {
      const auto& [column, position, indirection] = columns[i];
      if (!indirection) {
         values.push_back({given[i], column->attribute});
         continue;
      }
      const auto before = std::find_if(values.begin(), values.end(),
                                       [&](const GetColumn& other) { return other.attribute == column->attribute; });
      const bool isFirst = before == values.end();
      ExprPtr base = isFirst ? makeNull(withoutDomain(column->type)) : makeColumn(before->column, column->type);
      std::vector<ComputedColumn> computed;
      const ColumnId joined = state.addColumn(scope, column->name, column->type);
      computed.push_back(
          {joined, bindPartAssignment(state, scope, *column, std::move(base),
                                      makeColumn(given[i], state.columns[given[i]].type), indirection, position)});
      rel = makeMap(std::move(rel), std::move(computed));
      if (isFirst)
         values.push_back({joined, column->attribute});
      else
         before->column = joined;
   }
   checkDomains(state, scope, columns, values, rel);
   return values;
}

/// Columns that get no value and of which a view has a default: it is computed above `rel`.
void addViewDefaults(BindState& state, Scope& scope, const ViewTarget& view, std::vector<GetColumn>& values,
                     RelPtr& rel) {
   std::vector<ComputedColumn> computed;
   for (const catalog::Column& column : view.table->columns) {
      const bool isGiven = std::any_of(values.begin(), values.end(),
                                       [&](const GetColumn& value) { return value.attribute == column.attribute; });
      if (isGiven || column.isDropped || column.generated) continue;
      ExprPtr value = viewDefault(state, scope, view, column.attribute);
      if (!value) continue;
      values.push_back({state.addColumn(scope, column.name, column.type), column.attribute});
      computed.push_back({values.back().column, std::move(value)});
   }
   rel = makeMap(std::move(rel), std::move(computed));
}

/// The table columns behind view columns. Throws if one of the first `given` columns, which get values, is computed by
/// the view.
std::vector<InsertColumn> columnsBehind(const ViewTarget& view, std::vector<InsertColumn> columns, size_t given) {
   std::vector<InsertColumn> result;
   for (const InsertColumn& column : columns) {
      const auto* behind = columnBehind(view, *column.column);
      if (!behind && result.size() < given) refuseViewColumn(view, *column.column, "insert into");
      if (!behind) break; // neither this column nor the columns after it get values
      for (const InsertColumn& other : result)
         if (other.column == behind && result.size() < given && !(other.indirection && column.indirection))
            throw SqlError(sqlstate::syntaxError, "multiple assignments to same column \"" + behind->name + "\"");
      result.push_back({behind, column.position, column.indirection});
   }
   return result;
}

} // namespace

std::vector<ExprPtr> bindInsertValues(BindState& state, Scope& scope, const ::List* list,
                                      const std::vector<InsertColumn>& columns, bool isExplicit,
                                      ::OverridingKind overriding, const catalog::Relation& table,
                                      const ViewTarget* view) {
   auto row = bindInsertRow(state, scope, list, columns.size(), columns.size() > 1 ? columns[1].position : 0,
                            [&](size_t i, uint32_t position) {
                               checkCount(i + 1, columns, false, position);
                               return columns[i].column;
                            });
   checkCount(row.size(), columns, isExplicit, 0);
   for (size_t i = 0; i < row.size(); ++i) {
      const catalog::Column& column = *columns[i].column;
      if (!row[i] && columns[i].indirection)
         throw SqlError(sqlstate::featureNotSupported, isNode(ListOf<>(columns[i].indirection).front(), T_A_Indices)
                                                           ? "cannot set an array element to DEFAULT"
                                                           : "cannot set a subfield to DEFAULT")
             .at(columns[i].position);
      if (!row[i]) { // DEFAULT
         if (view) row[i] = viewDefault(state, scope, *view, column.attribute);
         if (!row[i]) row[i] = column.generated ? makeNull(column.type) : defaultOf(state, table, column);
         continue;
      }
      checkAssignable(column, overriding);
      if (overriding == OVERRIDING_USER_VALUE && column.identity) {
         row[i] = defaultOf(state, table, column);
         continue;
      }
      row[i] = coerceForAssignment(state, std::move(row[i]), givenType(state, columns[i]), column.name,
                                   Clause::InsertValues);
   }
   return row;
}

/// Notes the privileges that the first `given` columns need: known when the rows are bound, which may have stars.
void noteInserted(BindState& state, const catalog::Relation& table, const std::vector<InsertColumn>& columns,
                  size_t given) {
   RelationAccess& access = state.access.of(table.oid);
   access.privileges |= catalog::privilege::insert;
   for (size_t i = 0; i < std::min(given, columns.size()); ++i)
      access.inserted.push_back(columns[i].column->attribute);
}

namespace {

/// A column for the partitions of the new rows, which the operator that writes fills in. It has a volatile expression,
/// so that no rewrite takes the value that it has before.
RelPtr addTableOid(BindState& state, Scope& scope, RelPtr rel, Dml& dml) {
   const SqlType oidType{oid::oid, -1, invalidOid}, number{oid::float8, -1, invalidOid};
   auto value = makeTyped(ExprKind::Case, oidType);
   value->args.push_back(makeCompare(CompareOp::Lt, makeCall(catalog::builtins().functions("random")[0], number, {}),
                                     makeConstant(number, Value::real(PhysicalType::F64, 0))));
   for (const int64_t oid : {1, 0})
      value->args.push_back(makeConstant(oidType, Value::integer(PhysicalType::I64, oid)));
   dml.tableOid = state.addColumn(scope, "tableoid", oidType);
   std::vector<ComputedColumn> computed;
   computed.push_back({dml.tableOid, std::move(value)});
   return makeMap(std::move(rel), std::move(computed));
}

bool hasStar(const ::List* list) {
   for (const ::Node* item : ListOf<>(list))
      if (expands(item)) return true;
   return false;
}

/// The rows that a statement inserts, and in which columns they are.
struct InsertRows {
   std::vector<ColumnId> given; ///< for each target column that gets a value; the others get their defaults
   RelPtr rel;
   ColumnId ordinal = noColumn; ///< ON CONFLICT: the number of a row, since the first of two rows with one key wins
};

/// Binds the rows that are inserted.
InsertRows bindInsertRows(BindState& state, Scope& scope, const ::InsertStmt& statement,
                          const std::vector<InsertColumn>& columns, const catalog::Relation& table,
                          const ViewTarget* view) {
   InsertRows result;
   std::vector<ColumnId>& given = result.given;
   RelPtr& rel = result.rel;
   ColumnId& ordinal = result.ordinal;
   const bool isExplicit = statement.cols != nullptr;
   const auto* select = as<SelectStmt>(statement.selectStmt);
   if (!select) {
      rel = oneRow(); // DEFAULT VALUES
   } else if (isPlainValues(*select)) {
      const ListOf<List> lists(select->valuesLists);
      std::vector<std::vector<ExprPtr>> rows;
      for (const auto* list : lists) {
         const auto requireLength = [&](size_t length, size_t first) {
            if (length != first)
               throw SqlError(sqlstate::syntaxError, "VALUES lists must all be the same length")
                   .at(state.startOfNode(ListOf<>(list).front()));
         };
         if (!hasStar(list) && !hasStar(lists.front()))
            requireLength(ListOf<>(list).size(), ListOf<>(lists.front()).size());
         auto row = bindInsertValues(state, scope, list, columns, isExplicit, statement.override, table, view);
         if (!rows.empty()) requireLength(row.size(), rows[0].size());
         rows.push_back(std::move(row));
      }
      const size_t count = rows[0].size();
      for (size_t i = 0; i < count; ++i)
         given.push_back(state.addColumn(scope, columns[i].column->name, givenType(state, columns[i])));
      if (rows.size() == 1) {
         std::vector<ComputedColumn> computed;
         for (size_t i = 0; i < count; ++i)
            computed.push_back({given[i], std::move(rows[0][i])});
         rel = makeMap(placeSrfs(scope, oneRow(), std::move(scope.srfs)), std::move(computed));
      } else {
         if (!scope.srfs.empty())
            throw SqlError(sqlstate::featureNotSupported, "set-returning functions are not allowed in VALUES")
                .at(scope.srfs[0].call->position);
         op::Values source;
         source.columns = given;
         if (statement.onConflictClause) {
            ordinal = state.addColumn(scope, "ordinal", {oid::int8, -1, invalidOid});
            source.columns.push_back(ordinal);
            for (size_t i = 0; i < rows.size(); ++i)
               rows[i].push_back(makeConstant(state.columns[ordinal].type,
                                              Value::integer(PhysicalType::I64, static_cast<int64_t>(i))));
         }
         source.rows = std::move(rows);
         rel = makeRel(RelKind::Values, std::move(source));
      }
   } else {
      std::vector<SqlType> types;
      for (const InsertColumn& column : columns)
         types.push_back(givenType(state, column));
      auto query = bindSelect(state, *select, &scope, types);
      makeRowsValues(state, scope.depth, query);
      const size_t count = query.output.size();
      checkCount(count, columns, isExplicit, count > columns.size() ? query.positions[columns.size()] : 0);
      std::vector<ComputedColumn> computed;
      for (size_t i = 0; i < count; ++i) {
         const catalog::Column& column = *columns[i].column;
         checkAssignable(column, statement.override);
         const OutputColumn& output = query.output[i];
         auto value = makeColumn(output.column, output.type);
         value->position = i < query.positions.size() ? query.positions[i] : 0;
         value = statement.override == OVERRIDING_USER_VALUE && column.identity
                     ? defaultOf(state, table, column)
                     : coerceForAssignment(state, std::move(value), types[i], column.name, Clause::Select);
         if (const auto* reference = value->getIf<scalar::Column>()) {
            given.push_back(reference->column);
            continue;
         }
         given.push_back(state.addColumn(scope, column.name, types[i]));
         computed.push_back({given.back(), std::move(value)});
      }
      if (statement.onConflictClause && select->sortClause)
         query.rel =
             numberRows(std::move(query.rel), ordinal = state.addColumn(scope, "ordinal", {oid::int8, -1, invalidOid}));
      rel = makeMap(std::move(query.rel), std::move(computed));
   }
   return result;
}

} // namespace

RelPtr bindInsertedRows(BindState& state, Scope& scope, const ::InsertStmt& statement,
                        const catalog::RelationPtr& table, RuleBinding* rule, std::vector<GetColumn>& row) {
   const auto columns = insertColumns(state, statement.cols, *table);
   noteInserted(state, *table, columns, 0);
   if (rule) showRuleRows(state, scope, *rule);
   auto [given, rel, ordinal] = bindInsertRows(state, scope, statement, columns, *table, nullptr);
   noteInserted(state, *table, columns, statement.cols ? columns.size() : given.size());
   if (rule) rel = besideRuleRows(*rule, std::move(rel));
   Dml dml;
   const std::vector<GetColumn> values = joinParts(state, scope, given, columns, rel);
   rel = fillTarget(state, scope, std::move(rel), dml, *table, values);
   rel = computeGenerated(state, scope, std::move(rel), dml, *table);
   row = std::move(dml.target);
   return std::move(rel);
}

BoundRel bindInsert(BindState& state, const ::InsertStmt& statement, Scope* parent) {
   RuleBinding* rule = std::exchange(state.rule, nullptr);
   Scope scope(parent);
   declareCtes(state, scope, statement.withClause);
   auto table = targetTable(state, *statement.relation, "INSERT into");
   if (!rule) refuseRules(*table, catalog::RuleEvent::Insert);
   if (hasInsteadTriggers(state, *table, catalog::trigger_bit::insert))
      return bindInstead(state, scope, *reinterpret_cast<const ::Node*>(&statement), table);
   const bool isExplicit = statement.cols != nullptr;
   auto columns = insertColumns(state, statement.cols, *table);
   ViewTarget view;
   NamespaceItem viewItem;
   const catalog::RelationPtr named = table;
   const std::vector<InsertColumn> namedColumns = columns;
   noteInserted(state, *named, namedColumns, 0);
   const bool isView = table->relationKind == catalog::RelationKind::View;
   if (isView) {
      Scope apart(&scope); // separate, because the statement does not read the view's rows
      viewItem = bindTargetView(state, apart, *statement.relation, table, "INSERT", view).items[0];
      for (const catalog::Column& column : table->columns)
         if (!column.isDropped && column.hasDefault() && !columnBehind(view, column))
            refuseViewColumn(view, column, "insert into");
      table = view.table;
      const size_t given = isExplicit ? columns.size() : givenColumns(statement);
      columns = columnsBehind(view, std::move(columns), given);
   }
   auto dml = makeDml(state, *table, statement.relation);
   RangeEntry entry; // the table is not visible in the source, but hints name it
   entry.alias = entry.relationName = table->name;
   for (const catalog::Column& column : table->columns)
      if (!column.isDropped) entry.columns.push_back(column.name);
   scope.entries.push_back(std::move(entry));

   if (rule) showRuleRows(state, scope, *rule);
   auto [given, rel, ordinal] = bindInsertRows(state, scope, statement, columns, *table, isView ? &view : nullptr);
   noteInserted(state, *named, namedColumns, isExplicit ? namedColumns.size() : given.size());
   if (isView)
      for (size_t k = 0; k < (isExplicit ? columns.size() : given.size()); ++k)
         state.access.of(table->oid, view.role).inserted.push_back(columns[k].column->attribute);
   if (rule) rel = besideRuleRows(*rule, std::move(rel));
   TargetPolicies policies(state, table, isView ? view.role : state.access.role);
   std::vector<GetColumn> values = joinParts(state, scope, given, columns, rel);
   if (isView) addViewDefaults(state, scope, view, values, rel);
   rel = fillTarget(state, scope, std::move(rel), *dml, *table, values);
   rel = fireForInsert(state, scope, std::move(rel), table, *dml);
   rel = computeGenerated(state, scope, std::move(rel), *dml, *table);
   if (statement.onConflictClause) {
      const ConflictView conflictView{view, viewItem};
      rel = bindOnConflict(state, scope, statement, table, std::move(rel), *dml, policies,
                           isView ? &conflictView : nullptr);
      if (ordinal != noColumn) rel = inOrder(std::move(rel), ordinal);
   } else {
      dml->checks = checksOf(state, *table, dml->target);
      if (isView) append(dml->checks, viewChecks(state, scope, view, dml->target, rel));
   }
   if (rule && !isView) rel = withoutExcluded(state, *rule, *table, std::move(rel), {}, dml->target);
   setParts(state, table, *dml);

   // RETURNING sees the new row and no item of the source.
   NamespaceItem item = itemOf(*table, dml->target);
   if (isView) {
      rel = showView(state, scope, std::move(rel), view, dml->target, viewItem);
      item = std::move(viewItem);
   } else {
      applyAlias(item, statement.relation->alias);
      if (table->partitionKey && statement.returningList) {
         if (dml->tableOid == noColumn) rel = addTableOid(state, scope, std::move(rel), *dml);
         item.tableOid = dml->tableOid;
      }
      item.isInserted = true;
      item.updatedId = dml->rowId;
   }
   policies.watch(item);
   scope.items.clear();
   scope.entries.clear();
   if (statement.onConflictClause) {
      RangeEntry excluded;
      excluded.alias = excluded.relationName = "excluded";
      scope.entries.push_back(std::move(excluded));
   }
   addEntry(scope, item);
   scope.items.push_back(std::move(item));
   return finishDml(state, scope, RelKind::Insert, std::move(rel), std::move(dml), statement.returningList, policies,
                    rule);
}

namespace {

/// Binds one row of VALUES; DEFAULT gives null. `columnOf` gives the target column of the i-th value, or throws.
std::vector<ExprPtr> bindInsertRow(BindState& state, Scope& scope, const ::List* list, size_t limit,
                                   uint32_t shortPosition,
                                   const std::function<const catalog::Column*(size_t, uint32_t)>& columnOf) {
   std::vector<ExprPtr> row;
   for (const ::Node* node : ListOf<>(list)) {
      if (isNode(node, T_SetToDefault)) {
         columnOf(row.size(), state.at(as<SetToDefault>(node)->location));
         row.push_back(nullptr);
         continue;
      }
      if (expands(node)) {
         const ClauseGuard guard(scope, Clause::InsertValues);
         std::vector<ExprPtr> columns;
         appendExpanded(state, scope, node, columns);
         for (ExprPtr& column : columns) {
            columnOf(row.size(), column->position);
            row.push_back(std::move(column));
         }
         continue;
      }
      auto expr = bindExpr(state, scope, node, Clause::InsertValues);
      const bool namesColumns = shortPosition != 0;
      if (namesColumns && expr->kind == ExprKind::Row && row.size() + 1 < limit && ListOf<>(list).size() == 1)
         throw SqlError(sqlstate::syntaxError, "INSERT has more target columns than expressions")
             .at(shortPosition)
             .hint("The insertion source is a row expression containing the same number of columns expected by the "
                   "INSERT. Did you accidentally use extra parentheses?");
      columnOf(row.size(), expr->position);
      row.push_back(std::move(expr));
   }
   return row;
}

} // namespace

} // namespace ouzel::sql
