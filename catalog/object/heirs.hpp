#pragma once
#include <memory>
#include <vector>

#include "catalog/object/objects.hpp"
#include "catalog/object/partition_map.hpp"

namespace ouzel::catalog {

/// The number of each attribute of a table in one of its heirs, by attribute - 1; 0: dropped. Null: the same.
using AttributeMap = std::shared_ptr<const std::vector<int16_t>>;

/// How the heir numbers the table's attributes.
AttributeMap attributesIn(const Relation& table, const Relation& heir);

/// The types of a partitioned table's key columns.
std::vector<SqlType> partitionKeyTypes(const Relation& table);

/// A table and how it numbers the attributes of its parent.
struct Heir {
   RelationPtr relation;
   AttributeMap attributes;
};

/// The tables that inherit from one table: the partitions of a partitioned table in the order of their bounds, other
/// heirs in the order of their OIDs.
struct HeirList {
   std::vector<Heir> heirs;
   std::shared_ptr<const PartitionMap> map; ///< of a partitioned table; its partitions are the indexes of `heirs`
};

} // namespace ouzel::catalog
