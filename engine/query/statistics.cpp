#include "engine/query/statistics.hpp"

#include <algorithm>

#include "catalog/object/system_relations.hpp"
#include "optimizer/query/extended_statistics.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/parser.hpp"
#include "storage/table/table.hpp"

namespace ouzel::engine {

namespace {

/// Whether `a` is below `b`, both not NULL and of one physical type.
bool isBelow(const Value& a, const Value& b) {
   switch (a.type) {
   case PhysicalType::F32:
   case PhysicalType::F64: return a.f64 < b.f64;
   case PhysicalType::I128: return a.i128 < b.i128;
   case PhysicalType::String: return a.bytes < b.bytes;
   default: return a.i64 < b.i64;
   }
}

/// Adds a part's rows to what is known of others. `isBounded`: whether bounds hold for all rows so far.
void addColumn(storage::ColumnStatistics& sum, double rowsBefore, const storage::ColumnStatistics& part, double rows,
               bool& isBounded) {
   const double all = rowsBefore + rows;
   if (all > 0) sum.nullFraction = (sum.nullFraction * rowsBefore + part.nullFraction * rows) / all;
   if (all > 0) sum.averageWidth = (sum.averageWidth * rowsBefore + part.averageWidth * rows) / all;
   const bool hasValues = rows > 0 && part.nullFraction < 1;
   const bool isNew = !sum.min || !part.min || isBelow(*sum.max, *part.min) || isBelow(*part.max, *sum.min);
   // Values of ranges that do not meet differ; of others some are the same.
   sum.distinct = isNew ? sum.distinct + part.distinct : std::max(sum.distinct, part.distinct);
   if (!hasValues) return;
   if (!part.min || !part.max) {
      isBounded = false;
      return;
   }
   if (!sum.min || isBelow(*part.min, *sum.min)) sum.min = part.min;
   if (!sum.max || isBelow(*sum.max, *part.max)) sum.max = part.max;
}

bool declaresDistinct(const catalog::Relation& table, bool withHeirs) {
   return std::any_of(table.columns.begin(), table.columns.end(),
                      [&](const catalog::Column& column) { return column.declaredDistinct(withHeirs).has_value(); });
}

/// ALTER COLUMN SET (n_distinct = ...) knows better.
void setDeclared(const catalog::Relation& table, bool withHeirs, storage::TableStatistics& statistics) {
   for (size_t i = 0; i < std::min(statistics.columns.size(), table.columns.size()); ++i)
      if (const auto declared = table.columns[i].declaredDistinct(withHeirs))
         statistics.columns[i].distinct =
             *declared < 0 ? -*declared * static_cast<double>(statistics.rowCount) : *declared;
}

/// The columns of an exclusion constraint whose operator is equality, by which its own checks look rows up.
std::vector<int16_t> equalColumns(const catalog::IndexDefinition& index) {
   std::vector<int16_t> equal;
   for (size_t i = 0; i < index.columns.size(); ++i)
      if (index.columns[i] != 0 && catalog::builtins().operatorByOid(index.operators[i])->name == "=")
         equal.push_back(index.columns[i]);
   return equal;
}

} // namespace

std::shared_ptr<const storage::TableStatistics> TableStatisticsProvider::statistics(const sql::TableRef& table) {
   if (!table.parts) {
      const auto found = storage_.find(static_cast<storage::StorageId>(table.storageId));
      if (!found) return nullptr;
      const auto known = found->statistics(snapshot_);
      const auto relation = catalog_.relation(table.relation);
      if (!known || !relation || !declaresDistinct(*relation, false)) return known;
      auto declared = std::make_shared<storage::TableStatistics>(*known);
      setDeclared(*relation, false, *declared);
      return declared;
   }
   for (const OfParts& known : ofParts_)
      if (known.parts == table.parts && known.kept == table.keptParts) return known.statistics;
   auto sum = std::make_shared<storage::TableStatistics>();
   sum->columns.resize(table.parts->table->columns.size());
   std::vector<bool> isBounded(sum->columns.size(), true);
   uint64_t sampleOf = 0;
   forEachPart(table, [&](const sql::TablePart& part) {
      const auto stored = storage_.find(part.relation->storage);
      const auto own = stored ? stored->statistics(snapshot_) : nullptr;
      if (!own) return;
      for (size_t i = 0; i < sum->columns.size(); ++i) {
         const int16_t attribute = part.attributeOf(static_cast<int16_t>(i + 1));
         if (attribute == 0 || static_cast<size_t>(attribute) > own->columns.size()) continue;
         bool bounded = isBounded[i];
         addColumn(sum->columns[i], static_cast<double>(sum->rowsStored),
                   own->columns[static_cast<size_t>(attribute - 1)], static_cast<double>(own->rowsStored), bounded);
         isBounded[i] = bounded;
      }
      sum->rowCount += own->rowCount;
      sum->rowsStored += own->rowsStored;
      sum->storedBytes += own->storedBytes;
      // The largest part stands for all.
      if (own->sample && !part.attributes && own->rowCount > sampleOf) {
         sampleOf = own->rowCount;
         sum->sample = own->sample;
      }
   });
   for (size_t i = 0; i < sum->columns.size(); ++i)
      if (!isBounded[i]) sum->columns[i].min = sum->columns[i].max = std::nullopt;
   setDeclared(*table.parts->table, true, *sum);
   ofParts_.push_back({table.parts, table.keptParts, sum});
   return sum;
}

std::vector<std::vector<int16_t>> TableStatisticsProvider::uniqueKeys(const sql::TableRef& table) {
   std::vector<std::vector<int16_t>> keys;
   if (table.parts && table.parts->nodes.empty()) return keys; // heirs have keys of their own
   const auto relation = catalog_.relation(table.relation);
   if (!relation) return keys;
   if (relation->relationKind == catalog::RelationKind::Virtual) return catalog::systemKeys(*relation);
   for (const catalog::Constraint& constraint : relation->constraints) {
      if (constraint.kind != catalog::ConstraintKind::PrimaryKey && constraint.kind != catalog::ConstraintKind::Unique)
         continue;
      if (constraint.isDeferrable) continue; // inside a transaction two rows may have one key
      // A unique constraint admits any number of rows with NULL keys.
      const bool allNotNull = std::all_of(constraint.columns.begin(), constraint.columns.end(), [&](int16_t attribute) {
         const catalog::Column* column = relation->column(attribute);
         return column && column->notNull;
      });
      if (allNotNull) keys.push_back(constraint.columns);
   }
   return keys;
}

double TableStatisticsProvider::virtualRows(const sql::TableRef& table) {
   const auto relation = catalog_.relation(table.relation);
   return relation ? catalog::expectedRows(*relation, catalog_) : 500;
}

namespace {

/// An expression of statistics over columns whose ids are attribute numbers; null if it cannot be bound.
sql::ExprPtr boundOverAttributes(const std::string& expression, const catalog::Relation& table,
                                 const catalog::Snapshot& catalog) {
   const catalog::SearchPath path = catalog::SearchPath::resolve(catalog, {}, {});
   const sql::BindContext context{.catalog = catalog, .searchPath = path, .format = {}};
   try {
      const auto script = sql::ParsedScript::parseExpression(expression);
      sql::BoundExpression bound =
          sql::bindExpression(*script.expression(), sql::ExpressionUse::Statistics, &table, std::nullopt, {}, context);
      sql::rewriteExpr(bound.expr, [&](sql::ExprPtr& node) {
         auto* column = node->getIf<sql::scalar::Column>();
         if (column) column->column = static_cast<sql::ColumnId>(bound.columns[column->column].attribute);
      });
      return std::move(bound.expr);
   } catch (const SqlError&) { // names a type that is not in this path, for example
      return nullptr;
   }
}

} // namespace

std::shared_ptr<const optimizer::ExtendedStatistics> TableStatisticsProvider::extended(const sql::TableRef& table) {
   const std::vector<catalog::StatisticsPtr> all = catalog_.statisticsOf(table.relation);
   const auto relation = all.empty() ? nullptr : catalog_.relation(table.relation);
   if (!relation) return nullptr;
   auto extended = std::make_shared<optimizer::ExtendedStatistics>();
   for (const catalog::StatisticsPtr& statistics : all)
      for (const catalog::StatisticsData& data : statistics->data) {
         if (data.isInherited != (table.parts != nullptr)) continue;
         optimizer::ExtendedStatistics::Object object{statistics, &data, {}};
         for (const std::string& expression : statistics->expressions)
            object.expressions.push_back(boundOverAttributes(expression, *relation, catalog_));
         extended->objects.push_back(std::move(object));
      }
   if (extended->objects.empty()) return nullptr;
   if (const auto stored = this->statistics(table)) extended->tableRows = static_cast<double>(stored->rowCount);
   return extended;
}

std::vector<sql::plan::IndexUse> TableStatisticsProvider::indexes(const sql::TableRef& table) {
   std::vector<sql::plan::IndexUse> result;
   for (const auto& index : catalog_.indexesOf(table.relation)) {
      if (index->index->operators.empty()) {
         try {
            result.push_back({index->index->columns, index->index->isUnique || index->index->isPrimary,
                              computed_.of(catalog_, index)});
         } catch (const SqlError&) { // a query does not fail for an index that it does not need
            continue;
         }
      } else if (std::vector<int16_t> equal = equalColumns(*index->index); !equal.empty()) {
         result.push_back({std::move(equal), false, nullptr});
      }
   }
   // The columns of foreign keys count as indexed, for referential actions; storage makes the index when it is first
   // used.
   if (const auto relation = catalog_.relation(table.relation))
      for (const catalog::Constraint& constraint : relation->constraints)
         if (constraint.kind == catalog::ConstraintKind::ForeignKey)
            result.push_back({constraint.columns, false, nullptr});
   std::stable_partition(result.begin(), result.end(), [](const auto& index) { return index.isUnique; });
   return result;
}

} // namespace ouzel::engine
