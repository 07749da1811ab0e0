#pragma once
#include <string>

#include "catalog/object/statistics.hpp"
#include "engine/query/command_context.hpp"

// CREATE, ALTER and DROP STATISTICS. engine/analyze has what ANALYZE does for them.

struct AlterStatsStmt;
struct CreateStatsStmt;
struct DropStmt;
struct List;
struct RenameStmt;

namespace ouzel::engine {

// create_statistics.cpp
std::string createStatistics(CommandContext& context, const ::CreateStatsStmt& statement);
/// LIKE INCLUDING STATISTICS: the statistics of a source for a new table. `numbers`: the attributes of the new table by
/// those of the source.
void copyStatistics(SessionCore& core, const catalog::Relation& source, const catalog::Relation& table,
                    const std::vector<int16_t>& numbers, bool withComments);
/// The statistics of a table after the type of a column has changed: their expressions are bound once more, and what
/// was found of the column is forgotten.
void retypeStatistics(SessionCore& core, const catalog::Relation& table, int16_t attribute);

// change_statistics.cpp
/// By name. Throws 42704 and 3F000, or says with IF EXISTS that it is skipped and gives null. `name`: a list of
/// strings.
catalog::StatisticsPtr findStatistics(SessionCore& core, const ::List* name, bool missingOk);
/// Throws 42501 `must be owner of statistics object x`.
void requireOwner(SessionCore& core, const catalog::Statistics& statistics);
std::string alterStatistics(CommandContext& context, const ::AlterStatsStmt& statement);
std::string dropStatistics(CommandContext& context, const ::DropStmt& statement);
void renameStatistics(SessionCore& core, const ::List* name, const char* newName);
void moveStatistics(SessionCore& core, const ::List* name, const char* schema);
void changeStatisticsOwner(SessionCore& core, const ::List* name, Oid owner);
/// REASSIGN OWNED and DROP OWNED.
void reassignStatistics(SessionCore& core, Oid from, Oid to);
void dropStatisticsOf(SessionCore& core, Oid role);

} // namespace ouzel::engine
