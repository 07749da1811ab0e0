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

// Names in the store. Each object is written once:
//  manifest/<16 hex digits of ~version>         a Manifest; the newest sorts first
//  catalog/<object>                             the catalog's image
//  table/<storage id>/list-of-headers/<object>  ListOfHeaders
//  table/<storage id>/header/<object>           headers of the blocks new in that version, one after the other
//  table/<storage id>/delete/<object>           DeletedRows
//  table/<storage id>/block/<segment>-<tag>-<n> blocks
// where <object> is <version>-<tag>-<n>; tag and n distinguish attempts at the same version. Putting the manifest, only
// if absent, makes the objects it names the state of the database.

namespace ouzel::storage {

/// One durable state of the database, as of a position of the log. A start reaches every object it needs from the
/// manifest.
struct Manifest {
   uint64_t version = 0; ///< number of this manifest; each new one has the next
   uint64_t epoch = 0;   ///< of the writer's lease; each writer has a higher one
   uint64_t logId = 0;
   Lsn replayLsn = 0;    ///< a start replays the log from here on
   bool isClean = false; ///< the log has no frames from replayLsn on
   /// A start may go without the frames behind replayLsn: no client was told of these commits, since each commit waits
   /// for its manifest. The log may be lost with the process.
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
   /// The newest manifest; empty for a new database. Throws XX001.
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

/// The deleted rows of a table that no snapshot sees.
struct DeletedRows {
   struct Segment {
      SegmentId id = 0;
      std::vector<uint32_t> rows; ///< ascending
   };
   std::vector<Segment> segments;

   std::string serialize() const;
   static DeletedRows deserialize(std::string_view bytes);
};

/// Put the bytes behind a magic number and a checksum, only if absent. False: the object exists already.
[[nodiscard]] bool putSealed(io::ObjectStore& store, const std::string& name, std::string_view bytes);
/// Throws XX001 when the object is missing or damaged.
std::string getSealed(io::ObjectStore& store, const std::string& name);

} // namespace ouzel::storage
