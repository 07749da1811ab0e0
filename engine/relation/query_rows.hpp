#pragma once
#include <vector>

#include "engine/query/command_context.hpp"
#include "engine/query/statement_runner.hpp"

// Relations that a query makes: CREATE TABLE AS, materialized views.

struct List;

namespace ouzel::engine {

/// Columns for the output of a query; `names` are given, the others are the query's.
std::vector<catalog::Column> columnsFor(SessionCore& core, const sql::BoundQuery& query, const ::List* names);
/// Runs the query into the empty storage of a relation and returns the number of rows. With `watch` the execution is
/// profiled.
uint64_t storeRows(SessionCore& core, sql::BoundQuery query, const catalog::Relation& target,
                   const ExecutionWatch& watch = nullptr);

} // namespace ouzel::engine
