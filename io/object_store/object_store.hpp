#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::io {

struct CacheStatistics;     // io/object_store/store_statistics.hpp
struct RetrieverStatistics; // io/object_store/store_statistics.hpp

struct ObjectInfo {
   std::string name;
   uint64_t size = 0;
};

/// When a put takes effect.
struct PutCondition {
   enum class Kind : uint8_t { Always, IfAbsent, IfMatch };
   Kind kind = Kind::Always;
   std::string tag; ///< IfMatch: what the object's tag must still be
   static PutCondition ifAbsent() { return {Kind::IfAbsent, {}}; }
   static PutCondition ifMatch(std::string tag) { return {Kind::IfMatch, std::move(tag)}; }
};

/// A read that has been started and can be called off. Letting go of it calls nothing off. Any thread but the store's
/// own (the one that calls `done`).
class PendingRead {
public:
   virtual ~PendingRead() = default;
   /// When this returns, nobody writes to the buffer any more, and `done` has either returned or will never be called.
   virtual void cancel() noexcept = 0;
};

/// One object opened for ranged reads. Thread-safe. Stays readable after the object was removed where the store can
/// keep that promise (a directory can). The store must outlive it.
class ObjectReader {
public:
   virtual ~ObjectReader() = default;
   /// Read exactly [offset, offset + size); 58030 when the object is shorter, 58P01 when it is gone. Throws what the
   /// thread's Interruptible throws (common/thread/interruption.hpp), where reading waits for a network.
   virtual void read(uint64_t offset, size_t size, void* target) const = 0;
   /// A hint that the range will be read soon.
   virtual void prefetch(uint64_t offset, size_t size) const = 0;
   /// Start reading exactly [offset, offset + size) into `target`, which must stay until `done` was called or the read
   /// was cancelled. `done` is called once, with null or what read() would have thrown: by a thread of the store, or
   /// from within this call, which then returns null. It must be short, must not throw, wait, cancel or destroy the
   /// store or this reader; it may start further reads. May be called from any thread, and does not wait for the
   /// network (a directory's read is done on the spot).
   virtual std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                                  std::function<void(std::exception_ptr)> done) const;
   virtual uint64_t size() const = 0;
};

/// Named immutable byte strings: S3, or a directory with the same promises. A put is atomic and, when it returns,
/// durable. Names are '/'-separated words of letters, digits, '.', '_', '-' and '='. Thread-safe. Failures throw 58030,
/// 53100 when full; what a caller branches on is a result.
class ObjectStore {
public:
   virtual ~ObjectStore() = default;

   /// Store the concatenation of `parts`. False when the condition did not hold; nothing changed then.
   virtual bool put(std::string_view name, std::span<const std::string_view> parts,
                    const PutCondition& condition = {}) = 0;
   bool put(std::string_view name, std::string_view bytes, const PutCondition& condition = {}) {
      return put(name, std::span(&bytes, 1), condition);
   }
   /// Null when there is no such object.
   virtual std::unique_ptr<ObjectReader> open(std::string_view name) = 0;
   /// The same when its size is known from elsewhere, which saves a store over the network a request. That the object
   /// is missing or shorter may then only be seen by a read (58P01, 58030); null when it is seen at once.
   virtual std::unique_ptr<ObjectReader> open(std::string_view name, uint64_t knownSize);
   /// The whole object; empty when there is none.
   virtual std::optional<std::string> get(std::string_view name);
   /// Changes whenever the object is replaced; empty when there is none.
   virtual std::optional<std::string> tag(std::string_view name) = 0;
   /// Objects whose names begin with `prefix`, in byte order of the names; at most `limit`.
   virtual std::vector<ObjectInfo> list(std::string_view prefix, size_t limit = SIZE_MAX) = 0;
   /// Removing what is not there is fine.
   virtual void remove(std::string_view name) = 0;
   /// The same for many, where the store can in few requests. After an error some may be gone.
   virtual void remove(std::span<const std::string> names);
   /// Remove what others have left unfinished. REQUIRES: nobody else is putting.
   virtual void removeLeftovers() = 0;
   /// What was read of this object is not what was put: a cache is not to be asked for it any more. False when no cache
   /// can have been asked.
   virtual bool distrust(std::string_view) { return false; }
   /// Reads wait for a network: whoever knows what will be read should start reading it ahead of time.
   virtual bool isRemote() const { return false; }
   /// What it has asked the network for since it was opened; empty when there is no network.
   virtual std::optional<RetrieverStatistics> statistics() const;
   /// Of its cache on a local disk; empty when there is none.
   virtual std::optional<CacheStatistics> cacheStatistics() const;
};

/// Whether a store takes the name (see ObjectStore).
bool isValidObjectName(std::string_view name);

} // namespace ouzel::io
