#include "catalog/object/snapshot.hpp"
#include "executor/function/context.hpp"
#include "executor/function/table/table_function_rows.hpp"

// pg_partition_tree() and pg_partition_ancestors(), of tables and of indexes.

namespace ouzel::executor {

namespace {

struct TreeRow {
   Oid relation, parent;
   bool isLeaf;
   int32_t level;
};

/// The relation above a partition or an index of one; null: there is none.
catalog::RelationPtr above(const catalog::Snapshot& snapshot, const catalog::Relation& relation) {
   if (relation.index)
      return relation.index->parentIndex == invalidOid ? nullptr : snapshot.relation(relation.index->parentIndex);
   return relation.isPartition() ? snapshot.relation(relation.parents[0]) : nullptr;
}

bool isInTree(const catalog::Relation& relation) {
   if (relation.index) return relation.index->isPartitioned || relation.index->parentIndex != invalidOid;
   return relation.partitionKey || relation.isPartition();
}

std::vector<Oid> below(const catalog::Snapshot& snapshot, const catalog::Relation& relation) {
   if (!relation.index) return snapshot.heirOids(relation.oid);
   std::vector<Oid> parts;
   for (const Oid partition : snapshot.heirOids(relation.index->table))
      for (const catalog::RelationPtr& index : snapshot.indexesOf(partition))
         if (index->index->parentIndex == relation.oid) parts.push_back(index->oid);
   return parts;
}

class PartitionRows final : public TableFunction {
public:
   PartitionRows(std::vector<Representation> columns, FunctionContext& context, Reservation& memory, bool isTree)
      : context_(context), out_(std::move(columns), memory), isTree_(isTree) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      const RowCall call{args, row};
      rows_.clear();
      next_ = 0;
      if (call.isNull(0)) return;
      if (!context_.catalog) throwInternal("no catalog to look partitions up in");
      const catalog::Snapshot& snapshot = *context_.catalog;
      const auto named = snapshot.relation(static_cast<Oid>(Value::fromVector(args[0], row).i64));
      if (!named || !isInTree(*named)) return;
      if (!isTree_) {
         for (catalog::RelationPtr at = named; at; at = above(snapshot, *at))
            rows_.push_back({at->oid, invalidOid, false, 0});
         return;
      }
      const catalog::RelationPtr parent = above(snapshot, *named);
      rows_.push_back({named->oid, parent ? parent->oid : invalidOid, isLeaf(*named), 0});
      for (size_t i = 0; i < rows_.size(); ++i) {
         const TreeRow at = rows_[i];
         for (const Oid oid : below(snapshot, *snapshot.relation(at.relation)))
            rows_.push_back({oid, at.relation, isLeaf(*snapshot.relation(oid)), at.level + 1});
      }
   }

   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      for (; next_ < rows_.size() && out_.rowCount() < rowsMax; ++next_) {
         const TreeRow& row = rows_[next_];
         addOid(row.relation);
         if (!isTree_) continue;
         if (row.parent == invalidOid)
            out_.addNull();
         else
            addOid(row.parent);
         out_.add(row.isLeaf);
         out_.add(row.level);
      }
      out_.give(columns);
      return out_.rowCount();
   }

private:
   static bool isLeaf(const catalog::Relation& relation) {
      return relation.index ? !relation.index->isPartitioned : !relation.partitionKey.has_value();
   }
   void addOid(Oid oid) {
      const int64_t value = oid;
      out_.add(PhysicalType::I64, &value);
   }

   FunctionContext& context_;
   RowWriter out_;
   const bool isTree_;
   std::vector<TreeRow> rows_;
   size_t next_ = 0;
};

} // namespace

std::unique_ptr<TableFunction> makePartitionRows(TableFunctionSignature& signature, FunctionContext& context,
                                                 Reservation& memory) {
   const std::string_view source = signature.function->source;
   if (source != "pg_partition_tree" && source != "pg_partition_ancestors") return nullptr;
   return std::make_unique<PartitionRows>(signature.resultReprs, context, memory, source == "pg_partition_tree");
}

} // namespace ouzel::executor
