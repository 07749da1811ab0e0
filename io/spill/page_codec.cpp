#include "io/spill/page_codec.hpp"

#include <cstring>
#include <lz4.h>
#include <optional>
#include <string_view>
#include <type_traits>
#include <xxhash.h>
#include <zstd.h>

#include "common/error/check.hpp"
#include "io/crypto/aes_gcm.hpp"

namespace ouzel::io {

namespace {

constexpr uint32_t unitMagic = 0x50535a4f; // "OZSP"

struct UnitHeader {
   uint32_t magic, level, rawBytes, storedBytes;
   uint64_t place, checksum, nonce;
   char tag[AesGcm::tagSize];
};
static_assert(sizeof(UnitHeader) == unitHeaderBytes);

std::string_view viewOf(const std::byte* bytes, size_t size) {
   return {reinterpret_cast<const char*>(bytes), size};
}

// The levels that are worth their CPU (bench/spill/device; nanoseconds of a core at 2.8 GHz). Left out: zstd--20 to
// zstd--7, which LZ4 does faster (1.05 to 1.41 ns for 66 to 51 %), zstd-2 (as zstd-1), zstd-5 (6.4 ns for 33.5 %).
constexpr SpillLevel levels[] = {{"none", SpillLevel::Codec::None, 0, 1.004, 0.07, 0.07},
                                 {"lz4-32", SpillLevel::Codec::Lz4, 32, 0.687, 0.5, 0.17},
                                 {"lz4-8", SpillLevel::Codec::Lz4, 8, 0.559, 0.74, 0.21},
                                 {"lz4", SpillLevel::Codec::Lz4, 1, 0.464, 1.0, 0.25},
                                 {"zstd--5", SpillLevel::Codec::Zstd, -5, 0.425, 1.67, 0.6},
                                 {"zstd--1", SpillLevel::Codec::Zstd, -1, 0.361, 2.03, 0.69},
                                 {"zstd-1", SpillLevel::Codec::Zstd, 1, 0.349, 2.56, 0.87},
                                 {"zstd-3", SpillLevel::Codec::Zstd, 3, 0.339, 2.99, 0.84}};

uint64_t checksumOf(UnitHeader header, const std::byte* stored) {
   header.checksum = 0;
   return XXH3_64bits_withSeed(stored, header.storedBytes, XXH3_64bits(&header, sizeof header));
}

/// What the seal binds the stored bytes to.
struct SealedWith {
   uint64_t file, place;
   uint32_t level, rawBytes;

   SealedWith(UnitPlace where, const UnitHeader& header)
      : file(where.file), place(where.offset), level(header.level), rawBytes(header.rawBytes) {}
   std::string_view view() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};
static_assert(std::has_unique_object_representations_v<SealedWith>);

} // namespace

std::span<const SpillLevel> spillLevels() {
   return levels;
}

struct UnitEncoder::Contexts {
   SpillSeal* seal = nullptr; ///< null: units are not encrypted
   std::optional<AesGcm> cipher{};
   std::unique_ptr<char[]> lz4 = std::make_unique<char[]>(static_cast<size_t>(LZ4_sizeofState()));
   ZSTD_CCtx* zstd = nullptr;
   ~Contexts() { ::ZSTD_freeCCtx(zstd); }
};

UnitEncoder::UnitEncoder(SpillSeal* seal) : contexts_(std::make_unique<Contexts>()) {
   contexts_->seal = seal;
   if (seal) contexts_->cipher.emplace(seal->key);
}
UnitEncoder::~UnitEncoder() = default;

size_t UnitEncoder::encode(std::span<const std::byte> raw, UnitPlace place, size_t blockBytes, uint32_t& level,
                           std::byte* target) {
   DCHECK(raw.size() <= unitBytesMax && level < std::size(levels));
   std::byte* const bytes = target + unitHeaderBytes;
   // Compression must save at least one block.
   const size_t roomBytes = raw.size() > blockBytes ? raw.size() - blockBytes : 0;
   size_t stored = 0;
   const SpillLevel& how = levels[level];
   if (roomBytes > 0 && how.codec == SpillLevel::Codec::Lz4) {
      stored = static_cast<size_t>(::LZ4_compress_fast_extState(
          contexts_->lz4.get(), reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(bytes),
          static_cast<int>(raw.size()), static_cast<int>(roomBytes), how.parameter));
   } else if (roomBytes > 0 && how.codec == SpillLevel::Codec::Zstd) {
      if (!contexts_->zstd) contexts_->zstd = ::ZSTD_createCCtx();
      if (contexts_->zstd) {
         stored = ::ZSTD_compressCCtx(contexts_->zstd, bytes, roomBytes, raw.data(), raw.size(), how.parameter);
         if (::ZSTD_isError(stored)) stored = 0;
      }
   }
   if (stored == 0) {
      level = 0;
      stored = raw.size();
      std::memcpy(bytes, raw.data(), raw.size());
   }
   UnitHeader header{
       unitMagic, level, static_cast<uint32_t>(raw.size()), static_cast<uint32_t>(stored), place.offset, 0, 0, {}};
   if (contexts_->cipher) {
      header.nonce = contexts_->seal->nonces.fetch_add(1, std::memory_order_relaxed);
      const std::string_view plain = viewOf(bytes, stored);
      contexts_->cipher->seal(header.nonce, SealedWith(place, header).view(), std::span(&plain, 1),
                              reinterpret_cast<char*>(bytes), header.tag);
   }
   header.checksum = checksumOf(header, bytes);
   std::memcpy(target, &header, sizeof header);
   const size_t whole = unitBound(stored, blockBytes);
   std::memset(bytes + stored, 0, whole - unitHeaderBytes - stored);
   return whole;
}

struct UnitDecoder::Contexts {
   std::optional<AesGcm> cipher{}; ///< none: units are not encrypted
   std::unique_ptr<std::byte[]> opened{};
   ZSTD_DCtx* zstd = nullptr;
   ~Contexts() { ::ZSTD_freeDCtx(zstd); }
};

UnitDecoder::UnitDecoder(const SpillSeal* seal) : contexts_(std::make_unique<Contexts>()) {
   if (!seal) return;
   contexts_->cipher.emplace(seal->key);
   contexts_->opened = std::make_unique_for_overwrite<std::byte[]>(unitBytesMax);
}
UnitDecoder::~UnitDecoder() = default;

bool UnitDecoder::decodePage(std::span<const std::byte> stored, UnitPlace place, size_t blockBytes,
                             std::span<std::byte> target) {
   while (!target.empty()) {
      UnitHeader header;
      if (stored.size() < sizeof header) return false;
      std::memcpy(&header, stored.data(), sizeof header);
      if (header.magic != unitMagic || header.place != place.offset || header.level >= std::size(levels)) return false;
      if (header.rawBytes == 0 || header.rawBytes > target.size() || header.storedBytes > header.rawBytes) return false;
      const size_t whole = unitBound(header.storedBytes, blockBytes);
      const std::byte* bytes = stored.data() + sizeof header;
      if (whole > stored.size() || checksumOf(header, bytes) != header.checksum) return false;
      if (contexts_->cipher) {
         std::byte* const opened = contexts_->opened.get();
         if (header.storedBytes > unitBytesMax ||
             !contexts_->cipher->open(header.nonce, SealedWith(place, header).view(), viewOf(bytes, header.storedBytes),
                                      header.tag, reinterpret_cast<char*>(opened)))
            return false;
         bytes = opened;
      }
      switch (levels[header.level].codec) {
      case SpillLevel::Codec::None:
         if (header.storedBytes != header.rawBytes) return false;
         std::memcpy(target.data(), bytes, header.rawBytes);
         break;
      case SpillLevel::Codec::Lz4:
         if (::LZ4_decompress_safe(reinterpret_cast<const char*>(bytes), reinterpret_cast<char*>(target.data()),
                                   static_cast<int>(header.storedBytes),
                                   static_cast<int>(header.rawBytes)) != static_cast<int>(header.rawBytes))
            return false;
         break;
      case SpillLevel::Codec::Zstd:
         if (!contexts_->zstd) contexts_->zstd = ::ZSTD_createDCtx();
         if (!contexts_->zstd || ::ZSTD_decompressDCtx(contexts_->zstd, target.data(), header.rawBytes, bytes,
                                                       header.storedBytes) != header.rawBytes)
            return false;
         break;
      }
      target = target.subspan(header.rawBytes);
      stored = stored.subspan(whole);
      place.offset += whole;
   }
   return stored.empty();
}

} // namespace ouzel::io
