#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/value/sql_type.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

// The bytes of large objects: pages of 2,048 bytes, which are rows of one table in each database. A page that has no
// row, and what a page's row is short of, are zeros if a later page has a row; so an object may have holes. The last
// row says where the object ends.

namespace ouzel::engine {

/// As PostgreSQL's LOBLKSIZE, which pg_largeobject shows.
inline constexpr int64_t largeObjectPageBytes = 2048;
/// Pages are numbered by integers.
inline constexpr int64_t largeObjectBytesMax = int64_t{INT32_MAX} * largeObjectPageBytes;

/// A page's row; `data` is valid during the call only.
using VisitLargeObjectPage = std::function<void(Oid object, int32_t page, storage::RowId row, std::string_view data)>;
/// Visits the pages of the objects from `lower` to `upper` that the snapshot sees, in no certain order.
void forEachLargeObjectPage(storage::Table& table, const storage::Snapshot& snapshot, Oid lower, Oid upper,
                            const VisitLargeObjectPage& visit);

/// The pages of one object, as a snapshot sees them. REQUIRES for the members that write: the snapshot is the newest
/// one of the transaction, and no other transaction writes the object.
class LargeObjectPages {
public:
   LargeObjectPages(storage::Table& table, const storage::Snapshot& snapshot, Oid object)
      : table_(table), snapshot_(snapshot), object_(object) {}

   int64_t size() const;
   /// Up to `count` bytes from `offset` on; less at the end of the object.
   std::string read(int64_t offset, int64_t count) const;

   // After each of these the transaction has begun a new command, whose snapshots see what was written.
   void write(storage::Transaction& transaction, int64_t offset, std::string_view bytes) const;
   void truncate(storage::Transaction& transaction, int64_t size) const;
   void remove(storage::Transaction& transaction) const;

private:
   using Visit = std::function<void(int32_t page, storage::RowId row, std::string_view data)>;
   /// Visits the rows of the pages from `first` to `last`.
   void forEach(int32_t first, int32_t last, bool withData, const Visit& visit) const;
   /// The number of the last page that has a row; -1: none has.
   int32_t lastPage() const;

   storage::Table& table_;
   const storage::Snapshot snapshot_;
   const Oid object_;
};

} // namespace ouzel::engine
