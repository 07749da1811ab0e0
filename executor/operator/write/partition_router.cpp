#include "executor/operator/write/partition_router.hpp"

#include <algorithm>

#include "catalog/pg_catalog/functions.hpp"
#include "common/number/scaled_value.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel::executor {

namespace {

/// The attributes that errors show of a node's key: the column itself in the place of its collation key.
std::vector<int16_t> shownOf(const sql::TableParts& parts, const sql::PartitionNode& node) {
   std::vector<int16_t> shown = node.key;
   for (size_t i = 0; i < shown.size(); ++i) {
      const bool isComputed = shown[i] >= sql::KeyExpression::firstNumber;
      if (isComputed && node.table->partitionKey->columns[i] != 0)
         shown[i] = parts.expressions[static_cast<size_t>(shown[i] - sql::KeyExpression::firstNumber)].reads.at(0);
   }
   return shown;
}

} // namespace

PartitionKeyReader::PartitionKeyReader(std::span<const int16_t> key, std::span<const WrittenColumn> columns,
                                       std::span<const int16_t> shown) {
   const auto columnOf = [&](int16_t attribute) {
      const auto found = std::find_if(columns.begin(), columns.end(),
                                      [&](const WrittenColumn& column) { return column.attribute == attribute; });
      DCHECK(found != columns.end());
      return *found;
   };
   for (const int16_t attribute : key)
      columns_.push_back(columnOf(attribute));
   for (const int16_t attribute : shown)
      shown_.push_back(columnOf(attribute));
}

void PartitionKeyReader::read(const Batch& batch, uint32_t row, std::vector<Value>& values) const {
   values.clear();
   for (const WrittenColumn& column : columns_)
      values.push_back(
          withOwnScale(Value::fromVector(batch.columns[column.slot], row), column.type.oid, column.representation));
}

std::string PartitionKeyReader::text(const Batch& batch, uint32_t row, const catalog::Relation& named,
                                     const SessionFormat& format) const {
   std::string names, values;
   for (size_t i = 0; i < shown_.size(); ++i) {
      const char* separator = i ? ", " : "";
      names += separator + catalog::partitionColumnText(named, i);
      values += separator;
      const Vector& column = batch.columns[shown_[i].slot];
      if (column.isNull(row)) {
         values += "null";
         continue;
      }
      const auto* value =
          static_cast<const char*>(column.data) + size_t{column.positionOf(row)} * physicalSize(column.type);
      appendText(values, shown_[i].type, shown_[i].representation, value, format);
   }
   return "(" + names + ") = (" + values + ")";
}

PartitionRouter::PartitionRouter(std::shared_ptr<const sql::TableParts> parts, std::span<const WrittenColumn> columns)
   : parts_(std::move(parts)) {
   for (const sql::PartitionNode& node : parts_->nodes)
      readers_.emplace_back(node.key, columns, shownOf(*parts_, node));
}

uint32_t PartitionRouter::find(const Batch& batch, uint32_t row, std::vector<Value>& values) const {
   for (int32_t at = 0;;) {
      const sql::PartitionNode& node = parts_->nodes[static_cast<size_t>(at)];
      readers_[static_cast<size_t>(at)].read(batch, row, values);
      const int partition = node.map->find(values);
      if (partition == catalog::PartitionMap::none) return none;
      const sql::PartitionNode::Child& child = node.children[static_cast<size_t>(partition)];
      if (child.node < 0) return child.first;
      at = child.node;
   }
}

SqlError PartitionRouter::missing(const Batch& batch, uint32_t row, const SessionFormat& format,
                                  const catalog::Snapshot* catalog) const {
   std::vector<Value> values;
   size_t at = 0;
   for (;;) {
      readers_[at].read(batch, row, values);
      const sql::PartitionNode& node = parts_->nodes[at];
      const int partition = node.map->find(values);
      if (partition == catalog::PartitionMap::none) break;
      at = static_cast<size_t>(node.children[static_cast<size_t>(partition)].node);
   }
   const catalog::Relation& table = *parts_->nodes[at].table;
   const catalog::SchemaPtr schema = catalog ? catalog->schema(table.schema) : nullptr;
   return SqlError(sqlstate::checkViolation, "no partition of relation \"" + table.name + "\" found for row")
       .detail("Partition key of the failing row contains " + readers_[at].text(batch, row, table, format) + ".")
       .table(schema ? schema->name : std::string(), table.name);
}

TargetBounds::TargetBounds(std::shared_ptr<const sql::BoundsAbove> bounds, std::span<const WrittenColumn> columns)
   : bounds_(std::move(bounds)) {
   for (const sql::BoundsAbove::Level& level : bounds_->levels)
      readers_.emplace_back(level.key, columns, level.key);
}

bool TargetBounds::hold(const Batch& batch, uint32_t row, std::vector<Value>& values) const {
   for (size_t i = 0; i < readers_.size(); ++i) {
      readers_[i].read(batch, row, values);
      if (bounds_->levels[i].map->find(values) != bounds_->levels[i].partition) return false;
   }
   return true;
}

} // namespace ouzel::executor
