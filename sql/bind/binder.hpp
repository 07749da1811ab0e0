#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/bind/state/bind_context.hpp"

// From raw parse trees to logical algebra: names, scopes, types, overloads and casts, with PostgreSQL's rules and
// errors. Everything here is a pure function of the tree, the catalog snapshot and the context; any thread may call it
// for trees that it parsed itself.

struct RangeVar; // PostgreSQL's raw parse nodes, see sql/parse/pg_nodes.hpp
struct TypeName;

namespace ouzel::sql {

/// Binds SELECT, VALUES, TABLE, INSERT, UPDATE or DELETE. Other statements are XX000: engine/ walks those itself.
BoundQuery bindQuery(const ::Node& statement, const BindContext& context);

/// A COPY FROM: rows of files, or of a client, for a table.
struct CopyRows {
   /// A column of the table and the attribute of the input (from 1) that feeds it.
   struct Column {
      int16_t attribute, inputAttribute;
   };
   catalog::RelationPtr table;
   std::vector<Column> columns;                    ///< the others get their defaults
   std::shared_ptr<const io::ExternalTable> input; ///< cast to the columns' types where its own differ
   std::shared_ptr<const io::LineInput> lines;     ///< the same when its rows have lines, else null
   const ::Node* where = nullptr;                  ///< keeps the rows for which it is true
};
/// Binds it as an INSERT.
BoundQuery bindCopy(const CopyRows& copy, const BindContext& context);

/// Pad what a query gives to its client as PostgreSQL shows it; not for rows that are stored. padding.cpp
void padOutput(BoundQuery& query);

/// True for the statements bindQuery takes.
bool isBindable(const ::Node& statement);

/// The query of CREATE VIEW: bound, and as text that means the same whatever search_path and new columns come:
/// relations qualified, stars expanded.
struct BoundView {
   BoundQuery query;
   std::string definition;
   std::vector<catalog::Dependency> dependsOn;
};
/// `text` is the part of context.source that the query is (ParsedStatement style byte range, found by the caller or
/// empty: from the query's first token to the end of `statementText`).
BoundView bindView(const ::Node& query, const BindContext& context, uint32_t queryOffset, uint32_t queryLength);

/// The text of a view (or of an expression over `table`) when a relation (attribute 0) or column gets a new name; bound
/// against the catalog from before the change.
std::string renameInView(std::string_view definition, Oid relation, int16_t attribute, std::string_view name,
                         const BindContext& context);
std::string renameInExpression(std::string_view expression, const catalog::Relation& table, int16_t attribute,
                               std::string_view name, const BindContext& context);

/// What an expression outside a query is for: decides what is allowed in it and how errors call it.
enum class ExpressionUse : uint8_t {
   ColumnDefault, ///< DEFAULT: no columns, aggregates, subqueries
   CheckConstraint,
   GeneratedColumn,
   AlterUsing, ///< ALTER TABLE ... TYPE ... USING
   IndexExpression,
   PartitionBound,
   ExecuteParameter, ///< EXECUTE p (...)
   CallArgument,
};

/// A scalar expression over the columns of one table.
struct BoundExpression {
   ExprPtr expr;
   ColumnTable columns;
   std::vector<GetColumn> inputs; ///< a column for each attribute the expression reads
};

/// Bind an expression that may read the columns of `table` (null: none).
/// `target`: assignment-cast the result to this type, errors naming `columnName`: 42804 `column "x" is of type integer
/// but default expression is of type text`. CHECK constraints are made boolean.
BoundExpression bindExpression(const ::Node& expression, ExpressionUse use, const catalog::Relation* table,
                               std::optional<SqlType> target, std::string_view columnName, const BindContext& context);

/// The sequence that a default of the form nextval('...') draws from; invalidOid for any other expression.
Oid sequenceOfDefault(const Expr& expression);

/// The default of a column as it stands in the catalog, cast to the column's type; NULL if it has none.
ExprPtr bindColumnDefault(const catalog::Relation& table, const catalog::Column& column, const BindContext& context);

/// 42704 `type "x" does not exist`, 42601 for modifiers a type does not take.
SqlType resolveTypeName(const ::TypeName& name, const BindContext& context);
/// Type by text as regtype, to_regtype and `format_type` users write it: "int4", "numeric(10,2)", "text[]".
SqlType resolveTypeText(std::string_view text, const BindContext& context);

/// The name in a FROM clause or utility statement, with its position.
catalog::QualifiedName qualifiedName(const ::RangeVar& name, const BindContext& context);

/// The name PostgreSQL gives an unnamed output expression: "sum", "?column?", "case".
std::string outputName(const ::Node* expression);

/// Cast `expr` for assignment to a column. Throws 42804 `column "x" is of type integer but expression is of type text`.
ExprPtr castForAssignment(ExprPtr expr, const SqlType& target, std::string_view columnName, const BindContext& context);

} // namespace ouzel::sql
