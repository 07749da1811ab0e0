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

/// The condition under which a put takes effect.
struct PutCondition {
   enum class Kind : uint8_t { Always, IfAbsent, IfMatch };
   Kind kind = Kind::Always;
   std::string tag; ///< IfMatch: the tag that the object must still have
   static PutCondition ifAbsent() { return {Kind::IfAbsent, {}}; }
   static PutCondition ifMatch(std::string tag) { return {Kind::IfMatch, std::move(tag)}; }
};

/// Handle of a started read, with which the read can be cancelled. Destroying the handle does not cancel the read.
/// Usable by any thread but the store's own threads (which call `done`).
class PendingRead {
public:
   virtual ~PendingRead() = default;
   /// After the return no thread writes to the target, and `done` has returned or will never be called.
   virtual void cancel() noexcept = 0;
};

/// One object opened for ranged reads. Where the store can promise it (a directory can), a removed object stays
/// readable. The store must outlive the reader. Thread-safe.
class ObjectReader {
public:
   virtual ~ObjectReader() = default;
   /// Reads exactly [offset, offset + size). Throws 58030 when the object is shorter, 58P01 when it is gone, and, where
   /// the read waits for a network, the error of the thread's Interruptible (common/thread/interruption.hpp).
   virtual void read(uint64_t offset, size_t size, void* target) const = 0;
   /// Hints that the range will be read soon.
   virtual void prefetch(uint64_t offset, size_t size) const = 0;
   /// Starts reading exactly [offset, offset + size) into `target`, which must stay valid until `done` was called or
   /// the read was cancelled. `done` is called once, with null or with the error that read() would have thrown: by a
   /// thread of the store, or within this call, which then returns null. `done` must be short and must not throw, wait,
   /// cancel, or destroy the store or this reader; it may start further reads. Callable from any thread. Does not wait
   /// for a network; a directory reads before it returns.
   virtual std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                                  std::function<void(std::exception_ptr)> done) const;
   virtual uint64_t size() const = 0;
};

/// A store of named byte strings that are put and removed as a whole: S3, or a directory with the same promises. A put
/// is atomic and durable when it returns. Names are '/'-separated words of letters, digits, '.', '_', '-' and '='.
/// Failures throw 58030, or 53100 when the store is full; outcomes on which callers branch are results. Thread-safe.
class ObjectStore {
public:
   virtual ~ObjectStore() = default;

   /// Stores the concatenation of `parts`. False: the condition did not hold, and nothing changed.
   virtual bool put(std::string_view name, std::span<const std::string_view> parts,
                    const PutCondition& condition = {}) = 0;
   bool put(std::string_view name, std::string_view bytes, const PutCondition& condition = {}) {
      return put(name, std::span(&bytes, 1), condition);
   }
   /// Opens an object for reading; null when there is no such object.
   virtual std::unique_ptr<ObjectReader> open(std::string_view name) = 0;
   /// Opens an object whose size the caller knows, which saves a remote store a request. A missing or shorter object
   /// may then be detected by a read only (58P01, 58030); null when it is detected at once.
   virtual std::unique_ptr<ObjectReader> open(std::string_view name, uint64_t knownSize);
   /// Reads the whole object; none when there is no such object.
   virtual std::optional<std::string> get(std::string_view name);
   /// A tag that changes whenever the object is replaced; none when there is no such object.
   virtual std::optional<std::string> tag(std::string_view name) = 0;
   /// Lists objects whose names begin with `prefix`, in byte order of the names, at most `limit`.
   virtual std::vector<ObjectInfo> list(std::string_view prefix, size_t limit = SIZE_MAX) = 0;
   /// Removes an object. A missing object is no error.
   virtual void remove(std::string_view name) = 0;
   /// Removes many objects, in few requests where the store can. After an error some of them may be removed.
   virtual void remove(std::span<const std::string> names);
   /// Removes unfinished puts of killed processes. REQUIRES: no other process is putting.
   virtual void removeLeftovers() = 0;
   /// Reports that bytes read of this object were damaged: the store must not take them from a cache again. False: they
   /// did not come from a cache.
   virtual bool distrust(std::string_view) { return false; }
   /// Whether reads wait for a network, so that reading ahead pays off.
   virtual bool isRemote() const { return false; }
   /// Counters of requests to the network since the store was opened; none without a network.
   virtual std::optional<RetrieverStatistics> statistics() const;
   /// Counters of the cache on a local disk; none without a cache.
   virtual std::optional<CacheStatistics> cacheStatistics() const;
};

/// Whether a store accepts the name (see ObjectStore).
bool isValidObjectName(std::string_view name);

} // namespace ouzel::io
