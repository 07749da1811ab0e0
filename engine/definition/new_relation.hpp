#pragma once
#include "engine/definition/definition.hpp"
#include "sql/parse/node_access.hpp"

struct Node;
struct RangeVar;

namespace ouzel::engine {

/// The name and schema of a relation that CREATE is going to make.
struct NewRelation {
   catalog::QualifiedName name;
   Oid schema = invalidOid;
   bool isTemporary = false;
   bool isUnlogged = false; ///< UNLOGGED. The relation is kept like any other, and says what it was declared as
   bool exists = false;

   catalog::Persistence persistence() const {
      return isTemporary  ? catalog::Persistence::Temporary
             : isUnlogged ? catalog::Persistence::Unlogged
                          : catalog::Persistence::Permanent;
   }
};

/// The session's pg_temp_n has its number from here on.
void makeTemporarySchema(SessionCore& core);
/// Resolves the name of CREATE; makes the session's temporary schema for a temporary relation. Throws 42P16 at
/// `position` (1-based, 0: none) when a temporary relation names another schema.
NewRelation newRelation(CommandContext& context, const ::RangeVar& name, uint32_t position = 0);
/// Makes the storage of a draft's columns.
void makeStorage(SessionCore& core, catalog::Relation& draft);
/// Relation::onCommit of a new table. Throws 42P16 for ON COMMIT of a table that is not temporary.
char onCommitAction(::OnCommitAction action, const NewRelation& target);
/// True when IF NOT EXISTS is given and a relation of this name exists; then a notice tells the client.
bool skipsExisting(CommandContext& context, const NewRelation& target, bool ifNotExists);
/// Throws 42P07 if a relation of this name exists; of CREATE TABLE AS this error comes before those of its columns.
void requireAbsent(const NewRelation& target);

/// The access method of USING; null: the default. Throws 42704 and 42809 for what is no method of tables.
void requireTableMethod(const char* method);
/// pg_attribute.attndims: how many pairs of brackets the type's name has. Values may have other dimensions.
int16_t declaredDimensions(const ::ColumnDef& definition);

/// Throws 42704 if values of the type cannot be the keys of such an index: json has no order and no equality.
void requireKeyType(const SqlType& type, std::string_view method = "btree");

/// The text of a default, CHECK constraint or generation expression for the catalog, see sql::StoredExpression. `text`:
/// the expression, in the statement's source. REQUIRES: the expression was bound before, which has thrown its errors.
std::string storedText(CommandContext& context, const ::Node& expression, sql::ExpressionUse use,
                       const catalog::Relation* table, std::optional<SqlType> target, std::string_view text);
/// Whether the expression has the same value for the same row for ever.
bool isImmutable(const sql::Expr& expr);
/// Notes in the column which sequences its default needs.
void noteRelations(SessionCore& core, const sql::Expr& bound, catalog::Column& column);
/// Binds the expression of GENERATED ALWAYS AS ... STORED for `column` of `table`. Throws 42P17 unless it is immutable
/// and reads only columns that are not generated themselves. Errors have positions in `source`, none without it.
void requireGenerationExpression(SessionCore& core, const sql::SourceText* source, const ::Node& expression,
                                 const catalog::Relation& table, const catalog::Column& column);

} // namespace ouzel::engine
