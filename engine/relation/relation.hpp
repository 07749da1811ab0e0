#pragma once
#include <functional>
#include <string>

#include "engine/query/command_context.hpp"
#include "engine/relation/query_rows.hpp"

// Statements that make relations of queries or of other statements, and what is done to whole relations. One function
// for each kind of statement; it returns the command tag.

struct ClusterStmt;
struct CreateSchemaStmt;
struct CreateTableAsStmt;
struct DefElem;
struct RangeVar;
struct RefreshMatViewStmt;
struct ReindexStmt;

namespace ouzel::engine {

// create_table_as.cpp
/// CREATE TABLE AS and SELECT INTO. Without rows, or when it skips a relation that exists, nothing is watched.
std::string createTableAs(CommandContext& context, const ::CreateTableAsStmt& statement,
                          const ExecutionWatch& watch = nullptr);
/// Whether IF NOT EXISTS lets the statement do nothing. Throws 42P07 if the relation exists otherwise.
bool skipsCreation(CommandContext& context, const ::CreateTableAsStmt& statement);

// materialized_view.cpp
std::string createMaterializedView(CommandContext& context, const ::CreateTableAsStmt& statement,
                                   const ExecutionWatch& watch);
std::string refreshMaterializedView(CommandContext& context, const ::RefreshMatViewStmt& statement);

// reindex.cpp
std::string reindex(CommandContext& context, const ::ReindexStmt& statement);
/// The value of an option in parentheses that is a switch. Throws 42601.
bool isSwitchedOn(const ::DefElem& option);
/// The table or materialized view of this name. Throws 42809 if it is something else, 42501 if the role does not own
/// it.
catalog::RelationPtr requireTableToOwn(CommandContext& context, const ::RangeVar& name);

// cluster.cpp
std::string cluster(CommandContext& context, const ::ClusterStmt& statement);

// on_commit.cpp
/// Empties and drops the temporary tables whose ON COMMIT says so. Called when a transaction is about to commit.
void endTemporaryRows(SessionCore& core);

// create_schema.cpp
/// Runs an element of CREATE SCHEMA, which is a statement of its own.
using ElementRunner = std::function<void(const sql::ParsedStatement& element)>;
std::string createSchema(CommandContext& context, const ::CreateSchemaStmt& statement, const ElementRunner& run);

} // namespace ouzel::engine
