#pragma once
#include <cstddef>
#include <cstdint>

namespace ouzel::executor {

/// Rows that wait to be read after their operator has taken its input, and that may wait on disk as well: the batches
/// of a CTE, or sorted rows. When a later operator of the query, or another query, needs memory, they are written out.
///
/// Rows of hash tables are not among them: they are probed at random, so each page would be read back at once.
///
/// Registered by MemoryGrant::settle() until claimFloor() or the end of the grant. Calls of reclaim() come from workers
/// of the same query, one at a time, while other workers may be reading the rows.
class Reclaimer {
public:
   virtual ~Reclaimer() = default;
   /// Bytes that reclaim() may free. Any thread, without waiting.
   virtual size_t reclaimableBytes() const = 0;
   /// How often each byte that is written will be read: rows that are read least are the cheapest to write.
   virtual uint32_t readings() const = 0;
   /// Write about `bytes` bytes to disk. Returns the bytes that are free now, or will be when readers have moved on;
   /// less when the disk is full. Throws 58030.
   virtual size_t reclaim(size_t bytes) = 0;
};

} // namespace ouzel::executor
