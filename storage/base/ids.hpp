#pragma once
#include <cstdint>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// Ids by which storage names tables, segments, rows and transactions. None of them is an OID: a relation that is
// truncated or rewritten keeps its OID and gets a new storage id.

namespace ouzel::storage {

enum class StorageId : uint64_t {}; ///< one table's rows; from a durable counter, never reused

using SegmentId = uint64_t;     ///< 40 bits, unique in the database; a block or an in-memory delta segment
using TransactionId = uint64_t; ///< from 1; valid in this run of the process only
using Timestamp = uint64_t;     ///< of a commit; durable, strictly increasing; 0 is before everything

/// Row id as it flows through plans: (segment << 24 | row), an int8 column.
using RowId = uint64_t;
inline constexpr uint32_t rowIdBits = 24;
inline constexpr uint32_t segmentIdBits = 64 - rowIdBits;
constexpr RowId makeRowId(SegmentId segment, uint32_t row) {
   DCHECK(segment >> segmentIdBits == 0);
   DCHECK(row >> rowIdBits == 0);
   return segment << rowIdBits | row;
}
constexpr SegmentId segmentOf(RowId id) {
   return id >> rowIdBits;
}
constexpr uint32_t rowOf(RowId id) {
   return static_cast<uint32_t>(id & ((1u << rowIdBits) - 1));
}

// Units nest: vector 2,048 < row group 32,768 < block 1,048,576 rows.
inline constexpr uint32_t vectorRows = 2048;
inline constexpr uint32_t rowGroupRows = 32'768;
inline constexpr uint32_t blockRowsMax = 1u << 20;
static_assert(vectorRows == batchRowsMax, "a scan gives one vector of storage as one batch");
static_assert(rowGroupRows % vectorRows == 0);
static_assert(blockRowsMax % rowGroupRows == 0);
static_assert(blockRowsMax <= 1u << rowIdBits, "a row id reaches every row of a block");

/// Type and representation of a column, without its name. Column n holds attribute n + 1 of the relation; dropped
/// attributes keep their place and are filled with NULL.
struct ColumnDefinition {
   SqlType type;
   Representation representation;
   /// The value of this column in rows that were written before the column was added (PostgreSQL's attmissingval).
   Value missing;

   /// A column whose representation is the stored one of its type, missing value NULL.
   static ColumnDefinition of(const SqlType& type) {
      const Representation stored = storedRepresentation(type);
      return {type, stored, Value::null(stored.physical)};
   }
};

/// The state of a sequence: a number that is durable, but belongs to no transaction.
struct Counter {
   int64_t value = 0;
   bool isCalled = false; ///< `value` has been given out
   bool operator==(const Counter&) const = default;
};

} // namespace ouzel::storage
