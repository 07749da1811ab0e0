#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/cache/cache_options.hpp"
#include "io/store/object_access.hpp"

// Opens object stores by address. Only this folder knows all implementations.

namespace ouzel::io {

class EncryptionKey; // io/crypto/encryption_key.hpp
class ObjectStore;   // io/object_store/object_store.hpp

/// Layers in front of a store.
struct StoreOptions {
   std::shared_ptr<const EncryptionKey> key; ///< for EncryptedStore; null: no encryption
   std::optional<CacheOptions> cache;        ///< for CachedStore; 22023 for a directory
   ObjectAccessPtr access{};                 ///< keys, of s3://...; null: those of the environment
};

/// Whether the address names a store over a network.
bool isRemoteStore(std::string_view address);

/// Opens the store at an address: `s3://…` (see S3Location::parse()), else a directory, which is created. Throws 22023
/// for invalid addresses, and the errors of the store's constructor.
std::unique_ptr<ObjectStore> openObjectStore(const std::string& address, const StoreOptions& options = {});

} // namespace ouzel::io
