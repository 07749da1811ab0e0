#pragma once
#include <string>
#include <vector>

#include "storage/base/ids.hpp"
#include "storage/table/local_writes.hpp"

namespace ouzel::storage {

/// The changes of one transaction as the log has them. Rows are named by the places they were given, so that replay
/// restores them under the same row ids.
struct CommitRecord {
   struct CreatedTable {
      StorageId id;
      std::vector<ColumnDefinition> columns;
   };
   struct AddedColumn {
      StorageId id;
      ColumnDefinition column;
   };
   /// Compaction: the live rows of the segments `retired`, a set, are from this commit on those of `blocks`.
   struct Rewrite {
      std::vector<SegmentId> retired;
      std::vector<LocalWrites::LoggedBlock> blocks;
   };
   struct TableWrites {
      StorageId id;
      std::vector<LocalWrites::LoggedRows> rows;
      std::vector<LocalWrites::LoggedBlock> blocks;
      std::vector<LocalWrites::LoggedDeletes> deletes; ///< also of rows of `rewrites`
      std::vector<Rewrite> rewrites{};
   };
   Oid nextOid = 0;
   uint64_t nextStorage = 0;
   SegmentId nextSegment = 0;
   std::vector<CreatedTable> created;
   std::vector<StorageId> dropped;
   std::vector<AddedColumn> added;
   std::vector<TableWrites> writes;
   std::string catalogChange;

   std::string serialize() const;
   /// Throws XX001.
   static CommitRecord deserialize(std::string_view bytes);
   /// At least the bytes serialize() will give.
   size_t sizeBound() const;
};

} // namespace ouzel::storage
