#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/cache/cache_options.hpp"

// Opens object stores by address. The one folder that knows every implementation.

namespace ouzel::io {

class EncryptionKey; // io/crypto/encryption_key.hpp
class ObjectStore;   // io/object_store/object_store.hpp

/// What a store is to do besides storing.
struct StoreOptions {
   std::shared_ptr<const EncryptionKey> key; ///< objects are encrypted with it (EncryptedStore); null: they are not
   std::optional<CacheOptions> cache; ///< of what is read (CachedStore); only for a store over a network, 22023 else
};

/// Whether the address names a store over a network.
bool isRemoteStore(std::string_view address);

/// The store at an address: `s3://…` (see S3Location::parse), else a directory, which is made. Throws 22023 for
/// addresses that are not valid, and what the store's constructor throws.
std::unique_ptr<ObjectStore> openObjectStore(const std::string& address, const StoreOptions& options = {});

} // namespace ouzel::io
