#include "io/format/parquet/arrow_bridge.hpp"

#include <algorithm>
#include <arrow/buffer.h>
#include <cstdlib>
#include <cstring>
#include <parquet/exception.h>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::io {

namespace {
/// Address of all allocations of zero bytes: Arrow wants an aligned one for these as well.
alignas(64) uint8_t nothing[64];
/// Ranges with gaps of at most gapMax bytes are read together, up to mergedMax bytes: a larger request brings no more
/// throughput.
constexpr uint64_t gapMax = 256 << 10, mergedMax = 16 << 20;
} // namespace

arrow::Status LedgerPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
   if (size < 0) return arrow::Status::Invalid("negative size");
   if (size == 0) {
      *out = nothing;
      return arrow::Status::OK();
   }
   if (!memory_.tryGrow(static_cast<size_t>(size))) return arrow::Status::OutOfMemory("on request of size ", size);
   void* memory = nullptr;
   if (::posix_memalign(&memory, static_cast<size_t>(std::max<int64_t>(alignment, 64)), static_cast<size_t>(size)) !=
       0) {
      memory_.shrink(static_cast<size_t>(size));
      return arrow::Status::OutOfMemory("on request of size ", size);
   }
   *out = static_cast<uint8_t*>(memory);
   total_ += size;
   ++count_;
   return arrow::Status::OK();
}

arrow::Status LedgerPool::Reallocate(int64_t oldSize, int64_t newSize, int64_t alignment, uint8_t** pointer) {
   uint8_t* old = *pointer;
   uint8_t* fresh = nullptr;
   ARROW_RETURN_NOT_OK(Allocate(newSize, alignment, &fresh));
   std::memcpy(fresh, old, static_cast<size_t>(std::min(oldSize, newSize)));
   Free(old, oldSize, alignment);
   *pointer = fresh;
   return arrow::Status::OK();
}

void LedgerPool::Free(uint8_t* buffer, int64_t size, int64_t) {
   if (buffer == nothing) return;
   std::free(buffer);
   memory_.shrink(static_cast<size_t>(size));
}

/// A range that is being read ahead.
struct ArrowInput::Ahead {
   ByteRange range;
   std::shared_ptr<arrow::Buffer> bytes;
   Mutex mutex;
   CondVar arrived;
   bool isHere GUARDED_BY(mutex) = false;      // under mutex
   std::exception_ptr error GUARDED_BY(mutex); // under mutex
   std::unique_ptr<PendingRead> pending;

   ~Ahead() {
      if (pending) pending->cancel();
   }
   void start(const ObjectReader& reader) {
      pending = reader.readAsync(range.offset, range.size, bytes->mutable_data(), [this](std::exception_ptr given) {
         const MutexLock lock(mutex);
         error = std::move(given);
         isHere = true;
         arrived.notify_all();
      });
   }
   void wait() {
      UniqueLock lock(mutex);
      arrived.wait(lock, [this]() REQUIRES(mutex) { return isHere; });
      if (error) std::rethrow_exception(error);
   }
};

ArrowInput::ArrowInput(std::shared_ptr<const ObjectReader> reader, arrow::MemoryPool* pool,
                       std::atomic<uint64_t>* bytesRead)
   : reader_(std::move(reader)), pool_(pool), bytesRead_(bytesRead) {}

ArrowInput::~ArrowInput() = default;

void ArrowInput::prefetch(std::vector<ByteRange> ranges, bool intoMemory) {
   if (!intoMemory) {
      for (const ByteRange& range : ranges)
         reader_->prefetch(range.offset, range.size);
      return;
   }
   std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
   std::vector<ByteRange> merged;
   for (const ByteRange& range : ranges) {
      if (!merged.empty()) {
         ByteRange& last = merged.back();
         const uint64_t end = last.offset + last.size, together = range.offset + range.size - last.offset;
         if (range.offset >= end && range.offset - end <= gapMax && together <= mergedMax) {
            last.size = together;
            continue;
         }
      }
      merged.push_back(range);
   }
   for (const ByteRange& range : merged) {
      if (range.size == 0) continue;
      auto bytes = arrow::AllocateBuffer(static_cast<int64_t>(range.size), pool_);
      if (!bytes.ok()) return; // no memory: Arrow reads the range later, perhaps in pieces
      auto ahead = std::make_unique<Ahead>();
      ahead->range = range;
      ahead->bytes = std::move(*bytes);
      ahead->start(*reader_);
      if (bytesRead_) *bytesRead_ += range.size;
      ahead_.push_back(std::move(ahead));
   }
}

std::shared_ptr<arrow::Buffer> ArrowInput::readAhead(int64_t position, int64_t size) const {
   const auto begin = static_cast<uint64_t>(position), end = begin + static_cast<uint64_t>(size);
   for (const auto& ahead : ahead_) {
      if (begin < ahead->range.offset || end > ahead->range.offset + ahead->range.size) continue;
      ahead->wait();
      return arrow::SliceBuffer(ahead->bytes, static_cast<int64_t>(begin - ahead->range.offset), size);
   }
   return nullptr;
}

arrow::Result<int64_t> ArrowInput::ReadAt(int64_t position, int64_t size, void* out) {
   const int64_t total = static_cast<int64_t>(reader_->size());
   if (position < 0 || size < 0 || position > total) return arrow::Status::Invalid("read outside of the file");
   size = std::min(size, total - position);
   try {
      if (const auto known = size > 0 ? readAhead(position, size) : nullptr) {
         std::memcpy(out, known->data(), static_cast<size_t>(size));
         return size;
      }
      if (size > 0) reader_->read(static_cast<uint64_t>(position), static_cast<size_t>(size), out);
   } catch (...) {
      error_ = std::current_exception();
      return arrow::Status::IOError("could not read");
   }
   if (bytesRead_) *bytesRead_ += static_cast<uint64_t>(size);
   return size;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowInput::ReadAt(int64_t position, int64_t size) {
   size = std::min(size, static_cast<int64_t>(reader_->size())); // a damaged file may ask for any size
   if (position >= 0 && size > 0 && position <= static_cast<int64_t>(reader_->size()) - size) {
      try {
         if (auto known = readAhead(position, size)) return known;
      } catch (...) {
         error_ = std::current_exception();
         return arrow::Status::IOError("could not read");
      }
   }
   ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::ResizableBuffer> buffer, arrow::AllocateResizableBuffer(size, pool_));
   ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position, size, buffer->mutable_data()));
   ARROW_RETURN_NOT_OK(buffer->Resize(got, false));
   return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> ArrowInput::Read(int64_t size, void* out) {
   ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, size, out));
   position_ += got;
   return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowInput::Read(int64_t size) {
   ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, size));
   position_ += buffer->size();
   return buffer;
}

void throwStatus(const arrow::Status& status, const std::string& file, const ArrowInput* input) {
   if (input && input->error()) std::rethrow_exception(input->error());
   if (status.IsOutOfMemory())
      throw SqlError(sqlstate::outOfMemory, "out of memory")
          .detail("Failed while reading file \"" + file + "\": memory_limit is reached.");
   if (status.IsNotImplemented())
      throw SqlError(sqlstate::featureNotSupported, "file \"" + file + "\" cannot be read: " + status.message());
   throw SqlError(sqlstate::badCopyFileFormat, "file \"" + file + "\" is not valid Parquet: " + status.message());
}

void runArrow(const std::string& file, const ArrowInput* input, const std::function<arrow::Status()>& action) {
   arrow::Status status;
   try {
      status = action();
   } catch (const SqlError&) {
      throw;
   } catch (const parquet::ParquetStatusException& error) {
      status = error.status();
   } catch (const std::bad_alloc&) {
      status = arrow::Status::OutOfMemory("allocation failed");
   } catch (const std::exception& error) {
      status = arrow::Status::Invalid(error.what());
   }
   if (!status.ok()) throwStatus(status, file, input);
}

} // namespace ouzel::io
