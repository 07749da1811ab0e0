#pragma once
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sql/bind/state/bind_context.hpp"

// The binder turns raw parse trees into logical algebra: it resolves names, types and overloads and adds casts, with
// PostgreSQL's rules and errors. Each function is a pure function of the tree, the catalog snapshot and the context.
// Any thread may call a function for trees that the thread has parsed itself.

struct ColumnDef; // PostgreSQL's raw parse nodes, see sql/parse/pg_nodes.hpp
struct List;
struct RangeVar;
struct TypeName;

namespace ouzel::catalog {
struct Function;
}

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
   const ::Node* where = nullptr;                  ///< keeps the rows for which it is true
};
/// Binds it as an INSERT.
BoundQuery bindCopy(const CopyRows& copy, const BindContext& context);

/// True for the statements bindQuery takes.
bool isBindable(const ::Node& statement);

/// The query of CREATE VIEW, bound and as text. In the text relations are qualified and stars are expanded, so that a
/// later search_path or a new column does not change its meaning.
struct BoundView {
   BoundQuery query;
   std::string definition;
   std::vector<catalog::Dependency> dependsOn;
   std::string notUpdatable; ///< why it is not automatically updatable, see whyNotUpdatable(); empty: it is
};
/// `queryOffset` and `queryLength`: the byte range of the query in the text of context.source.
BoundView bindView(const ::Node& query, const BindContext& context, uint32_t queryOffset, uint32_t queryLength);

/// Why the view is not automatically updatable; empty: it is.
std::string whyNotUpdatable(const catalog::Relation& view, const BindContext& context);
/// For each attribute of the view whether a write of it reaches a column of a table; empty: the view cannot be written.
std::vector<bool> writableColumns(const catalog::Relation& view, const BindContext& context);

/// The text of a view, or of an expression over `table`, after a relation (attribute 0) or a column gets a new name.
/// The context's catalog is the one before the change.
std::string renameInView(std::string_view definition, Oid relation, int16_t attribute, std::string_view name,
                         const BindContext& context);
/// The text of a view after relations have gone to another schema. The context's catalog is the one before the change.
std::string moveInView(std::string_view definition, const std::set<Oid>& relations, std::string_view schema,
                       const BindContext& context);
std::string renameInExpression(std::string_view expression, const catalog::Relation& table, int16_t attribute,
                               std::string_view name, const BindContext& context);

/// An expression of a row-level security policy as the catalog keeps it: the user's words with qualified relations.
struct StoredPolicy {
   std::string text;
   std::vector<catalog::Dependency> dependsOn;
};
/// `offset` and `length`: the byte range of the expression in the text of context.source.
StoredPolicy storedPolicy(const ::Node& expression, const catalog::Relation& table, const BindContext& context,
                          uint32_t offset, uint32_t length);
/// Its text after a relation (attribute 0) or a column gets a new name. `tableName`: by which the text names `table`.
std::string renameInPolicy(std::string_view text, const catalog::Relation& table, const std::string& tableName,
                           Oid relation, int16_t attribute, std::string_view name, const BindContext& context);

/// What the body of a function names, without what lies behind views and other functions.
struct RoutineUse {
   std::vector<catalog::Dependency> relations; ///< and columns that are read or written, ascending
   std::vector<Oid> calls;                     ///< functions and operators of users, ascending
};
/// Binds the statements in the body of a function in SQL, for the errors in them. Throws 42P13 for a result that is not
/// what the function returns. The use of functions with polymorphic parameters is not known.
RoutineUse checkRoutine(const catalog::Function& function, const BindContext& context);

/// Purpose of an expression outside a query. It decides which constructs are allowed and which word errors use.
enum class ExpressionUse : uint8_t {
   ColumnDefault, ///< DEFAULT: no columns, aggregates, subqueries
   CheckConstraint,
   GeneratedColumn,
   AlterUsing, ///< ALTER TABLE ... TYPE ... USING
   IndexExpression,
   Statistics,     ///< CREATE STATISTICS
   IndexPredicate, ///< cast to boolean
   PartitionKey,
   PartitionBound,
   ExecuteParameter, ///< EXECUTE p (...)
   CallArgument,
   PublicationFilter, ///< WHERE of CREATE PUBLICATION, cast to boolean
};

/// A scalar expression over the columns of one table.
struct BoundExpression {
   ExprPtr expr;
   ColumnTable columns;
   std::vector<GetColumn> inputs; ///< a column for each attribute the expression reads
   bool callsMutable = false;     ///< a function of a user that is not IMMUTABLE
};

/// Binds an expression that may read the columns of `table` (null: none).
/// `target`: the result gets an assignment cast to this type. Without such a cast: 42804 `column "x" is of type integer
/// but default expression is of type text`, where x is `columnName`. A CHECK constraint is cast to boolean.
BoundExpression bindExpression(const ::Node& expression, ExpressionUse use, const catalog::Relation* table,
                               std::optional<SqlType> target, std::string_view columnName, const BindContext& context);

/// The sequence that a default of the form nextval('...') draws from; invalidOid for any other expression.
Oid sequenceOfDefault(const Expr& expression);
/// The relations of users that an expression names as constants of type regclass, each once.
std::vector<Oid> relationsIn(const Expr& expression, const catalog::Snapshot& catalog);

/// The default of a column as it stands in the catalog, cast to the column's type; NULL if it has none.
ExprPtr bindColumnDefault(const catalog::Relation& table, const catalog::Column& column, const BindContext& context);

/// 42704 `type "x" does not exist`, 42601 for modifiers a type does not take.
SqlType resolveTypeName(const ::TypeName& name, const BindContext& context);
/// As resolveTypeName() where the type gets values: a cast, a column, a parameter. Throws 0A000 for types that are not
/// built, whose names are fine elsewhere ('jsonb'::regtype).
SqlType resolveValueType(const ::TypeName& name, const BindContext& context);
/// The type of an OID as a client gives it: of a domain, or of an array of one, its base type with the domain.
SqlType typeOfOid(const catalog::Snapshot& catalog, Oid type);
/// The same with the collation that the definition names.
SqlType resolveColumnType(const ::ColumnDef& definition, const BindContext& context);
/// The type with the named collation. Throws 42704, 3F000 and 42804 at `position`.
SqlType collated(SqlType type, const ::List* collation, const catalog::Snapshot& catalog,
                 const catalog::SearchPath& path, uint32_t position);
/// The collation of an expression whose operands have different ones, so that it has none; no column may have it.
inline constexpr Oid conflictingCollation = 1;
/// Type by text as regtype, to_regtype and `format_type` users write it: "int4", "numeric(10,2)", "text[]".
SqlType resolveTypeText(std::string_view text, const BindContext& context);

/// The name in a FROM clause or utility statement, with its position.
catalog::QualifiedName qualifiedName(const ::RangeVar& name, const BindContext& context);

/// The name PostgreSQL gives an unnamed output expression: "sum", "?column?", "case". A function that a text of the
/// catalog names by its OID has the name that it has in `catalog`.
std::string outputName(const ::Node* expression, const catalog::Snapshot& catalog);

/// Cast `expr` for assignment to a column. Throws 42804 `column "x" is of type integer but expression is of type text`.
ExprPtr castForAssignment(ExprPtr expr, const SqlType& target, std::string_view columnName, const BindContext& context);

} // namespace ouzel::sql
