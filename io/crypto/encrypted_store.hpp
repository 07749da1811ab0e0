#pragma once
#include <functional>
#include <memory>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"
#include "io/crypto/encryption_key.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// Threads that decrypt arrived pieces, so that the store's thread that moves the bytes is free for other requests.
/// Owned by the store and its reads under way. Thread-safe.
class DecryptionThreads {
public:
   /// Runs the task on one of the threads, or on the caller's thread after end(). The first task starts the threads.
   void submit(std::function<void()> task);
   /// Waits until all submitted tasks have run, and ends the threads.
   void end();

private:
   Mutex mutex_; ///< guards the members below
   std::unique_ptr<ThreadTaskRunner> threads_ GUARDED_BY(mutex_);
   bool hasEnded_ GUARDED_BY(mutex_) = false;
};

/// A store that encrypts the objects of an inner store (layout: io/crypto/sealed_object.hpp). The inner store shows
/// names and sizes of objects, but not contents, and a changed content is detected. Callers see plaintext and plaintext
/// sizes. A put needs memory for a copy of the object, a read for the chunks under way.
///
/// Throws what the inner store throws; XX001 for an object that differs from what was put under its name; 22023 when
/// get() finds an object that is not encrypted, or encrypted with another key.
class EncryptedStore final : public ObjectStore {
public:
   EncryptedStore(std::unique_ptr<ObjectStore> store, std::shared_ptr<const EncryptionKey> key);
   ~EncryptedStore() override;

   using ObjectStore::open;
   using ObjectStore::put;
   bool put(std::string_view name, std::span<const std::string_view> parts, const PutCondition& condition) override;
   std::unique_ptr<ObjectReader> open(std::string_view name) override;
   std::unique_ptr<ObjectReader> open(std::string_view name, uint64_t knownSize) override;
   std::optional<std::string> get(std::string_view name) override;
   std::optional<std::string> tag(std::string_view name) override { return store_->tag(name); }
   /// Objects whose size no encrypted object can have are listed with size 0.
   std::vector<ObjectInfo> list(std::string_view prefix, size_t limit) override;
   void remove(std::string_view name) override { store_->remove(name); }
   void remove(std::span<const std::string> names) override { store_->remove(names); }
   void removeLeftovers() override { store_->removeLeftovers(); }
   bool distrust(std::string_view name) override { return store_->distrust(name); }
   bool isRemote() const override { return store_->isRemote(); }
   std::optional<RetrieverStatistics> statistics() const override;
   std::optional<CacheStatistics> cacheStatistics() const override;

private:
   std::unique_ptr<ObjectReader> readerOf(std::string_view name, std::unique_ptr<ObjectReader> stored) const;

   const std::shared_ptr<const EncryptionKey> key_;
   const std::shared_ptr<DecryptionThreads> threads_; ///< shared with reads that are under way
   std::unique_ptr<ObjectStore> store_;
};

} // namespace ouzel::io
