#pragma once
#include "engine/definition/definition.hpp"

// What ALTER TABLE declares of a table or column and nothing in the engine depends on: statistics targets, storage,
// compression, tablespaces, triggers where there are none. It is checked as PostgreSQL does, and
// not kept. One function for each sub-command.

namespace ouzel::engine {

/// ALTER COLUMN SET (...) and RESET (...).
void setColumnOptions(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
void setStatistics(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
/// The target that the sub-command gives. Throws 22023 for one that cannot be.
int32_t checkStatisticsTarget(SessionCore& core, const ::AlterTableCmd& command);
void setStorage(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
void setCompression(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
/// DROP EXPRESSION: the column keeps its values and is no longer computed.
void dropExpression(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
/// The sub-commands that concern the whole table. Throws 0A000 for those that are not built.
void declareForTable(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);

/// pg_attribute.attcompression. Throws 0A000 for a type whose values are never long, 22023 for a method that there is
/// not.
char compressionNamed(const SqlType& type, std::string_view name);

} // namespace ouzel::engine
