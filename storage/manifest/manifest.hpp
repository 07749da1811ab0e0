#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/object_store/object_store.hpp"
#include "storage/base/ids.hpp"
#include "storage/wal/log.hpp"

// Names in the store. All are written once:
//   manifest/<16 hex digits of ~version>         the newest sorts first; put-if-absent commits a state of the database
//   catalog/<object>                             the catalog's image
//   table/<storage id>/list-of-headers/<object>  ListOfHeaders
//   table/<storage id>/header/<object>           headers of the blocks new in that version, one after the other
//   table/<storage id>/delete/<object>           DeletedRows
//   table/<storage id>/block/<segment>-<tag>-<n> blocks
// where <object> is <version>-<tag>-<n>, tag and n making it unlike every other attempt.

namespace ouzel::storage {

/// The state of a database as of one log position. Everything that matters to a start is reached from here.
struct Manifest {
   uint64_t version = 0; ///< its number
   uint64_t epoch = 0;   ///< of the writer; one more at each start
   uint64_t logId = 0;
   Lsn replayLsn = 0;    ///< the log from here on is to be replayed
   bool isClean = false; ///< nothing follows in the log
   /// What follows in the log was acknowledged to nobody: each commit waits for its manifest, and the log may be gone.
   bool isComplete = false;
   bool needsLog() const { return !isClean && !isComplete; }
   Timestamp lastCommit = 1;
   Oid nextOid = 16384;
   uint64_t nextStorage = 1;
   SegmentId nextSegment = 1;
   std::string catalogObject; ///< empty: none yet
   struct Table {
      StorageId id{};
      std::vector<ColumnDefinition> columns;
      std::string listOfHeaders; ///< empty: no rows
   };
   std::vector<Table> tables;
   std::map<Oid, Counter> counters;

   std::string serialize() const;
   static Manifest deserialize(std::string_view bytes);
   static std::string objectName(uint64_t version);
   /// The newest one; empty for a new database. Throws XX001.
   static std::optional<Manifest> load(io::ObjectStore& store);
};

/// A table's segments, in row order, and where their headers lie.
struct ListOfHeaders {
   struct Entry {
      SegmentId segment = 0;
      std::string blockObject;
      std::string headerObject;
      uint64_t offset = 0; ///< in the header object
      uint64_t size = 0;
      uint64_t checksum = 0;
   };
   std::vector<Entry> entries;
   std::string deleteObject; ///< empty: no row is deleted

   std::string serialize() const;
   static ListOfHeaders deserialize(std::string_view bytes);
};

/// The rows of a table that are deleted for everybody.
struct DeletedRows {
   struct Segment {
      SegmentId id = 0;
      std::vector<uint32_t> rows; ///< ascending
   };
   std::vector<Segment> segments;

   std::string serialize() const;
   static DeletedRows deserialize(std::string_view bytes);
};

/// Store bytes behind a magic number and a checksum, if-absent. False: the object exists already.
[[nodiscard]] bool putSealed(io::ObjectStore& store, const std::string& name, std::string_view bytes);
/// Throws XX001 when the object is missing or damaged.
std::string getSealed(io::ObjectStore& store, const std::string& name);

} // namespace ouzel::storage
