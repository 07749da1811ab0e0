#include "io/crypto/encrypted_store.hpp"

#include <algorithm>
#include <thread>

#include "common/error/sql_error.hpp"
#include "io/crypto/encrypted_reader.hpp"
#include "io/object_store/store_statistics.hpp"

namespace ouzel::io {

namespace {

/// One thread decrypts a few GB/s: more than a network brings for four cores.
uint32_t threadCount() {
   return std::clamp(std::thread::hardware_concurrency() / 4, 1u, 8u);
}

} // namespace

void DecryptionThreads::submit(std::function<void()> task) {
   {
      const MutexLock lock(mutex_);
      if (!hasEnded_) {
         if (!threads_) threads_ = std::make_unique<ThreadTaskRunner>(threadCount());
         threads_->submit(std::move(task));
         return;
      }
   }
   task();
}

void DecryptionThreads::end() {
   std::unique_ptr<ThreadTaskRunner> threads;
   {
      const MutexLock lock(mutex_);
      hasEnded_ = true;
      threads.swap(threads_);
   }
}

EncryptedStore::EncryptedStore(std::unique_ptr<ObjectStore> store, std::shared_ptr<const EncryptionKey> key)
   : key_(std::move(key)), threads_(store->isRemote() ? std::make_shared<DecryptionThreads>() : nullptr),
     store_(std::move(store)) {}

EncryptedStore::~EncryptedStore() {
   if (threads_) threads_->end();
}

bool EncryptedStore::put(std::string_view name, std::span<const std::string_view> parts,
                         const PutCondition& condition) {
   const ByteBuffer sealed = sealObject(*key_, name, parts);
   return store_->put(name, sealed.view(), condition);
}

std::unique_ptr<ObjectReader> EncryptedStore::readerOf(std::string_view name,
                                                       std::unique_ptr<ObjectReader> stored) const {
   if (!stored) return nullptr;
   const auto size = unsealedSize(stored->size());
   if (!size)
      throw SqlError(sqlstate::dataCorrupted, "object \"" + std::string(name) + "\" is not encrypted, or cut short");
   return std::make_unique<EncryptedReader>(
       std::move(stored), std::make_shared<const ObjectOpener>(key_, std::string(name), *size), threads_);
}

std::unique_ptr<ObjectReader> EncryptedStore::open(std::string_view name) {
   return readerOf(name, store_->open(name));
}

std::unique_ptr<ObjectReader> EncryptedStore::open(std::string_view name, uint64_t knownSize) {
   return readerOf(name, store_->open(name, sealedSize(knownSize)));
}

std::optional<std::string> EncryptedStore::get(std::string_view name) {
   const std::optional<std::string> sealed = store_->get(name);
   if (!sealed) return std::nullopt;
   return ObjectOpener::openWhole(key_, name, *sealed);
}

std::vector<ObjectInfo> EncryptedStore::list(std::string_view prefix, size_t limit) {
   std::vector<ObjectInfo> objects = store_->list(prefix, limit);
   for (ObjectInfo& object : objects)
      object.size = unsealedSize(object.size).value_or(0);
   return objects;
}

std::optional<CacheStatistics> EncryptedStore::cacheStatistics() const {
   return store_->cacheStatistics();
}

std::optional<RetrieverStatistics> EncryptedStore::statistics() const {
   return store_->statistics();
}

} // namespace ouzel::io
