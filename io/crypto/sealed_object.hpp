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

// Layout of an encrypted object in its store:
//
//   0   SealedObjectHeader, 32 bytes
//   32  chunks of 32 KiB of plaintext, the last one shorter; an empty object has one empty chunk
//
// and a chunk is
//   0   salt  16  the same in all chunks of an object; chosen at random for each put
//   16  tag   16
//   32  bytes     AES-256-GCM
//
// The AES key is HKDF-SHA256 of the database's key and the salt. The nonce is the number of the chunk. The tag also
// covers the chunk's number, whether the chunk is the last one, and the object's name. So chunks that were exchanged,
// cut off, taken from another put, or stored under another name are detected, and a range is read without reading the
// header first.

namespace ouzel::io {

struct SealedObjectHeader {
   char magic[8] = {'O', 'U', 'Z', 'E', 'L', 'E', 'N', 'C'}; // 0
   uint32_t version = 1;                                     // 8
   uint32_t chunkSize = 0;                                   // 12
   uint64_t keyId = 0;                                       // 16
   uint64_t reserved = 0;                                    // 24
};
static_assert(sizeof(SealedObjectHeader) == 32);

inline constexpr uint64_t sealedChunkSize = 32 << 10; ///< bytes of plaintext
inline constexpr size_t sealSaltSize = 16;
inline constexpr uint64_t sealedChunkOverhead = sealSaltSize + AesGcm::tagSize;

/// Stored size of an object of `size` bytes of plaintext.
uint64_t sealedSize(uint64_t size);
/// Plaintext size of an object of `sealed` stored bytes; none when no object has that stored size.
std::optional<uint64_t> unsealedSize(uint64_t sealed);
/// Whether the object begins with the magic of SealedObjectHeader.
bool isSealedObject(std::string_view bytes);

/// An owned buffer whose bytes are not initialized.
struct ByteBuffer {
   std::unique_ptr<char[]> data;
   size_t size = 0;
   explicit ByteBuffer(size_t bytes) : data(std::make_unique_for_overwrite<char[]>(bytes)), size(bytes) {}
   std::string_view view() const { return {data.get(), size}; }
};

/// Encrypts the concatenation of `parts` as an object of that name.
ByteBuffer sealObject(const EncryptionKey& key, std::string_view name, std::span<const std::string_view> parts);

/// The stored bytes of the chunks that a plaintext range touches.
struct SealedRange {
   uint64_t offset = 0;
   size_t size = 0;
};

/// Decrypts chunks of one object. Throws XX001, with the object's name, when a chunk differs from what was sealed.
/// Thread-safe.
class ObjectOpener {
public:
   ObjectOpener(std::shared_ptr<const EncryptionKey> key, std::string name, uint64_t size)
      : key_(std::move(key)), name_(std::move(name)), size_(size) {}

   /// Where the chunks of a plaintext range are stored. REQUIRES, as open() does: the range is within the object and
   /// not empty.
   SealedRange rangeOf(uint64_t offset, size_t size) const;
   /// Decrypts the plaintext bytes [offset, offset + size) to `target`. `sealed`: the stored bytes at rangeOf() this
   /// range.
   void open(std::string_view sealed, uint64_t offset, size_t size, char* target) const;
   uint64_t size() const { return size_; }
   const std::string& name() const { return name_; }

   /// Decrypts a whole object. Throws 22023, too, when the object is not sealed, or sealed with another key.
   static std::string openWhole(const std::shared_ptr<const EncryptionKey>& key, std::string_view name,
                                std::string_view sealed);

private:
   SecretBytes keyFor(std::string_view salt) const;
   [[noreturn]] void refuse() const;

   const std::shared_ptr<const EncryptionKey> key_;
   const std::string name_;
   const uint64_t size_; ///< bytes of plaintext
   struct Known {
      std::string salt;
      SecretBytes key;
   };
   mutable Mutex mutex_;
   mutable std::optional<Known> known_ GUARDED_BY(mutex_); ///< salt and key of the first chunks that decrypted
};

} // namespace ouzel::io
