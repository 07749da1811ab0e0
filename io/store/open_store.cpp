#include "io/store/open_store.hpp"

#include "common/error/sql_error.hpp"
#include "io/cache/cached_store.hpp"
#include "io/crypto/encrypted_store.hpp"
#include "io/directory/directory_store.hpp"
#include "io/s3/s3_store.hpp"

namespace ouzel::io {

bool isRemoteStore(std::string_view address) {
   return isS3Url(address);
}

std::unique_ptr<ObjectStore> openObjectStore(const std::string& address, const StoreOptions& options) {
   std::unique_ptr<ObjectStore> store;
   if (isS3Url(address)) {
      const S3Location location = S3Location::parse(address);
      if (options.access) {
         const Credentials keys{options.access->accessKeyId, options.access->secretAccessKey,
                                options.access->sessionToken};
         if (!keys.isPlausible()) // else a line break in one would begin another request
            throw SqlError(sqlstate::invalidParameterValue,
                           "the keys to \"" + location.display("") + "\" are not valid");
         store = std::make_unique<S3Store>(location, [keys] { return keys; });
      } else
         store = std::make_unique<S3Store>(location);
      // The cache is below the encryption, so its file holds encrypted bytes.
      if (options.cache) store = std::make_unique<CachedStore>(std::move(store), location.display(""), *options.cache);
   } else {
      if (options.cache)
         throw SqlError(sqlstate::invalidParameterValue, "a cache is only for a database in a bucket (s3://...)");
      store = std::make_unique<DirectoryStore>(address);
   }
   if (options.key) store = std::make_unique<EncryptedStore>(std::move(store), options.key);
   return store;
}

} // namespace ouzel::io
