#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/sync/mutex.hpp"
#include "io/format/file_set.hpp"

namespace ouzel::io {

/// Reads a file piece by piece from its beginning. For a file in an object store the next piece is read while the
/// caller works on the current one; a local file is read in next(). Used by one thread at a time.
class SequentialInput {
public:
   /// Opens the file. `pieceSizeMax`: for a reader that may stop soon. Throws what openInput() throws.
   SequentialInput(const std::string& path, const ObjectAccessPtr& access, size_t pieceSizeMax = SIZE_MAX);
   ~SequentialInput();
   SequentialInput(const SequentialInput&) = delete;
   SequentialInput& operator=(const SequentialInput&) = delete;

   /// The next piece, valid until the next call; none at the end.
   std::optional<std::string_view> next();
   uint64_t size() const { return object_->size(); }
   /// Most memory in bytes that reading the file takes.
   static size_t memoryMax(const std::string& path);

private:
   void start();

   const std::unique_ptr<ObjectReader> object_;
   const size_t pieceSize_;
   uint64_t offset_ = 0;
   std::string current_, coming_;
   std::unique_ptr<PendingRead> pending_;
   Mutex mutex_;
   CondVar arrived_;
   bool isHere_ GUARDED_BY(mutex_) = true;       // guarded by mutex_
   std::exception_ptr error_ GUARDED_BY(mutex_); // guarded by mutex_
};

} // namespace ouzel::io
