#include "catalog/pg_catalog/statistics_text.hpp"

#include <cstdio>

namespace ouzel::catalog {

namespace {

std::string columnList(const NameContext& context, const Statistics& statistics) {
   const RelationPtr table = context.snapshot.relation(statistics.table);
   std::string list;
   const auto add = [&](const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
   for (const int16_t attribute : statistics.columns) {
      const Column* column = table ? table->column(attribute) : nullptr;
      add(column ? quoteIdentifier(column->name) : "?");
   }
   for (const std::string& expression : statistics.expressions)
      add(withRelationNames(context, expression));
   return list;
}

/// " (ndistinct)": the kinds, unless there are all.
std::string kindList(const Statistics& statistics) {
   if (statistics.dimensionCount() < 2 || (statistics.has('d') && statistics.has('f') && statistics.has('m')))
      return {};
   constexpr std::pair<char, const char*> names[] = {{'d', "ndistinct"}, {'f', "dependencies"}, {'m', "mcv"}};
   std::string list;
   for (const auto& [letter, name] : names)
      if (statistics.has(letter)) list += (list.empty() ? "" : ", ") + std::string(name);
   return " (" + list + ")";
}

std::string numbers(const std::vector<int16_t>& dimensions) {
   std::string list;
   for (const int16_t dimension : dimensions)
      list += (list.empty() ? "" : ", ") + std::to_string(dimension);
   return list;
}

std::string fixed(const char* format, double value) {
   char text[64];
   std::snprintf(text, sizeof text, format, value);
   return text;
}

} // namespace

std::optional<std::string> statisticsDefinition(const NameContext& context, Oid oid) {
   const StatisticsPtr statistics = context.snapshot.statistics(oid);
   if (!statistics) return std::nullopt;
   const SchemaPtr schema = context.snapshot.schema(statistics->schema);
   const RelationPtr table = context.snapshot.relation(statistics->table);
   return "CREATE STATISTICS " + (schema ? quoteIdentifier(schema->name) + "." : std::string()) +
          quoteIdentifier(statistics->name) + kindList(*statistics) + " ON " + columnList(context, *statistics) +
          " FROM " + (table ? displayName(context.snapshot, context.path, *table) : "?");
}

std::optional<std::string> statisticsColumns(const NameContext& context, Oid oid) {
   const StatisticsPtr statistics = context.snapshot.statistics(oid);
   return statistics ? std::optional(columnList(context, *statistics)) : std::nullopt;
}

std::vector<std::string> statisticsExpressions(const NameContext& context, Oid oid) {
   std::vector<std::string> texts;
   if (const StatisticsPtr statistics = context.snapshot.statistics(oid))
      for (const std::string& expression : statistics->expressions)
         texts.push_back(withRelationNames(context, expression));
   return texts;
}

std::string distinctCountsText(const StatisticsData& data) {
   std::string text;
   for (const auto& entry : data.distinctCounts)
      text += (text.empty() ? "{\"" : ", \"") + numbers(entry.dimensions) + "\": " + fixed("%.0f", entry.count);
   return text + "}";
}

std::string dependenciesText(const StatisticsData& data) {
   std::string text;
   for (const auto& entry : data.dependencies)
      text += (text.empty() ? "{\"" : ", \"") + numbers(entry.from) + " => " + std::to_string(entry.to) +
              "\": " + fixed("%f", entry.degree);
   return text + "}";
}

} // namespace ouzel::catalog
