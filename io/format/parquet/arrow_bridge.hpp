#pragma once
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "common/memory/ledger.hpp"
#include "io/format/file_set.hpp"

// Adapters between Arrow and this project: memory, files, errors. Only for .cpp files of this folder.

namespace ouzel::io {

/// Arrow's memory, charged to a reservation before it is allocated. Thread-safe as the reservation is.
class LedgerPool final : public arrow::MemoryPool {
public:
   explicit LedgerPool(Reservation& memory) : memory_(memory) {}

   arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
   arrow::Status Reallocate(int64_t oldSize, int64_t newSize, int64_t alignment, uint8_t** pointer) override;
   void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;
   int64_t bytes_allocated() const override { return static_cast<int64_t>(memory_.used()); }
   int64_t total_bytes_allocated() const override { return total_; }
   int64_t num_allocations() const override { return count_; }
   std::string backend_name() const override { return "ouzel"; }

private:
   Reservation memory_; ///< a child: returns memory that Arrow leaks
   std::atomic<int64_t> total_{0}, count_{0};
};

struct ByteRange {
   uint64_t offset, size;
};

/// Lets Arrow read an object. Keeps the first error of the object's reader for throwStatus(). Positioned reads are
/// thread-safe.
class ArrowInput final : public arrow::io::RandomAccessFile {
public:
   ~ArrowInput() override;
   /// `pool` outlives this object. `bytesRead`, if not null, is increased by the bytes of each read.
   ArrowInput(std::shared_ptr<const ObjectReader> reader, arrow::MemoryPool* pool, std::atomic<uint64_t>* bytesRead);

   arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(reader_->size()); }
   arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override;
   arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override;
   arrow::Result<int64_t> Read(int64_t size, void* out) override;
   arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override;
   arrow::Status Seek(int64_t position) override {
      position_ = position;
      return arrow::Status::OK();
   }
   arrow::Result<int64_t> Tell() const override { return position_; }
   arrow::Status Close() override {
      isClosed_ = true;
      return arrow::Status::OK();
   }
   bool closed() const override { return isClosed_; }
   std::exception_ptr error() const { return error_; }

   /// Announces reads of the ranges. `intoMemory`: starts reading all of them at once, near ranges as one, as far as
   /// memory can be charged; later reads of these bytes wait for them. REQUIRES: no read came before.
   void prefetch(std::vector<ByteRange> ranges, bool intoMemory);

private:
   struct Ahead;
   /// The bytes, if a range that was read ahead contains them; waits until the range has arrived. Null: no range
   /// contains them. Throws the error of the read.
   std::shared_ptr<arrow::Buffer> readAhead(int64_t position, int64_t size) const;

   std::vector<std::unique_ptr<Ahead>> ahead_;
   std::shared_ptr<const ObjectReader> reader_;
   arrow::MemoryPool* pool_;
   std::atomic<uint64_t>* bytesRead_;
   std::exception_ptr error_;
   int64_t position_ = 0;
   bool isClosed_ = false;
};

/// Throws the error behind a failed status: the file reader's own error if it had one, 53200 when memory ran out, else
/// 22P04 with the file's name and Arrow's message.
[[noreturn]] void throwStatus(const arrow::Status& status, const std::string& file, const ArrowInput* input);

/// Runs `action` and throws its error, which Arrow reports by status or, in some places, by exception.
void runArrow(const std::string& file, const ArrowInput* input, const std::function<arrow::Status()>& action);

} // namespace ouzel::io
