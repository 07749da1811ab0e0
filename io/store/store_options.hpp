#pragma once
#include <memory>
#include <optional>
#include <string>

#include "io/cache/cache_options.hpp"

namespace ouzel::io {

class EncryptionKey; // io/crypto/encryption_key.hpp
class ObjectStore;

/// What a store is to do besides storing.
struct StoreOptions {
   std::shared_ptr<const EncryptionKey> key; ///< objects are encrypted with it (EncryptedStore); null: they are not
   std::optional<CacheOptions> cache; ///< of what is read (CachedStore); only for a store over a network, 22023 else
};

/// As openObjectStore(address), with options.
std::unique_ptr<ObjectStore> openObjectStore(const std::string& address, const StoreOptions& options);

} // namespace ouzel::io
