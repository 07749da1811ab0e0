#pragma once
#include <memory>
#include <vector>

#include "catalog/object/heirs.hpp"
#include "catalog/object/snapshot.hpp"
#include "sql/algebra/operators.hpp"

// The tables that hold the rows of a partitioned table or of a table from which others inherit. One scan reads them
// all, and one operator writes them all, so that a plan for a thousand partitions is as small as one for a table.

namespace ouzel::sql {

/// One table with rows.
struct TablePart {
   catalog::RelationPtr relation;
   catalog::AttributeMap attributes; ///< the whole table's attributes in it, those of TableParts::extra behind them
   std::string wrapper{};            ///< as TableRef::wrapper
   bool hasHandler = false;          ///< as TableRef::hasHandler

   /// Its own number of an attribute of the whole table; 0: it has none, and NULL is read.
   int16_t attributeOf(int16_t attribute) const {
      if (!attributes) return attribute;
      return static_cast<size_t>(attribute) > attributes->size() ? int16_t{0}
                                                                 : (*attributes)[static_cast<size_t>(attribute - 1)];
   }
};

/// A partitioned table in the tree of partitions.
struct PartitionNode {
   catalog::RelationPtr table;
   catalog::AttributeMap attributes; ///< of the whole table in it
   std::shared_ptr<const catalog::PartitionMap> map;
   struct Child {
      uint32_t first, end; ///< its parts
      int32_t node = -1;   ///< index into TableParts::nodes, if it is partitioned itself
   };
   std::vector<Child> children; ///< by partition of the map
   std::vector<int16_t> key;    ///< the attributes of the whole table that its partition key has, or KeyExpressions
};

/// An expression in a partition key. It stands among attributes with a number that no column has.
struct KeyExpression {
   static constexpr int16_t firstNumber = 20'000; ///< that of the first expression of TableParts
   static constexpr int16_t firstAbove = 25'000;  ///< and of BoundsAbove

   std::string text;
   SqlType type;
   std::vector<int16_t> reads; ///< attributes of the table of which it is a part
   ExprPtr expr{};             ///< bound, over columns whose ids are such attributes; null: not needed
};

/// Immutable; shared among plans and their copies.
struct TableParts {
   catalog::RelationPtr table;
   std::vector<TablePart> parts;     ///< partitions in the order of their bounds; a table with heirs comes first itself
   std::vector<PartitionNode> nodes; ///< [0] is the table; empty: it is not partitioned
   /// Columns that only some parts have, so that an UPDATE keeps them: attributes behind the table's own.
   struct Extra {
      uint32_t part;
      int16_t attribute; ///< of the part
   };
   std::vector<Extra> extra;
   std::vector<KeyExpression> expressions; ///< of the keys of `nodes`

   int16_t attributeOf(size_t extraIndex) const { return static_cast<int16_t>(table->columns.size() + extraIndex + 1); }
   /// The part that is this relation; -1: none.
   int32_t find(Oid relation) const;
};

/// TableRef::wrapper and hasHandler of a table.
void setWrapper(const catalog::Snapshot& catalog, const catalog::Relation& table, std::string& wrapper,
                bool& hasHandler);
/// The parts of a table; null if it has only its own rows. `withExtra`: list the columns that only parts have.
std::shared_ptr<const TableParts> partsOf(const catalog::Snapshot& catalog, const catalog::RelationPtr& table,
                                          bool withExtra);
/// ONLY: of a partitioned table no rows at all, of another one null.
std::shared_ptr<const TableParts> ownPartsOf(const catalog::RelationPtr& table);

/// The partitioned tables above a partition, which say what rows it takes.
struct BoundsAbove {
   struct Level {
      std::shared_ptr<const catalog::PartitionMap> map;
      std::vector<int16_t> key; ///< attributes of the partition
      int partition;            ///< of the map
   };
   std::vector<Level> levels; ///< the topmost first
   std::vector<KeyExpression> expressions;
};
/// Null for a table that is no partition.
std::shared_ptr<const BoundsAbove> boundsAbove(const catalog::Snapshot& catalog, const catalog::Relation& partition);

/// Whether both scan the same rows.
bool isSameTable(const TableRef& a, const TableRef& b);

/// Calls `visit(part)` with the TablePart of each table that the reference reads. REQUIRES: table.parts.
template <typename Visit>
void forEachPart(const TableRef& table, Visit&& visit) {
   if (!table.keptParts) {
      for (const TablePart& part : table.parts->parts)
         visit(part);
      return;
   }
   for (const uint32_t i : *table.keptParts)
      visit(table.parts->parts[i]);
}
/// Calls `visit(storageId)` for each stored table that the reference reads.
template <typename Visit>
void forEachStorage(const TableRef& table, Visit&& visit) {
   if (!table.parts) return visit(table.storageId);
   forEachPart(table, [&](const TablePart& part) {
      if (part.wrapper.empty()) visit(static_cast<uint64_t>(part.relation->storage));
   });
}
size_t partCount(const TableRef& table);
/// "3 of 12": those to read, and all.
std::string partsText(const TableRef& table);

} // namespace ouzel::sql
