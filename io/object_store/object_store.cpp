#include "io/object_store/object_store.hpp"

#include <algorithm>
#include <cctype>

#include "common/error/sql_error.hpp"
#include "io/cache/cached_store.hpp"
#include "io/crypto/encrypted_store.hpp"
#include "io/directory/directory_store.hpp"
#include "io/s3/s3_store.hpp"
#include "io/store/store_options.hpp"

namespace ouzel::io {

bool isValidObjectName(std::string_view name) {
   if (name.empty() || name.front() == '/' || name.back() == '/' || name.front() == '.') return false;
   return std::all_of(name.begin(), name.end(),
                      [](unsigned char c) {
                         return std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-' || c == '=';
                      }) &&
          name.find("..") == std::string_view::npos;
}

bool isRemoteStore(std::string_view address) {
   return isS3Url(address);
}

std::unique_ptr<ObjectStore> openObjectStore(const std::string& address) {
   return openObjectStore(address, StoreOptions());
}

std::unique_ptr<ObjectStore> openObjectStore(const std::string& address, const StoreOptions& options) {
   std::unique_ptr<ObjectStore> store;
   if (isS3Url(address)) {
      const S3Location location = S3Location::parse(address);
      store = std::make_unique<S3Store>(location);
      // Below encryption: what lies on the disk is as secret as what lies in the bucket.
      if (options.cache) store = std::make_unique<CachedStore>(std::move(store), location.display(""), *options.cache);
   } else {
      if (options.cache)
         throw SqlError(sqlstate::invalidParameterValue, "a cache is only for a database in a bucket (s3://...)");
      store = std::make_unique<DirectoryStore>(address);
   }
   if (options.key) store = std::make_unique<EncryptedStore>(std::move(store), options.key);
   return store;
}

std::optional<CacheStatistics> ObjectStore::cacheStatistics() const {
   return std::nullopt;
}

std::optional<RetrieverStatistics> ObjectStore::statistics() const {
   return std::nullopt;
}

std::unique_ptr<PendingRead> ObjectReader::readAsync(uint64_t offset, size_t size, void* target,
                                                     std::function<void(std::exception_ptr)> done) const {
   std::exception_ptr error;
   try {
      read(offset, size, target);
   } catch (...) {
      error = std::current_exception();
   }
   done(error);
   return nullptr;
}

std::unique_ptr<ObjectReader> ObjectStore::open(std::string_view name, uint64_t) {
   return open(name);
}

void ObjectStore::remove(std::span<const std::string> names) {
   for (const std::string& name : names)
      remove(std::string_view(name));
}

std::optional<std::string> ObjectStore::get(std::string_view name) {
   const auto reader = open(name);
   if (!reader) return std::nullopt;
   std::string bytes(reader->size(), '\0');
   reader->read(0, bytes.size(), bytes.data());
   return bytes;
}

} // namespace ouzel::io
