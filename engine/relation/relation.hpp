#pragma once
#include <functional>
#include <string>

#include "engine/query/command_context.hpp"

// Statements that make relations of queries or of other statements, and what is done to whole relations. One function
// for each kind of statement; it returns the command tag.

struct ClusterStmt;
struct CreateSchemaStmt;
struct CreateTableAsStmt;
struct RefreshMatViewStmt;
struct ReindexStmt;

namespace ouzel::engine {

// create_table_as.cpp
/// CREATE TABLE AS and SELECT INTO.
std::string createTableAs(CommandContext& context, const ::CreateTableAsStmt& statement);

// materialized_view.cpp
std::string createMaterializedView(CommandContext& context, const ::CreateTableAsStmt& statement);
std::string refreshMaterializedView(CommandContext& context, const ::RefreshMatViewStmt& statement);

// reindex.cpp
std::string reindex(CommandContext& context, const ::ReindexStmt& statement);
std::string cluster(CommandContext& context, const ::ClusterStmt& statement);

// on_commit.cpp
/// Empties and drops the temporary tables whose ON COMMIT says so. Called when a transaction is about to commit.
void endTemporaryRows(SessionCore& core);

// create_schema.cpp
/// Runs an element of CREATE SCHEMA, which is a statement of its own.
using ElementRunner = std::function<void(const sql::ParsedStatement& element)>;
std::string createSchema(CommandContext& context, const ::CreateSchemaStmt& statement, const ElementRunner& run);

} // namespace ouzel::engine
