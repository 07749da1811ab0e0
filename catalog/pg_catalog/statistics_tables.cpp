#include <algorithm>
#include <cmath>

#include "catalog/object/acl.hpp"
#include "catalog/object/row_security.hpp"
#include "catalog/pg_catalog/producers.hpp"
#include "catalog/pg_catalog/statistics_text.hpp"
#include "common/base_type/statistics_lists.hpp"
#include "common/type/array.hpp"

// pg_statistic and pg_stats, of the statistics that storage keeps. pg_statistic_ext, pg_statistic_ext_data,
// pg_stats_ext, pg_stats_ext_exprs: from the statistics of a snapshot.

namespace ouzel::catalog {

namespace {

/// An array of the values' letters, "char"[].
std::string letters(const std::string& kinds) {
   std::vector<Value> values;
   for (const char kind : kinds)
      values.push_back(Value::string(std::string(1, kind)));
   return makeArray(oid::character, values);
}

/// An array with a row for each common value and a column for each dimension.
template <typename ToValue>
std::string table(Oid elementType, const std::vector<StatisticsData::CommonValues>& common, const ToValue& toValue) {
   ArrayValue array;
   array.elementType = elementType;
   array.physical = arrayElementPhysical(elementType);
   array.dimensions = {{static_cast<int32_t>(common.size()), 1},
                       {static_cast<int32_t>(common.front().values.size()), 1}};
   for (const auto& entry : common)
      for (const StatisticsData::Datum& datum : entry.values)
         array.elements.push_back(toValue(datum));
   return makeArray(array);
}

Value textValue(const StatisticsData::Datum& datum) {
   return datum.isNull ? Value::null(PhysicalType::String) : Value::string(datum.text);
}

std::string numbers(Oid type, const std::vector<double>& values) {
   std::vector<Value> elements;
   for (const double value : values)
      elements.push_back(Value::real(type == oid::float4 ? PhysicalType::F32 : PhysicalType::F64, value));
   return makeArray(type, elements);
}

std::string mcvList(const std::vector<StatisticsData::CommonValues>& common) {
   std::vector<McvItem> items;
   for (const auto& entry : common) {
      McvItem& item = items.emplace_back();
      for (const StatisticsData::Datum& datum : entry.values)
         item.values.push_back(datum.isNull ? std::nullopt : std::optional(datum.text));
      item.frequency = entry.frequency;
      item.baseFrequency = entry.baseFrequency;
   }
   return mcvListBytes(items);
}

void extRows(const SystemContext& context, RowBuilder& row) {
   for (const StatisticsPtr& s : context.snapshot.allStatistics()) {
      row.oid(s->oid).oid(s->table).text(s->name).oid(s->schema).oid(s->owner).int4(s->target);
      row.int2Vector(s->columns).arrayBytes(letters(s->kinds));
      std::string expressions;
      for (const std::string& expression : s->expressions)
         expressions += (expressions.empty() ? "" : ", ") + expression;
      row.textOrNull(expressions).emit();
   }
}

void dataRows(const SystemContext& context, RowBuilder& row) {
   for (const StatisticsPtr& s : context.snapshot.allStatistics())
      for (const StatisticsData& data : s->data) {
         row.oid(s->oid).boolean(data.isInherited);
         data.distinctCounts.empty() ? row.null() : row.text(distinctCountsText(data));
         data.dependencies.empty() ? row.null() : row.text(dependenciesText(data));
         if (data.commonValues.empty())
            row.null();
         else
            row.text(mcvList(data.commonValues));
         row.null().emit(); // a list of rows of pg_statistic; pg_stats_ext_exprs shows what they have
      }
}

/// Calls `show` with statistics of which the role may see the values, their table and what ANALYZE found.
template <typename Show>
void forEachVisible(const SystemContext& context, const Show& show) {
   const Snapshot& snapshot = context.snapshot;
   const Oid role = context.state != nullptr ? context.state->role() : bootstrapRole;
   for (const StatisticsPtr& s : snapshot.allStatistics()) {
      const RelationPtr table = snapshot.relation(s->table);
      if (!table || !hasRole(snapshot, role, table->owner, "USAGE") || isRestricted(snapshot, role, *table)) continue;
      for (const StatisticsData& data : s->data)
         show(*s, *table, data);
   }
}

void names(const SystemContext& context, RowBuilder& row, const Statistics& s, const Relation& relation) {
   const auto schema = [&](Oid oid) {
      const SchemaPtr found = context.snapshot.schema(oid);
      return found ? found->name : std::string();
   };
   row.text(schema(relation.schema)).text(relation.name).text(schema(s.schema)).text(s.name);
   row.text(userName(context.snapshot, s.owner));
}

void statsRows(const SystemContext& context, RowBuilder& row) {
   const SearchPath path;
   forEachVisible(context, [&](const Statistics& s, const Relation& relation, const StatisticsData& data) {
      names(context, row, s, relation);
      std::vector<Value> columns;
      for (const int16_t attribute : s.columns)
         columns.push_back(Value::string(relation.columns[static_cast<size_t>(attribute) - 1].name));
      columns.empty() ? row.null() : row.arrayBytes(makeArray(oid::name, columns));
      const auto expressions = statisticsExpressions({context.snapshot, path}, s.oid);
      expressions.empty() ? row.null() : row.textArray(expressions);
      row.arrayBytes(letters(s.kinds)).boolean(data.isInherited);
      data.distinctCounts.empty() ? row.null() : row.text(distinctCountsText(data));
      data.dependencies.empty() ? row.null() : row.text(dependenciesText(data));
      if (data.commonValues.empty()) {
         row.nulls(4).emit();
         return;
      }
      std::vector<double> frequencies, base;
      for (const auto& entry : data.commonValues) {
         frequencies.push_back(entry.frequency);
         base.push_back(entry.baseFrequency);
      }
      row.arrayBytes(table(oid::text, data.commonValues, textValue));
      row.arrayBytes(table(oid::boolean, data.commonValues,
                           [](const StatisticsData::Datum& datum) { return Value::boolean(datum.isNull); }));
      row.arrayBytes(numbers(oid::float8, frequencies)).arrayBytes(numbers(oid::float8, base)).emit();
   });
}

void expressionRows(const SystemContext& context, RowBuilder& row) {
   const SearchPath path;
   forEachVisible(context, [&](const Statistics& s, const Relation& relation, const StatisticsData& data) {
      const auto texts = statisticsExpressions({context.snapshot, path}, s.oid);
      for (size_t i = 0; i < data.expressions.size() && i < texts.size(); ++i) {
         const StatisticsData::ExpressionValues& found = data.expressions[i];
         names(context, row, s, relation);
         row.text(texts[i]).boolean(data.isInherited).float4(found.nullFraction).int4(found.averageWidth);
         row.float4(found.distinct);
         std::vector<std::string> common;
         for (const StatisticsData::Datum& datum : found.commonValues)
            common.push_back(datum.text);
         common.empty() ? row.nulls(2)
                        : row.textArray(common).arrayBytes(numbers(oid::float4, found.commonFrequencies));
         found.histogram.empty() ? row.null() : row.textArray(found.histogram);
         found.correlation ? row.float4(*found.correlation) : row.null();
         row.nulls(3).emit();
      }
   });
}

/// What pg_statistic says of a column.
struct ColumnFacts {
   double nullFraction = 0, distinct = 0;
   int64_t width = 0;
};

ColumnFacts factsOf(const Column& column, const SystemState::TableValues::Column& known, double rows) {
   constexpr double share = 0.1;        // more distinct values are a share of the rows, as their number grows with them
   constexpr double uniqueShare = 0.97; // counts are estimates
   ColumnFacts facts{known.nullFraction, std::round(known.distinct), std::llround(known.averageWidth)};
   if (facts.distinct > share * rows) facts.distinct = -std::round(known.distinct / rows * 1e6) / 1e6;
   if (facts.distinct < -uniqueShare * (1 - known.nullFraction)) facts.distinct = known.nullFraction - 1;
   if (const auto declared = column.declaredDistinct(false)) facts.distinct = *declared;
   const TypeInfo* type = builtins().type(column.type.oid);
   if (type && type->length > 0)
      facts.width = type->length;
   else if (facts.width > 0)
      ++facts.width; // the byte with the length, of short values
   return facts;
}

/// Smaller tables have rows only after ANALYZE; larger ones would have been analyzed by PostgreSQL's autovacuum.
constexpr double rowsAnalyzedAnyway = 50;

/// Calls `use(relation, column, facts)` for each column of tables with rows.
template <typename Use>
void forEachColumnWithFacts(const SystemContext& context, std::string_view relationColumn, const Use& use) {
   if (!context.state) return;
   for (const RelationPtr& relation : ownRelations(context, relationColumn)) {
      if (relation->storage == noStorage || relation->index) continue;
      const SystemState::TableValues values = context.state->tableValues(relation->storage);
      if (values.rows < 1) continue;
      if (values.rows < rowsAnalyzedAnyway && !context.state->tableUse(relation->storage).analyzedAt) continue;
      for (const Column& column : relation->columns) {
         const auto index = static_cast<size_t>(column.attribute - 1);
         if (!column.isDropped && index < values.columns.size())
            use(*relation, column, factsOf(column, values.columns[index], values.rows));
      }
   }
}

/// Without common values, histograms and correlations: the optimizer reads samples instead, which are not shown.
void columnRows(const SystemContext& context, RowBuilder& row) {
   constexpr size_t slots = 5;
   forEachColumnWithFacts(
       context, "starelid", [&](const Relation& relation, const Column& column, const ColumnFacts& facts) {
          row.oid(relation.oid).int2(column.attribute).boolean(false).float4(facts.nullFraction).int4(facts.width);
          row.float4(facts.distinct);
          for (size_t i = 0; i < slots; ++i)
             row.int2(0);
          for (size_t i = 0; i < 2 * slots; ++i) // operators and collations
             row.oid(invalidOid);
          row.nulls(2 * slots).emit();
       });
}

void columnStatsRows(const SystemContext& context, RowBuilder& row) {
   forEachColumnWithFacts(context, {}, [&](const Relation& relation, const Column& column, const ColumnFacts& facts) {
      if (isRestricted(context.snapshot, context.state->role(), relation) ||
          !mayRead(context.snapshot, context.state->role(), relation, std::span(&column.attribute, 1)))
         return;
      row.text(context.snapshot.schema(relation.schema)->name).text(relation.name).text(column.name).boolean(false);
      row.float4(facts.nullFraction).int4(facts.width).float4(facts.distinct).nulls(7).emit();
   });
}

constexpr NamedProducer tables[] = {
    {"pg_statistic", columnRows},        {"pg_stats", columnStatsRows}, {"pg_statistic_ext", extRows},
    {"pg_statistic_ext_data", dataRows}, {"pg_stats_ext", statsRows},   {"pg_stats_ext_exprs", expressionRows},
};

} // namespace

std::span<const NamedProducer> statisticsProducers() {
   return tables;
}

} // namespace ouzel::catalog
