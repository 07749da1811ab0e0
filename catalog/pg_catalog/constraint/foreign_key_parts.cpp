#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "catalog/object/heirs.hpp"
#include "catalog/object/object_name.hpp"

namespace ouzel::catalog {

namespace {

constexpr Oid partBit = 0x8000'0000; ///< no constraint of a table has it

/// The OID of a part, made of those of the key and of the partition: it stays as long as these are there.
constexpr Oid partOf(Oid constraint, Oid partition) {
   uint64_t mixed = (uint64_t{constraint} << 32 | partition) * 0x9e3779b97f4a7c15;
   mixed ^= mixed >> 29;
   mixed *= 0xbf58476d1ce4e5b9;
   return static_cast<Oid>(mixed >> 32) | partBit;
}

/// Whether the constraint has parts: that of a partition has none, its parent's has them.
bool hasParts(const Snapshot& snapshot, const Constraint& constraint) {
   if (constraint.kind != ConstraintKind::ForeignKey || constraint.parentConstraint != invalidOid) return false;
   const RelationPtr referenced = snapshot.relation(constraint.foreignRelation);
   return referenced && referenced->partitionKey;
}

std::vector<Oid> partitionsOf(const Snapshot& snapshot, Oid table) {
   std::vector<Oid> all = snapshot.allHeirOids(table);
   std::sort(all.begin(), all.end());
   return all;
}

/// The partition's columns for those of a table above it.
std::vector<int16_t> columnsIn(const Snapshot& snapshot, Oid table, const Relation& partition,
                               const std::vector<int16_t>& columns) {
   if (partition.oid == table || !partition.isPartition()) return columns;
   const RelationPtr above = snapshot.relation(partition.parents[0]);
   std::vector<int16_t> own = columnsIn(snapshot, table, *above, columns);
   if (const AttributeMap attributes = attributesIn(*above, partition))
      for (int16_t& attribute : own)
         attribute = (*attributes)[static_cast<size_t>(attribute - 1)];
   return own;
}

/// The partition's part of an index of a table above it.
Oid indexIn(const Snapshot& snapshot, Oid table, const Relation& partition, Oid index) {
   if (partition.oid == table || !partition.isPartition()) return index;
   const Oid above = indexIn(snapshot, table, *snapshot.relation(partition.parents[0]), index);
   for (const RelationPtr& own : snapshot.indexesOf(partition.oid))
      if (own->index->parentIndex == above) return own->oid;
   return invalidOid;
}

/// Names as PostgreSQL chooses them: of the table, the columns and a number.
class FreeNames {
public:
   explicit FreeNames(const Relation& table) : table_(table) {
      for (const Constraint& constraint : table.constraints)
         taken_.insert(constraint.name);
   }
   std::string next(const Constraint& constraint) {
      std::string columns;
      for (const int16_t attribute : constraint.columns)
         columns += (columns.empty() ? "" : "_") + table_.column(attribute)->name;
      for (size_t& number = numbers_[columns];;) {
         std::string name =
             joinedName(table_.name, columns, "fkey" + (number > 0 ? std::to_string(number) : std::string()));
         ++number;
         if (taken_.insert(name).second) return name;
      }
   }

private:
   const Relation& table_;
   std::set<std::string> taken_;
   std::map<std::string, size_t> numbers_; ///< of the next name, by columns
};

/// What tells a part from the others.
struct PartIdentity {
   const Constraint& constraint; ///< the whole key
   Oid partition;
   std::string name;
   Oid oid() const { return partOf(constraint.oid, partition); }
};

/// Calls `body(identity)` for the parts of the table's keys until it returns false.
template <typename Body>
void forEachPart(const Snapshot& snapshot, const Relation& table, Body body) {
   FreeNames names(table);
   for (const Constraint& constraint : table.constraints) {
      if (!hasParts(snapshot, constraint)) continue;
      for (const Oid partition : partitionsOf(snapshot, constraint.foreignRelation))
         if (!body(PartIdentity{constraint, partition, names.next(constraint)})) return;
   }
}

Constraint makePart(const Snapshot& snapshot, const PartIdentity& identity) {
   const Constraint& whole = identity.constraint;
   const RelationPtr partition = snapshot.relation(identity.partition);
   const Oid above = partition->parents[0];
   Constraint part = whole;
   part.oid = identity.oid();
   part.name = identity.name;
   part.foreignRelation = identity.partition;
   part.foreignColumns = columnsIn(snapshot, whole.foreignRelation, *partition, whole.foreignColumns);
   part.referencedIndex = indexIn(snapshot, whole.foreignRelation, *partition, whole.referencedIndex);
   part.parentConstraint = above == whole.foreignRelation ? whole.oid : partOf(whole.oid, above);
   part.parentCount = 1;
   part.isLocal = false;
   return part;
}

} // namespace

std::vector<Constraint> foreignKeyParts(const Snapshot& snapshot, const Relation& table) {
   std::vector<Constraint> parts;
   forEachPart(snapshot, table, [&](const PartIdentity& identity) {
      parts.push_back(makePart(snapshot, identity));
      return true;
   });
   return parts;
}

std::string partName(const Snapshot& snapshot, const Relation& table, const Constraint& constraint, Oid partition) {
   std::string name = constraint.name;
   forEachPart(snapshot, table, [&](const PartIdentity& identity) {
      const bool isFound = identity.constraint.oid == constraint.oid && identity.partition == partition;
      if (isFound) name = identity.name;
      return !isFound;
   });
   return name;
}

std::vector<Oid> partitionsReferenced(const Snapshot& snapshot, const Relation& table) {
   std::vector<Oid> all;
   for (const Constraint& constraint : table.constraints)
      if (hasParts(snapshot, constraint)) {
         const std::vector<Oid> some = partitionsOf(snapshot, constraint.foreignRelation);
         all.insert(all.end(), some.begin(), some.end());
      }
   return all;
}

FoundConstraint findConstraint(const Snapshot& snapshot, Oid oid) {
   if ((oid & partBit) == 0) {
      const auto [relation, constraint] = snapshot.constraint(oid);
      return {relation, constraint ? std::optional(*constraint) : std::nullopt};
   }
   for (const RelationPtr& table : snapshot.relations())
      for (const Constraint& constraint : table->constraints) {
         if (!hasParts(snapshot, constraint)) continue;
         const std::vector<Oid> partitions = partitionsOf(snapshot, constraint.foreignRelation);
         if (std::none_of(partitions.begin(), partitions.end(),
                          [&](Oid partition) { return partOf(constraint.oid, partition) == oid; }))
            continue;
         std::optional<Constraint> found;
         forEachPart(snapshot, *table, [&](const PartIdentity& identity) {
            if (identity.oid() == oid) found = makePart(snapshot, identity);
            return !found;
         });
         return {table, std::move(found)};
      }
   return {};
}

} // namespace ouzel::catalog
