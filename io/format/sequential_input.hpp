#pragma once
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/sync/mutex.hpp"
#include "io/format/file_set.hpp"

namespace ouzel::io {

/// A file read from its front: while one piece is worked on, the next is on its way (where the file is in an object
/// store; a local one is read on the spot). Used by one thread at a time.
class SequentialInput {
public:
   /// Throws as openInput(). Pieces of object stores are larger than those of local files.
   explicit SequentialInput(const std::string& path);
   ~SequentialInput();
   SequentialInput(const SequentialInput&) = delete;
   SequentialInput& operator=(const SequentialInput&) = delete;

   /// The next bytes, valid until the next call; nothing at the end.
   std::optional<std::string_view> next();
   uint64_t size() const { return object_->size(); }
   /// Memory that it takes at most.
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
