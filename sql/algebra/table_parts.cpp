#include "sql/algebra/table_parts.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/collation.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::sql {

namespace {

using catalog::AttributeMap;

/// The numbers in a table two levels below: `outer` leads to the table between, `inner` from there.
AttributeMap composed(const AttributeMap& outer, const AttributeMap& inner) {
   if (!outer) return inner;
   if (!inner) return outer;
   std::vector<int16_t> result = *outer;
   for (int16_t& attribute : result)
      if (attribute != 0) attribute = (*inner)[static_cast<size_t>(attribute - 1)];
   return std::make_shared<const std::vector<int16_t>>(std::move(result));
}

/// What is computed of rows for column `i` of the table's partition key; `expression`: the number of the next one that
/// the key has. Empty: nothing, the column itself is compared with the bounds.
std::optional<KeyExpression> computedKey(const catalog::Snapshot& catalog, const catalog::Relation& table, size_t i,
                                         size_t& expression) {
   const catalog::PartitionKey& key = *table.partitionKey;
   const int16_t own = key.columns[i];
   KeyExpression computed;
   if (own == 0) {
      computed = {key.expressions.at(expression), key.types.at(expression), key.reads};
      ++expression;
   }
   const auto collation = catalog::boundCollation(catalog, table, i);
   if (!collation) return own == 0 ? std::optional(std::move(computed)) : std::nullopt;
   if (own != 0) {
      const catalog::Column& column = *table.column(own);
      computed = {catalog::quoteIdentifier(column.name), column.type, {own}};
   }
   const bool isArray = catalog::builtins().isArray(computed.type.oid);
   std::string locale;
   for (const char c : collation->icuLocale)
      locale.append(c == '\'' ? 2 : 1, c);
   computed.text = std::string("pg_catalog.ouzel_collation_key") + (isArray ? "s" : "") + "(" + computed.text + ", '" +
                   locale + "', " + (collation->isDeterministic ? "true" : "false") + ")";
   computed.type = {isArray ? oid::textArray : oid::text, -1, invalidOid};
   return computed;
}

class PartsBuilder {
public:
   PartsBuilder(const catalog::Snapshot& catalog, TableParts& parts) : catalog_(catalog), parts_(parts) {}

   /// Adds a partitioned table with all that is below it; returns its node.
   int32_t addPartitioned(const catalog::RelationPtr& table, const AttributeMap& attributes) {
      checkStack();
      const auto index = parts_.nodes.size();
      parts_.nodes.emplace_back();
      PartitionNode node;
      node.table = table;
      node.attributes = attributes;
      size_t expression = 0;
      for (size_t i = 0; i < table->partitionKey->columns.size(); ++i) {
         auto computed = computedKey(catalog_, *table, i, expression);
         if (!computed) {
            node.key.push_back(attributeAbove(attributes, table->partitionKey->columns[i]));
            continue;
         }
         for (int16_t& read : computed->reads)
            read = attributeAbove(attributes, read);
         node.key.push_back(static_cast<int16_t>(KeyExpression::firstNumber + parts_.expressions.size()));
         parts_.expressions.push_back(std::move(*computed));
      }
      if (const auto list = catalog_.heirs(table->oid)) {
         node.map = list->map;
         for (const catalog::Heir& heir : list->heirs) {
            PartitionNode::Child child{static_cast<uint32_t>(parts_.parts.size()), 0};
            const AttributeMap below = composed(attributes, heir.attributes);
            if (heir.relation->partitionKey)
               child.node = addPartitioned(heir.relation, below);
            else
               addPart(heir.relation, below);
            child.end = static_cast<uint32_t>(parts_.parts.size());
            node.children.push_back(child);
         }
      } else {
         node.map =
             std::make_shared<const catalog::PartitionMap>(*table->partitionKey, catalog::boundTypes(catalog_, *table),
                                                           std::span<const catalog::PartitionBound* const>());
      }
      parts_.nodes[index] = std::move(node);
      return static_cast<int32_t>(index);
   }

   /// Adds a table and all that inherits from it, level by level, each once.
   void addHeirs(const catalog::RelationPtr& table) {
      std::set<Oid> seen{table->oid};
      addPart(table, nullptr);
      for (size_t i = 0; i < parts_.parts.size(); ++i) {
         const TablePart above = parts_.parts[i];
         const auto list = catalog_.heirs(above.relation->oid);
         if (!list) continue;
         for (const catalog::Heir& heir : list->heirs)
            if (seen.insert(heir.relation->oid).second)
               addPart(heir.relation, composed(above.attributes, heir.attributes));
      }
   }

   void listExtra() {
      const auto own = parts_.table->columns.size();
      for (uint32_t i = 0; i < parts_.parts.size(); ++i) {
         TablePart& part = parts_.parts[i];
         if (!part.attributes) continue;
         for (const catalog::Column& column : part.relation->columns)
            if (!column.isDropped &&
                std::find(part.attributes->begin(), part.attributes->end(), column.attribute) == part.attributes->end())
               parts_.extra.push_back({i, column.attribute});
      }
      if (parts_.extra.empty()) return;
      for (uint32_t i = 0; i < parts_.parts.size(); ++i) {
         std::vector<int16_t> attributes(own + parts_.extra.size());
         for (size_t k = 0; k < own; ++k)
            attributes[k] = parts_.parts[i].attributeOf(static_cast<int16_t>(k + 1));
         for (size_t k = 0; k < parts_.extra.size(); ++k)
            if (parts_.extra[k].part == i) attributes[own + k] = parts_.extra[k].attribute;
         parts_.parts[i].attributes = std::make_shared<const std::vector<int16_t>>(std::move(attributes));
      }
   }

private:
   void addPart(const catalog::RelationPtr& relation, AttributeMap attributes) {
      TablePart& part = parts_.parts.emplace_back(TablePart{relation, std::move(attributes)});
      setWrapper(catalog_, *relation, part.wrapper, part.hasHandler);
   }
   static int16_t attributeAbove(const AttributeMap& attributes, int16_t own) {
      if (!attributes) return own;
      const auto found = std::find(attributes->begin(), attributes->end(), own);
      return static_cast<int16_t>(found - attributes->begin() + 1);
   }

   const catalog::Snapshot& catalog_;
   TableParts& parts_;
};

} // namespace

void setWrapper(const catalog::Snapshot& catalog, const catalog::Relation& table, std::string& wrapper,
                bool& hasHandler) {
   if (!table.foreign) return;
   const catalog::ForeignWrapperPtr found = catalog::wrapperOf(catalog, *table.foreign);
   wrapper = found->name;
   hasHandler = found->handler != invalidOid;
}

int32_t TableParts::find(Oid relation) const {
   const auto found =
       std::find_if(parts.begin(), parts.end(), [&](const TablePart& part) { return part.relation->oid == relation; });
   return found == parts.end() ? -1 : static_cast<int32_t>(found - parts.begin());
}

std::shared_ptr<const TableParts> partsOf(const catalog::Snapshot& catalog, const catalog::RelationPtr& table,
                                          bool withExtra) {
   if (!table->partitionKey && catalog.heirOids(table->oid).empty()) return nullptr;
   auto parts = std::make_shared<TableParts>();
   parts->table = table;
   PartsBuilder builder(catalog, *parts);
   if (table->partitionKey) {
      builder.addPartitioned(table, nullptr);
   } else {
      builder.addHeirs(table);
      if (withExtra) builder.listExtra();
   }
   return parts;
}

std::shared_ptr<const TableParts> ownPartsOf(const catalog::RelationPtr& table) {
   if (!table->partitionKey) return nullptr;
   auto parts = std::make_shared<TableParts>();
   parts->table = table;
   return parts;
}

std::shared_ptr<const BoundsAbove> boundsAbove(const catalog::Snapshot& catalog, const catalog::Relation& partition) {
   if (!partition.isPartition()) return nullptr;
   auto bounds = std::make_shared<BoundsAbove>();
   AttributeMap attributes; // of the table above in the partition
   for (const catalog::Relation* at = &partition; at->isPartition();) {
      const catalog::RelationPtr above = catalog.relation(at->parents[0]);
      const auto list = above ? catalog.heirs(above->oid) : nullptr;
      if (!list || !list->map) break;
      BoundsAbove::Level level;
      level.map = list->map;
      level.partition = catalog::PartitionMap::none;
      for (size_t i = 0; i < list->heirs.size(); ++i)
         if (list->heirs[i].relation->oid == at->oid) {
            level.partition = static_cast<int>(i);
            attributes = composed(list->heirs[i].attributes, attributes);
         }
      size_t expression = 0;
      for (size_t i = 0; i < above->partitionKey->columns.size(); ++i) {
         auto computed = computedKey(catalog, *above, i, expression);
         if (!computed) {
            const int16_t attribute = above->partitionKey->columns[i];
            level.key.push_back(attributes ? (*attributes)[static_cast<size_t>(attribute - 1)] : attribute);
            continue;
         }
         level.key.push_back(static_cast<int16_t>(KeyExpression::firstAbove + bounds->expressions.size()));
         bounds->expressions.push_back(std::move(*computed));
      }
      bounds->levels.insert(bounds->levels.begin(), std::move(level));
      at = above.get();
   }
   return bounds;
}

bool isSameTable(const TableRef& a, const TableRef& b) {
   if (a.relation != b.relation || a.storageId != b.storageId || a.external != b.external) return false;
   if (!a.parts != !b.parts) return false;
   if (!a.parts || (a.parts == b.parts && a.keptParts == b.keptParts)) return true;
   // One bound with ONLY has fewer parts than one without.
   if (a.parts->parts.size() != b.parts->parts.size() || !a.keptParts != !b.keptParts) return false;
   return !a.keptParts || *a.keptParts == *b.keptParts;
}

std::string partsText(const TableRef& table) {
   return std::to_string(partCount(table)) + " of " + std::to_string(table.parts->parts.size());
}

size_t partCount(const TableRef& table) {
   return !table.parts ? 1 : table.keptParts ? table.keptParts->size() : table.parts->parts.size();
}

} // namespace ouzel::sql
