#pragma once
#include <string>
#include <vector>

#include "storage/base/ids.hpp"
#include "storage/table/local_writes.hpp"

namespace ouzel::storage {

/// What one transaction did, as the log has it. Rows are named by where they were placed, so that replay puts them back
/// under the same row ids.
struct CommitRecord {
   struct CreatedTable {
      StorageId id;
      std::vector<ColumnDefinition> columns;
   };
   struct AddedColumn {
      StorageId id;
      ColumnDefinition column;
   };
   /// Compaction: the rows that live in `retired`, a set, are from now on those of `blocks`.
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
