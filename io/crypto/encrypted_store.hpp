#pragma once
#include <functional>
#include <memory>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"
#include "io/crypto/encryption_key.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// Where what has arrived is decrypted: not by the thread that moves the bytes, which has other requests to see to.
/// Thread-safe.
class DecryptionThreads {
public:
   /// By one of them, or at once when they have ended. Threads start with the first.
   void submit(std::function<void()> task);
   /// When this returns, what was submitted before has run.
   void end();

private:
   Mutex mutex_; ///< guards what follows
   std::unique_ptr<ThreadTaskRunner> threads_ GUARDED_BY(mutex_);
   bool hasEnded_ GUARDED_BY(mutex_) = false;
};

/// Keeps objects of another store encrypted (io/crypto/sealed_object.hpp): names and sizes can be seen there, contents
/// neither seen nor changed without notice. Everything else, sizes as this store tells them included, is as with that
/// store. A put needs memory for the object once more, a read for what is under way.
///
/// Besides what the other store throws: XX001 for an object that is not as it was put under its name; 22023 when get()
/// finds one that is not encrypted, or with another key.
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
   /// What cannot be an encrypted object is listed with size 0.
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
