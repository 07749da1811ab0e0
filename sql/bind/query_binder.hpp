#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error/sql_error.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/scope.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

// The binder at work on one statement. Its methods live in one file per topic, named in the comments below.

namespace ouzel::sql {

/// A query's rows and what its select list calls them.
struct BoundRel {
   RelPtr rel;
   std::vector<OutputColumn> output;
   /// For outputs that are rows, whose `column` is noColumn: their fields. As long as `output`, or empty.
   std::vector<std::vector<ScopeColumn>> fields;
   std::vector<uint32_t> positions; ///< of the output expressions, where known
   std::vector<RangeEntry> leaves;  ///< of a set operation: its queries, for hints
};

/// One entry of a select list while its query is put together.
struct Target {
   ExprPtr expr;
   std::string name;
   bool isHidden = false;    ///< only for ORDER BY, GROUP BY or DISTINCT ON
   bool isAnonymous = false; ///< cannot be meant by a name in ORDER BY
   uint32_t position = 0;
   ColumnId column = noColumn;      ///< once placed in the tree
   std::vector<ScopeColumn> fields; ///< of a row, once placed
};

/// An ORDER BY element: which target, and which way.
struct OrderElement {
   uint32_t target;
   bool descending, nullsFirst;
};

/// How a column came to be at its query level.
enum class ColumnKind : uint8_t {
   Input,     ///< from FROM, or made above everything
   Aggregate, ///< result of an aggregate function
   Grouped,   ///< a grouping key or GROUPING()
   Window,    ///< result of a window function
   Srf,       ///< result of a set-returning function of the select list
};

/// A window and all calls over it.
struct BoundWindow {
   WindowSpec spec;
   std::vector<WindowCall> calls;
};

/// A FROM item: its operator and the names it brings.
struct FromItem {
   RelPtr rel;
   std::vector<NamespaceItem> items;
};

class QueryBinder {
public:
   explicit QueryBinder(const BindContext& context);

   // ---- statements: query_binder.cpp, dml_*.cpp ----
   BoundQuery bindStatement(const ::Node& statement);
   BoundView bindViewQuery(const ::Node& query, uint32_t offset, uint32_t length);
   std::string renameInQuery(std::string_view query, Oid relation, int16_t attribute, std::string_view name);
   std::string renameInExpression(std::string_view expression, const catalog::Relation& table, int16_t attribute,
                                  std::string_view name);

   // ---- expressions outside queries: expression_api.cpp ----
   BoundExpression bindStandalone(const ::Node& node, Clause clause, const catalog::Relation* table,
                                  std::optional<SqlType> target, std::string_view columnName);
   ExprPtr defaultOf(const catalog::Relation& table, const catalog::Column& column);

   // ---- coercion.cpp ----
   /// Cast without asking whether it is allowed. REQUIRES: canCoerce says so.
   ExprPtr coerce(ExprPtr expr, Oid target, int32_t typmod, CoercionContext context);
   /// Cast with length coercion; null if there is no such cast.
   ExprPtr tryCoerce(ExprPtr& expr, const SqlType& target, CoercionContext context);
   ExprPtr applyTypmod(ExprPtr expr, int32_t typmod, CoercionContext context);
   ExprPtr coerceToBoolean(ExprPtr expr, std::string_view construct);
   ExprPtr coerceToType(ExprPtr expr, Oid type, std::string_view construct);
   /// The type CASE branches, UNION columns, ... share. Throws 42804 `CASE types text and integer cannot be matched`.
   Oid selectCommonType(std::span<ExprPtr* const> exprs, std::string_view construct);
   int32_t selectCommonTypmod(std::span<ExprPtr* const> exprs, Oid type) const;
   ExprPtr coerceToCommon(ExprPtr expr, Oid type, std::string_view construct);
   ExprPtr coerceForAssignment(ExprPtr expr, const SqlType& target, std::string_view columnName, Clause clause);
   ExprPtr unknownToText(ExprPtr expr);
   ExprPtr parseLiteral(const Expr& literal, const SqlType& type);

private:
   friend class GroupedRewriter;

   // ---- query_binder.cpp ----
   uint32_t at(int32_t location) const { return source_ ? source_->position(location) : 0; }
   uint32_t startOfNode(const ::Node* node) const { return at(startLocation(node)); }
   ColumnId addColumn(const Scope& scope, std::string name, const SqlType& type) {
      return addColumn(scope.depth, std::move(name), type);
   }
   ColumnId addColumn(uint32_t depth, std::string name, const SqlType& type);
   /// The query level a column belongs to, as its depth.
   uint32_t depthOf(ColumnId column) const { return owners_[static_cast<uint32_t>(column)].depth; }
   ColumnKind kindOf(ColumnId column) const { return owners_[static_cast<uint32_t>(column)].kind; }
   void setKind(ColumnId column, ColumnKind kind) { owners_[static_cast<uint32_t>(column)].kind = kind; }
   /// Does the expression, or a subquery in it, read a column of this level (and kind)?
   bool readsLevel(const Expr& expr, const Scope& scope) const;
   bool readsKind(const Expr& expr, const Scope& scope, ColumnKind kind) const;
   /// Make the scope's level the owner of a derived table's column.
   void adopt(const Scope& scope, ColumnId column) {
      owners_[static_cast<uint32_t>(column)] = {scope.depth, ColumnKind::Input};
   }
   void checkParameters() const;
   void typeParameters(Rel& rel) const;
   void typeParameters(Expr& expr) const;

   // ---- select.cpp ----
   /// Any query: SELECT, VALUES, set operation, with its WITH. `assignTo`: types that unknown literals take (INSERT).
   BoundRel bindSelect(const ::SelectStmt& select, Scope* parent, std::span<const SqlType> assignTo = {},
                       bool resolveUnknowns = true);
   BoundRel bindSelectIn(Scope& scope, const ::SelectStmt& select, std::span<const SqlType> assignTo,
                         bool resolveUnknowns);
   BoundRel bindPlainSelect(Scope& scope, const ::SelectStmt& select, std::span<const SqlType> assignTo,
                            bool resolveUnknowns);
   BoundRel bindValues(Scope& scope, const ::SelectStmt& select);
   /// ORDER BY and LIMIT over finished columns of VALUES and set operations.
   void bindOrderOverOutput(Scope& scope, const ::SelectStmt& select, BoundRel& rel);
   void bindLimit(Scope& scope, const ::SelectStmt& select, RelPtr& rel, std::vector<SortKey> tieKeys);
   // lock_rows.cpp
   RelPtr lockRows(Scope& scope, const ::SelectStmt& select, RelPtr rel);
   void lockTablesBelow(Scope& scope, Rel& rel, const ::LockingClause& clause, bool isNullable,
                        std::vector<RowLock>& locks);
   /// Turn target expressions into columns of a Map.
   RelPtr placeTargets(Scope& scope, RelPtr rel, std::vector<Target>& targets);
   RelPtr placeRowFunctions(RelPtr rel, Scope& scope);
   RelPtr placeSrfs(Scope& scope, RelPtr rel, std::vector<TargetSrf> srfs);
   void setOutput(BoundRel& query, const std::vector<Target>& targets) const;
   /// The output columns as a FROM item shows them; they belong to `scope` from here on.
   std::vector<ScopeColumn> scopeColumns(const Scope& scope, const BoundRel& query);
   void adoptFields(const Scope& scope, const std::vector<ScopeColumn>& fields);
   void placeRow(Scope& scope, const Expr& row, std::vector<ScopeColumn>& fields,
                 std::vector<ComputedColumn>& computed);
   /// Refuses row values, which no client and no operator gets.
   void requireNoRows(const BoundRel& query) const;

   // ---- set_operation.cpp ----
   BoundRel bindSetOperation(Scope& scope, const ::SelectStmt& select, bool resolveUnknowns);
   /// A column of unknown type (a literal somewhere below) becomes one of `type`; does nothing if its type is known.
   void retypeUnknown(BoundRel& query, size_t index, Oid type);

   // ---- target_list.cpp ----
   std::vector<Target> bindTargetList(Scope& scope, const ::List* list, Clause clause);
   void expandStar(Scope& scope, const ::ColumnRef& star, std::vector<Target>& targets, std::vector<ExprPtr>* exprs);
   /// An expression list in which `t.*` may stand: VALUES rows, ROW(...).
   std::vector<ExprPtr> bindExpressionList(Scope& scope, const ::List* list, Clause clause);

   // ---- sort_group.cpp ----
   uint32_t findTargetSql92(Scope& scope, const ::Node* node, std::vector<Target>& targets, Clause clause);
   uint32_t findTargetSql99(Scope& scope, const ::Node* node, std::vector<Target>& targets, Clause clause);
   std::vector<OrderElement> bindOrderBy(Scope& scope, const ::List* list, std::vector<Target>& targets, Clause clause);
   void direction(const ::SortBy& sort, const SqlType& type, bool& descending, bool& nullsFirst) const;
   std::vector<uint32_t> bindDistinctOn(Scope& scope, const ::SelectStmt& select, std::vector<Target>& targets,
                                        std::vector<OrderElement>& order);
   void requireOrdering(const SqlType& type, uint32_t position) const;
   void requireEquality(const SqlType& type, uint32_t position) const;

   // ---- aggregate.cpp ----
   struct Grouping {
      bool isGrouped = false;
      std::vector<uint32_t> keyTargets;        ///< indexes of targets
      std::vector<std::vector<uint32_t>> sets; ///< indexes into keyTargets; empty: one set of all
      bool hasSets = false;
   };
   ExprPtr bindAggregate(Scope& scope, const ::FuncCall& call, const struct FunctionCandidate& candidate,
                         std::vector<ExprPtr> args, const SqlType& resultType, uint32_t directCount);
   ExprPtr bindGroupingCall(Scope& scope, const ::GroupingFunc& node);
   Grouping bindGroupBy(Scope& scope, const ::SelectStmt& select, std::vector<Target>& targets);
   /// Put the GroupBy into the tree and rewrite everything above it in terms of its columns. Throws 42803.
   RelPtr placeGrouping(Scope& scope, RelPtr rel, Grouping grouping, std::vector<Target>& targets, ExprPtr& having,
                        std::vector<BoundWindow>& windows);
   /// The query level an aggregate over these expressions belongs to.
   Scope& aggregateScope(Scope& scope, const std::vector<const Expr*>& args);
   void checkAggregateClause(const Scope& scope, uint32_t position, bool isGroupingCall) const;

   // ---- window.cpp ----
   ExprPtr bindWindowCall(Scope& scope, const ::FuncCall& call, const struct FunctionCandidate& candidate,
                          std::vector<ExprPtr> args, const SqlType& resultType);
   /// Bind the definitions of all window calls collected; must run while the targets still are in input terms.
   std::vector<BoundWindow> bindWindows(Scope& scope);
   WindowSpec bindWindowSpec(Scope& scope, const ::WindowDef& definition, size_t namedUpTo);
   std::vector<SortKey> bindWindowOrder(Scope& scope, const ::List* list, Clause clause);
   void bindFrame(Scope& scope, const ::WindowDef& definition, WindowSpec& spec);
   const ::WindowDef& findWindow(Scope& scope, std::string_view name, uint32_t position, size_t upTo) const;

   // ---- from.cpp ----
   RelPtr bindFrom(Scope& scope, const ::List* list);
   FromItem bindFromItem(Scope& scope, const ::Node* node);
   FromItem bindTable(Scope& scope, const ::RangeVar& name);
   FromItem bindBaseTable(Scope& scope, const catalog::RelationPtr& relation, const ::Alias* alias, uint32_t position);
   FromItem bindFromSubquery(Scope& scope, const ::RangeSubselect& node);
   void applyAlias(NamespaceItem& item, const ::Alias* alias, uint32_t position) const;
   void addEntry(Scope& scope, const NamespaceItem& item);
   void checkNameConflicts(const std::vector<NamespaceItem>& a, const std::vector<NamespaceItem>& b) const;
   RelPtr crossJoin(RelPtr left, RelPtr right) const;

   // ---- join.cpp ----
   FromItem bindJoin(Scope& scope, const ::JoinExpr& node);
   struct UsingMerge;
   UsingMerge mergeUsing(Scope& scope, const ::JoinExpr& node, JoinKind kind, const std::vector<ScopeColumn>& left,
                         const std::vector<ScopeColumn>& right);

   // ---- view.cpp ----
   FromItem bindView(Scope& scope, const catalog::RelationPtr& view, const ::Alias* alias, uint32_t position);

   // ---- table_function.cpp ----
   FromItem bindTableFunction(Scope& scope, const ::RangeFunction& node);
   /// read_csv(...) and read_parquet(...): external.cpp. Null when the node is something else.
   std::optional<FromItem> bindExternal(Scope& scope, const ::RangeFunction& node);
   /// New columns for the OUT columns of a call; empty if it gives one value of its type.
   std::vector<ScopeColumn> functionColumns(const Scope& scope, const Expr& call);
   RelPtr functionRows(const Scope& scope, ExprPtr call, const std::vector<ScopeColumn>& columns, ColumnId ordinality);

   // ---- cte.cpp ----
   void declareCtes(Scope& scope, const ::WithClause* with);
   RelPtr placeCtes(Scope& scope, RelPtr body);
   CteBinding* findCte(Scope& scope, std::string_view name);
   void bindCte(Scope& scope, CteBinding& cte);
   void bindRecursiveCte(Scope& scope, CteBinding& cte, const ::SelectStmt& select);
   FromItem scanCte(Scope& scope, CteBinding& cte, const ::RangeVar& name);
   bool isLaterCte(const Scope& scope, std::string_view name) const;
   void nameCteColumns(CteBinding& cte, const std::vector<OutputColumn>& output) const;
   /// Give each output a column of its own.
   void makeOutputUnique(Scope& scope, BoundRel& query);

   // ---- names.cpp ----
   ExprPtr bindColumnRef(Scope& scope, const ::ColumnRef& ref);
   ExprPtr findColumn(Scope& scope, std::string_view name, uint32_t position, bool localOnly = false);
   ExprPtr findColumnIn(const NamespaceItem& item, std::string_view name, uint32_t position);
   const NamespaceItem* findItem(Scope& scope, std::string_view schema, std::string_view name, uint32_t position,
                                 Scope** owner = nullptr);
   ExprPtr wholeRow(const NamespaceItem& item, uint32_t position);
   [[noreturn]] void throwMissingColumn(const Scope& scope, std::string_view relation, std::string_view name,
                                        uint32_t position) const;
   [[noreturn]] void throwMissingRelation(const Scope& scope, std::string_view schema, std::string_view name,
                                          uint32_t position) const;

   // ---- expression.cpp ----
   /// Bind a scalar expression. Unknown literals stay unknown.
   ExprPtr bindExpr(Scope& scope, const ::Node* node);
   ExprPtr bindExpr(Scope& scope, const ::Node* node, Clause clause);
   ExprPtr bindNode(Scope& scope, const ::Node* node);
   ExprPtr bindConstant(const ::A_Const& node);
   ExprPtr bindParameter(const ::ParamRef& node);
   ExprPtr bindBool(Scope& scope, const ::BoolExpr& node);
   ExprPtr bindTypeCast(Scope& scope, const ::TypeCast& node);
   ExprPtr bindCollate(Scope& scope, const ::CollateClause& node);

   // ---- conditional.cpp ----
   ExprPtr bindCase(Scope& scope, const ::CaseExpr& node);
   ExprPtr bindCoalesce(Scope& scope, const ::CoalesceExpr& node);
   ExprPtr bindMinMax(Scope& scope, const ::MinMaxExpr& node);
   ExprPtr bindNullTest(Scope& scope, const ::NullTest& node);
   ExprPtr bindBooleanTest(Scope& scope, const ::BooleanTest& node);
   ExprPtr bindNullIf(Scope& scope, const ::A_Expr& node);
   ExprPtr bindSqlValue(Scope& scope, const ::SQLValueFunction& node);
   /// Give `use` an expression that may be repeated and stands for `value`, whose evaluation it costs once.
   ExprPtr shareValue(Scope& scope, ExprPtr value, const std::function<ExprPtr(const Expr&)>& use,
                      bool isCostly = false);
   ExprPtr chooseExtreme(Scope& scope, std::vector<ExprPtr> args, std::string_view name, uint32_t position);

   // ---- operator.cpp ----
   ExprPtr bindOperator(Scope& scope, const ::A_Expr& node);
   ExprPtr bindOperatorChain(Scope& scope, const ::A_Expr& node);
   ExprPtr combine(std::string_view name, ExprPtr left, ExprPtr right, uint32_t position);
   ExprPtr makeOperator(std::string_view name, ExprPtr left, ExprPtr right, uint32_t position);
   ExprPtr bindAnyArray(Scope& scope, const ::A_Expr& node, bool isAll);
   ExprPtr bindDistinct(Scope& scope, const ::A_Expr& node);
   ExprPtr makeDistinct(ExprPtr left, ExprPtr right, bool negated, uint32_t position);
   ExprPtr bindIn(Scope& scope, const ::A_Expr& node);
   ExprPtr bindBetween(Scope& scope, const ::A_Expr& node);
   /// Comparison of rows, expanded column by column.
   ExprPtr compareRows(std::string_view name, std::vector<ExprPtr> left, std::vector<ExprPtr> right, uint32_t position);

   // ---- function_call.cpp ----
   ExprPtr bindFunctionCall(Scope& scope, const ::FuncCall& call);
   /// Call a built-in function by name with bound arguments.
   ExprPtr callFunction(Scope& scope, std::string_view name, std::vector<ExprPtr> args, uint32_t position);
   ExprPtr finishCall(Scope& scope, const ::FuncCall* call, const struct FunctionCandidate& candidate,
                      std::vector<ExprPtr> args, uint32_t position, std::string_view name);
   /// Cast arguments to what the function wants, spread variadics into arrays, add defaults. `declared` as resolved.
   void coerceArguments(std::vector<ExprPtr>& args, std::span<const Oid> declared);
   void uniteHypothetical(std::vector<ExprPtr>& args, uint32_t directCount, const std::string& signature,
                          uint32_t position);
   ExprPtr registerSrf(Scope& scope, ExprPtr call);
   /// The body of a function written in SQL over these arguments; null if it stays a call.
   ExprPtr inlineSqlFunction(const catalog::FunctionInfo& function, std::vector<ExprPtr>& args,
                             const SqlType& resultType);
   /// An SQL expression in which $1... stand for copies of `args`.
   ExprPtr bindBody(std::string_view body, const std::vector<ExprPtr>& args);
   /// A function of several OUT columns in a select list: a Row of the columns it gives.
   ExprPtr registerRowFunction(Scope& scope, ExprPtr call);
   ExprPtr bindFunctionDefault(std::string_view text, Oid type);

   // ---- array.cpp ----
   ExprPtr bindArray(Scope& scope, const ::A_ArrayExpr& node, Oid arrayTypeHint, Oid elementHint, int32_t typmod);
   ExprPtr makeArrayExpr(std::vector<ExprPtr> elements, Oid array, uint32_t position);
   ExprPtr bindIndirection(Scope& scope, const ::A_Indirection& node);
   ExprPtr bindSubscripts(Scope& scope, ExprPtr base, const std::vector<const ::A_Indices*>& subscripts);

   // ---- row.cpp ----
   ExprPtr bindRow(Scope& scope, const ::RowExpr& node);
   ExprPtr selectField(ExprPtr row, std::string_view name);
   /// A row as record_out prints it: (1,"a b",).
   ExprPtr rowText(const Expr& row);
   /// Rows among the outputs of a statement become text of type record.
   void printRows(BoundRel& query);
   /// A reference to a column, or to the fields of a row that a subquery passes on.
   ExprPtr referTo(const ScopeColumn& column, uint32_t position) const;

   // ---- subquery.cpp ----
   ExprPtr bindSubLink(Scope& scope, const ::SubLink& node);
   ExprPtr bindAnySubquery(Scope& scope, const ::SubLink& node, BoundRel query);
   /// ROW(...) op (SELECT ...).
   ExprPtr bindRowSubquery(Scope& scope, std::string_view name, ExprPtr row, const ::SubLink& node, uint32_t position);
   /// The subquery's single column; throws 42601 `subquery must return only one column`.
   const OutputColumn& onlyColumn(const BoundRel& query, uint32_t position) const;

   // ---- dml_insert.cpp, dml_conflict.cpp, dml_update.cpp, dml_merge.cpp, dml_common.cpp ----
   /// Any of INSERT, UPDATE, DELETE, MERGE. `parent`: of a WITH query, else null.
   BoundRel bindDml(const ::Node& statement, Scope* parent);
   BoundRel bindInsert(const ::InsertStmt& statement, Scope* parent);
   BoundRel bindUpdate(const ::UpdateStmt& statement, Scope* parent);
   BoundRel bindDelete(const ::DeleteStmt& statement, Scope* parent);
   BoundRel bindMerge(const ::MergeStmt& statement, Scope* parent);
   catalog::RelationPtr targetTable(const ::RangeVar& name, const char* verb);
   FromItem bindTargetTable(Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& table, ColumnId& rowId);
   std::unique_ptr<Dml> makeDml(const catalog::Relation& table, const ::RangeVar& name) const;
   /// An expression of the catalog over the new values of the target.
   ExprPtr bindOverTarget(const catalog::Relation& table, const std::vector<GetColumn>& target, std::string_view text,
                          Clause clause);
   RelPtr computeGenerated(Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table);
   /// One row of VALUES; null where DEFAULT stands. `columnOf` checks that there is a column for the i-th value.
   std::vector<ExprPtr> bindInsertRow(Scope& scope, const ::List* list, size_t limit, uint32_t shortPosition,
                                      const std::function<const catalog::Column*(size_t, uint32_t)>& columnOf);
   /// The table behind a view that is changed.
   struct ViewTarget {
      catalog::RelationPtr view, table;                   ///< null: the target is a table
      std::vector<GetColumn> old;                         ///< the table's columns as read
      std::vector<ColumnId> outputs;                      ///< by view column: one of `old`, or computed
      std::vector<std::pair<ColumnId, ExprPtr>> computed; ///< by the view, uppermost first
      ColumnId rowId = noColumn;
   };
   /// A column that an INSERT names (or means), with the place where it is named.
   struct InsertColumn {
      const catalog::Column* column;
      uint32_t position;
   };
   std::vector<InsertColumn> insertColumns(const ::List* names, const catalog::Relation& table) const;
   /// The same for the table behind a view; columns that the view computes are errors where values are given for them.
   std::vector<InsertColumn> columnsBehind(const ViewTarget& view, std::vector<InsertColumn> columns,
                                           size_t given) const;
   /// One row of VALUES as the columns take it: cast, defaults in their places.
   std::vector<ExprPtr> bindInsertValues(Scope& scope, const ::List* list, const std::vector<InsertColumn>& columns,
                                         bool isExplicit, ::OverridingKind overriding, const catalog::Relation& table);
   /// Rows proposed for insertion (dml.target) meet the rows whose keys they share.
   RelPtr bindOnConflict(Scope& scope, const ::InsertStmt& statement, const catalog::RelationPtr& table, RelPtr rel,
                         Dml& dml);
   std::vector<Dml::ConflictKey> inferArbiters(Scope& scope, const ::OnConflictClause& clause,
                                               const catalog::Relation& table);
   RelPtr bindTargetRows(Scope& scope, FromItem target, const ::List* from, const ::Node* where);
   /// Values of `(a, b) = ...`. Those of a subquery are joined to `rel`, where `condition` holds (null: everywhere).
   std::vector<ExprPtr> bindMultiSource(Scope& scope, const ::Node* source, uint32_t count, RelPtr& rel,
                                        const Expr* condition);
   /// The view's rows with the row id of the table behind it. Throws 55000 unless the view is simple. dml_view.cpp.
   FromItem bindTargetView(Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& view,
                           std::string_view verb, ViewTarget& target);
   /// The table's column that a view column is; null if it is computed.
   const catalog::Column* columnBehind(const ViewTarget& target, const catalog::Column& column) const;
   [[noreturn]] void refuseViewColumn(const ViewTarget& target, const catalog::Column& column, const char* verb) const;
   /// The view's item over the new row of the table.
   RelPtr showView(Scope& scope, RelPtr rel, const ViewTarget& target, const std::vector<GetColumn>& row,
                   NamespaceItem& item);
   struct Assignment {
      int16_t attribute;
      ExprPtr value;
   };
   /// SET of UPDATE, MERGE and ON CONFLICT.
   std::vector<Assignment> bindAssignments(Scope& scope, const ::List* list, const catalog::Relation& table,
                                           RelPtr& rel, const Expr* condition, const ViewTarget* view = nullptr);
   /// The item's name means the row in `columns` from here on.
   void showRow(NamespaceItem& item, const catalog::Relation& table, const std::vector<GetColumn>& columns) const;
   std::vector<Dml::Check> checksOf(const catalog::Relation& table, const std::vector<GetColumn>& target);
   /// The operator, RETURNING and WITH around the rows of a statement.
   BoundRel finishDml(Scope& scope, RelKind kind, RelPtr rel, std::unique_ptr<Dml> dml, const ::List* returning);

   friend SqlType resolveTypeName(const ::TypeName& name, const BindContext& context);

   // PROPERTIES
   const BindContext& context_;
   const SourceText* source_; ///< null while a view or a default is bound

   // STATE
   ColumnTable columns_;
   struct Owner {
      uint32_t depth;
      ColumnKind kind;
   };
   std::vector<Owner> owners_;   ///< by column
   std::vector<Oid> parameters_; ///< invalidOid: not referred to, unknown: not yet known
   std::vector<Oid> relations_;
   std::vector<WrittenRelation> written_; ///< what the statement or its WITH change
   bool hasConflictClause_ = false;
   std::vector<Oid> rowLocked_;
   std::vector<catalog::RelationPtr> pinned_; ///< keep NamespaceItem::relation alive
   uint32_t nextCte_ = 0;
   uint32_t depth_ = 0; ///< of nested expressions and queries
   uintptr_t stackFloor_ = 0;
   /// Innermost recursive CTE whose recursive term is being bound, and what stands between it and here.
   struct RecursionContext {
      CteBinding* cte = nullptr;
      const char* obstacle = nullptr; ///< "a subquery", "an outer join": a self-reference here is 42P19
   } recursion_;
   class ViewTextRecorder* recorder_ = nullptr;
   const ::FuncCall* fromFunction_ = nullptr;         ///< may return a set, being a FROM item itself
   const std::vector<ExprPtr>* inlineArgs_ = nullptr; ///< what $1... are while the body of an SQL function is bound
   uint32_t withinGroupFrom_ = 0; ///< of the call being finished: where the arguments of WITHIN GROUP begin

   friend class DepthGuard;
   friend class ObstacleGuard;
};

/// Counts a level of nesting; throws 54001 "stack depth limit exceeded" in time.
class DepthGuard {
public:
   explicit DepthGuard(QueryBinder& binder);
   ~DepthGuard() { --binder_.depth_; }
   DepthGuard(const DepthGuard&) = delete;

private:
   QueryBinder& binder_;
};

/// While it lives, self-references of recursive CTEs are refused for this reason.
class ObstacleGuard {
public:
   ObstacleGuard(QueryBinder& binder, const char* obstacle) : binder_(binder), previous_(binder.recursion_.obstacle) {
      if (obstacle && !previous_) binder.recursion_.obstacle = obstacle;
   }
   ~ObstacleGuard() { binder_.recursion_.obstacle = previous_; }
   ObstacleGuard(const ObstacleGuard&) = delete;

private:
   QueryBinder& binder_;
   const char* previous_;
};

/// Ready comparison `left op right` when the operator belongs to the default ordering of a type whose values compare by
/// themselves; null if it must stay a call. Casts both sides to one type.
std::optional<CompareOp> comparisonOf(const catalog::OperatorInfo& op, Oid& commonType);

/// Where the text of an expression begins: its leftmost position.
uint32_t startOf(const Expr& expr);
/// Position of the first column in the expression (or its subqueries) that `matches`; 0 if there is none.
uint32_t positionOfColumn(const Expr& expr, const std::function<bool(ColumnId)>& matches);

ExprPtr makeTyped(ExprKind kind, const SqlType& type, uint32_t position = 0);

/// One row of no columns.
/// Append a name to those a Row has for its fields.
void nameField(Expr& row, std::string_view name);

RelPtr oneRow();
RelPtr makeSelect(RelPtr input, ExprPtr predicate);
RelPtr makeMap(RelPtr input, std::vector<ComputedColumn> computed);
/// Does `reader` have free columns that `source` makes? Then a join of the two is dependent.
bool readsColumnsOf(const Rel& reader, const Rel& source);

} // namespace ouzel::sql
