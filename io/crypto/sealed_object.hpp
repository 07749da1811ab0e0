#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/sync/mutex.hpp"
#include "io/crypto/aes_gcm.hpp"

// An object as it is stored when the database is encrypted:
//
//   0   SealedObjectHeader, 32 bytes
//   32  chunks of 32 KiB of plaintext, the last one shorter; an empty object has one empty chunk
//
// and a chunk is
//   0   salt  16  the same in all chunks of an object; chosen at random for each put
//   16  tag   16
//   32  bytes     AES-256-GCM
//
// The key is HKDF-SHA256 of the database's key and the salt. The nonce is the number of the chunk. Authenticated
// besides: that number, whether it is the last, and the object's name. So chunks that were exchanged, cut off, taken
// from another put, or put under another name are noticed, and a range is read without asking for anything else first.

namespace ouzel::io {

struct SealedObjectHeader {
   char magic[8] = {'O', 'U', 'Z', 'E', 'L', 'E', 'N', 'C'}; // 0
   uint32_t version = 1;                                     // 8
   uint32_t chunkSize = 0;                                   // 12
   uint64_t keyId = 0;                                       // 16
   uint64_t reserved = 0;                                    // 24
};
static_assert(sizeof(SealedObjectHeader) == 32);

inline constexpr uint64_t sealedChunkSize = 32 << 10; ///< of plaintext
inline constexpr size_t sealSaltSize = 16;
inline constexpr uint64_t sealedChunkOverhead = sealSaltSize + AesGcm::tagSize;

/// How long an object of `size` bytes is when it is sealed.
uint64_t sealedSize(uint64_t size);
/// The other way; none when no object has that size.
std::optional<uint64_t> unsealedSize(uint64_t sealed);
/// Whether the beginning of an object says that it is sealed.
bool isSealedObject(std::string_view bytes);

/// Bytes that are not initialized.
struct ByteBuffer {
   std::unique_ptr<char[]> data;
   size_t size = 0;
   explicit ByteBuffer(size_t bytes) : data(std::make_unique_for_overwrite<char[]>(bytes)), size(bytes) {}
   std::string_view view() const { return {data.get(), size}; }
};

/// The concatenation of `parts` as an object of that name.
ByteBuffer sealObject(const EncryptionKey& key, std::string_view name, std::span<const std::string_view> parts);

/// Where the chunks that hold a range are stored.
struct SealedRange {
   uint64_t offset = 0;
   size_t size = 0;
};

/// Makes plaintext from the chunks of one object. Thread-safe. Throws XX001, with the object's name, for what is not as
/// it was sealed.
class ObjectOpener {
public:
   ObjectOpener(std::shared_ptr<const EncryptionKey> key, std::string name, uint64_t size)
      : key_(std::move(key)), name_(std::move(name)), size_(size) {}

   /// REQUIRES: the range lies within the object and is not empty; likewise of open().
   SealedRange rangeOf(uint64_t offset, size_t size) const;
   /// Write the bytes [offset, offset + size) to `target`. `sealed`: what is stored at rangeOf() them.
   void open(std::string_view sealed, uint64_t offset, size_t size, char* target) const;
   uint64_t size() const { return size_; }
   const std::string& name() const { return name_; }

   /// All of an object. 22023, besides, when it was not sealed, or with another key.
   static std::string openWhole(const std::shared_ptr<const EncryptionKey>& key, std::string_view name,
                                std::string_view sealed);

private:
   SecretBytes keyFor(std::string_view salt) const;
   [[noreturn]] void refuse() const;

   const std::shared_ptr<const EncryptionKey> key_;
   const std::string name_;
   const uint64_t size_; ///< of the plaintext
   struct Known {
      std::string salt;
      SecretBytes key;
   };
   mutable Mutex mutex_;
   mutable std::optional<Known> known_ GUARDED_BY(mutex_); ///< guarded by mutex_; of the first chunks that were good
};

} // namespace ouzel::io
