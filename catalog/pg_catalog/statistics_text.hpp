#pragma once
#include "catalog/object/statistics.hpp"
#include "catalog/pg_catalog/functions.hpp"

// Texts of extended statistics, as PostgreSQL prints them.

namespace ouzel::catalog {

/// pg_get_statisticsobjdef and pg_get_statisticsobjdef_columns; empty optional: there is no such object.
std::optional<std::string> statisticsDefinition(const NameContext& context, Oid statistics);
std::optional<std::string> statisticsColumns(const NameContext& context, Oid statistics);
/// pg_get_statisticsobjdef_expressions; empty: it has none.
std::vector<std::string> statisticsExpressions(const NameContext& context, Oid statistics);

/// The texts of pg_ndistinct and pg_dependencies: {"1, 2": 11}, {"1 => 2": 1.000000}.
std::string distinctCountsText(const StatisticsData& data);
std::string dependenciesText(const StatisticsData& data);

} // namespace ouzel::catalog
