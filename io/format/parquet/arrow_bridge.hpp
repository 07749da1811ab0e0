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

// What Arrow runs on: our files, our memory, our errors. Only for .cpp files of this folder.

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
   Reservation memory_; ///< a child: gives back what Arrow should leak
   std::atomic<int64_t> total_{0}, count_{0};
};

struct ByteRange {
   uint64_t offset, size;
};

/// An object as Arrow reads it. The first error of the object's reader is kept for throwStatus(). Positioned reads are
/// thread-safe.
class ArrowInput final : public arrow::io::RandomAccessFile {
public:
   ~ArrowInput() override;
   /// `pool` outlives this; `bytesRead`, if given, is counted up.
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

   /// The ranges will be read. `intoMemory`: start to read them all at once, near ones together, as far as memory can
   /// be had; reads of parts of them then wait for theirs. REQUIRES: nothing has been read yet.
   void prefetch(std::vector<ByteRange> ranges, bool intoMemory);

private:
   struct Ahead;
   /// The range read ahead that has these bytes, waited for; null if none. Throws what reading it threw.
   std::shared_ptr<arrow::Buffer> readAhead(int64_t position, int64_t size) const;

   std::vector<std::unique_ptr<Ahead>> ahead_;
   std::shared_ptr<const ObjectReader> reader_;
   arrow::MemoryPool* pool_;
   std::atomic<uint64_t>* bytesRead_;
   std::exception_ptr error_;
   int64_t position_ = 0;
   bool isClosed_ = false;
};

/// Throw what a failed status means: the file's own error if it had one, 53200 out of memory, else 22P04 with the name
/// of the file, of which Arrow says why it cannot be read.
[[noreturn]] void throwStatus(const arrow::Status& status, const std::string& file, const ArrowInput* input);

/// Run something that says what went wrong by status or, in parts of Arrow, by exception.
void runArrow(const std::string& file, const ArrowInput* input, const std::function<arrow::Status()>& action);

} // namespace ouzel::io
