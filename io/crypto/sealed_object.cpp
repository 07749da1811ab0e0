#include "io/crypto/sealed_object.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/env/random.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr uint64_t headerSize = sizeof(SealedObjectHeader);
constexpr uint64_t storedChunkSize = sealedChunkSize + sealedChunkOverhead;
constexpr std::string_view purpose = "ouzel object 1";

uint64_t chunksOf(uint64_t size) {
   return size == 0 ? 1 : (size + sealedChunkSize - 1) / sealedChunkSize;
}

/// Makes the additional authenticated data of a chunk: its number, whether it is the last, and the object's name.
class ChunkContext {
public:
   explicit ChunkContext(std::string_view name) {
      text_.resize(fixedSize);
      text_.append(name);
   }
   std::string_view of(uint64_t chunk, bool isLast) {
      std::memcpy(text_.data(), &chunk, sizeof chunk);
      text_[sizeof chunk] = static_cast<char>(isLast);
      return text_;
   }

private:
   static constexpr size_t fixedSize = sizeof(uint64_t) + 1;
   std::string text_;
};

/// Walks through the concatenation of parts without copying.
class PartCursor {
public:
   explicit PartCursor(std::span<const std::string_view> parts) : parts_(parts) {}
   /// The next `size` bytes, as pieces that are valid until the next call.
   std::span<const std::string_view> next(uint64_t size) {
      pieces_.clear();
      while (size > 0) {
         DCHECK(!parts_.empty());
         const std::string_view rest = parts_.front().substr(offset_);
         const std::string_view piece = rest.substr(0, std::min<uint64_t>(size, rest.size()));
         if (!piece.empty()) pieces_.push_back(piece);
         size -= piece.size();
         offset_ += piece.size();
         if (offset_ < parts_.front().size()) continue;
         parts_ = parts_.subspan(1);
         offset_ = 0;
      }
      return pieces_;
   }

private:
   std::span<const std::string_view> parts_;
   size_t offset_ = 0;
   std::vector<std::string_view> pieces_;
};

} // namespace

uint64_t sealedSize(uint64_t size) {
   return headerSize + size + chunksOf(size) * sealedChunkOverhead;
}

std::optional<uint64_t> unsealedSize(uint64_t sealed) {
   if (sealed < headerSize + sealedChunkOverhead) return std::nullopt;
   const uint64_t stored = sealed - headerSize;
   const uint64_t chunks = (stored + storedChunkSize - 1) / storedChunkSize;
   const uint64_t overhead = chunks * sealedChunkOverhead;
   // Only the single chunk of an empty object may be empty.
   if (stored < overhead || sealedSize(stored - overhead) != sealed) return std::nullopt;
   return stored - overhead;
}

bool isSealedObject(std::string_view bytes) {
   const SealedObjectHeader header;
   return bytes.starts_with(std::string_view(header.magic, sizeof header.magic));
}

ByteBuffer sealObject(const EncryptionKey& key, std::string_view name, std::span<const std::string_view> parts) {
   uint64_t size = 0;
   for (const std::string_view part : parts)
      size += part.size();
   ByteBuffer result(sealedSize(size));
   char* out = result.data.get();
   SealedObjectHeader header;
   header.chunkSize = sealedChunkSize;
   header.keyId = key.id();
   std::memcpy(out, &header, sizeof header);
   out += sizeof header;
   char salt[sealSaltSize];
   fillRandom(salt, sizeof salt);
   AesGcm cipher(key.derive({salt, sizeof salt}, purpose));
   ChunkContext context(name);
   PartCursor cursor(parts);
   const uint64_t chunks = chunksOf(size);
   for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const uint64_t bytes = std::min(sealedChunkSize, size - chunk * sealedChunkSize);
      std::memcpy(out, salt, sizeof salt);
      cipher.seal(chunk, context.of(chunk, chunk + 1 == chunks), cursor.next(bytes), out + sealedChunkOverhead,
                  out + sizeof salt);
      out += sealedChunkOverhead + bytes;
   }
   CHECK(out == result.data.get() + result.size); // the size that sealedSize() computed
   return result;
}

SealedRange ObjectOpener::rangeOf(uint64_t offset, size_t size) const {
   DCHECK(size > 0);
   DCHECK(offset + size <= size_);
   const uint64_t first = offset / sealedChunkSize, last = (offset + size - 1) / sealedChunkSize;
   const uint64_t plainEnd = std::min((last + 1) * sealedChunkSize, size_);
   const uint64_t begin = first * storedChunkSize, end = plainEnd + (last + 1) * sealedChunkOverhead;
   return {headerSize + begin, end - begin};
}

void ObjectOpener::refuse() const {
   throw SqlError(sqlstate::dataCorrupted, "decryption failed in object \"" + name_ + "\"")
       .detail("The object is not as it was written.");
}

SecretBytes ObjectOpener::keyFor(std::string_view salt) const {
   {
      const MutexLock lock(mutex_);
      if (known_) {
         if (known_->salt != salt) refuse(); // the chunks are of different puts
         return known_->key;
      }
   }
   return key_->derive(salt, purpose);
}

void ObjectOpener::open(std::string_view sealed, uint64_t offset, size_t size, char* target) const {
   const std::string salt(sealed.substr(0, sealSaltSize));
   const SecretBytes key = keyFor(salt);
   AesGcm cipher(key);
   ChunkContext context(name_);
   const uint64_t chunks = chunksOf(size_), end = offset + size;
   std::unique_ptr<char[]> part; // plaintext of a chunk that the range covers partly
   for (uint64_t chunk = offset / sealedChunkSize; !sealed.empty(); ++chunk) {
      const uint64_t begin = chunk * sealedChunkSize;
      const size_t bytes = std::min(sealedChunkSize, size_ - begin);
      const std::string_view stored = sealed.substr(0, sealedChunkOverhead + bytes);
      const bool isWhole = begin >= offset && begin + bytes <= end;
      if (!isWhole && !part) part = std::make_unique_for_overwrite<char[]>(sealedChunkSize);
      char* const plain = isWhole ? target + (begin - offset) : part.get();
      if (stored.substr(0, sealSaltSize) != salt ||
          !cipher.open(chunk, context.of(chunk, chunk + 1 == chunks), stored.substr(sealedChunkOverhead),
                       stored.data() + sealSaltSize, plain))
         refuse();
      if (!isWhole) {
         const uint64_t from = std::max(begin, offset), to = std::min(begin + bytes, end);
         std::memcpy(target + (from - offset), plain + (from - begin), to - from);
      }
      sealed.remove_prefix(stored.size());
   }
   const MutexLock lock(mutex_);
   if (!known_) known_ = Known{salt, key};
}

std::string ObjectOpener::openWhole(const std::shared_ptr<const EncryptionKey>& key, std::string_view name,
                                    std::string_view sealed) {
   SealedObjectHeader expected, header;
   expected.chunkSize = sealedChunkSize;
   expected.keyId = key->id();
   const bool isSealed = isSealedObject(sealed), hasHeader = isSealed && sealed.size() >= sizeof header;
   if (hasHeader) std::memcpy(&header, sealed.data(), sizeof header);
   const auto size = unsealedSize(sealed.size());
   const ObjectOpener opener(key, std::string(name), size.value_or(0));
   std::string bytes(size.value_or(0), '\0');
   try {
      if (!size) opener.refuse();
      opener.open(sealed.substr(headerSize), 0, bytes.size(), bytes.data());
   } catch (const SqlError&) {
      // Decryption failed: the header tells why. It is not asked before, since chunks that decrypt were sealed with
      // this key, no matter what a damaged header says.
      if (!isSealed)
         throw SqlError(sqlstate::invalidParameterValue,
                        "an encryption key was given, but object \"" + std::string(name) + "\" is not encrypted")
             .hint("A database that was made without a key stays without: start without the key, or make a new "
                   "database and copy the tables.");
      if (hasHeader && header.keyId != expected.keyId)
         throw SqlError(sqlstate::invalidParameterValue,
                        "object \"" + std::string(name) + "\" is encrypted with another key")
             .hint("Give the key with which the database was made.");
      throw;
   }
   if (!hasHeader || std::memcmp(&header, &expected, sizeof header) != 0) opener.refuse();
   return bytes;
}

} // namespace ouzel::io
