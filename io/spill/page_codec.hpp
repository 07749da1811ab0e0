#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/crypto/encryption_key.hpp"

// Layout of a spilled page on a device: a sequence of units of at most unitBytesMax raw bytes. A unit is a header and
// its bytes, plain or compressed. It fills whole blocks of the device, so that O_DIRECT can write and read it, and its
// header detects torn, lost and foreign units.
//
//   0  magic       4    12  stored bytes  4    32  nonce  8
//   4  level       4    16  place         8    40  tag    16
//   8  raw bytes   4    24  checksum      8    56  bytes
//
// A place is the unit's offset in the file. The checksum covers header and stored bytes. With encryption the stored
// bytes are sealed with AES-256-GCM under a random key of the process, and nonces count all units of the process. The
// seal binds them to the unit's file, place, level and raw bytes, so that one unit cannot stand for another. Without
// encryption nonce and tag are 0.

namespace ouzel::io {

inline constexpr size_t unitBytesMax = size_t{256} << 10;
inline constexpr size_t unitHeaderBytes = 56;

/// One level of the compression scale. A higher level costs more CPU and stores fewer bytes; level 0 does not compress.
struct SpillLevel {
   enum class Codec : uint8_t { None, Lz4, Zstd };
   const char* name;
   Codec codec;
   int parameter; ///< LZ4: acceleration; zstd: level
   /// Initial estimates, measured with rows of lineitem: stored bytes per raw byte, and nanoseconds per raw byte.
   double ratio, encodeNanos, decodeNanos;
};
std::span<const SpillLevel> spillLevels();

/// Most bytes that a unit of `rawBytes` can fill, in whole blocks.
constexpr size_t unitBound(size_t rawBytes, size_t blockBytes) {
   return (unitHeaderBytes + rawBytes + blockBytes - 1) / blockBytes * blockBytes;
}
/// Most bytes that a page of `rawBytes` can fill.
constexpr size_t pageBound(size_t rawBytes, size_t blockBytes) {
   const size_t full = rawBytes / unitBytesMax, rest = rawBytes % unitBytesMax;
   return full * unitBound(unitBytesMax, blockBytes) + (rest > 0 ? unitBound(rest, blockBytes) : 0);
}

/// Where a unit is: a number that no other file of the process has, and the offset in the file.
struct UnitPlace {
   uint64_t file, offset;
};

/// Key and nonces with which one process seals its units. Thread-safe.
struct SpillSeal {
   const SecretBytes key = EncryptionKey::makeRandom()->derive("", "ouzel spill 1");
   std::atomic<uint64_t> nonces{0};
};

/// Encodes units. Used by one thread at a time.
class UnitEncoder {
public:
   /// `seal` must outlive the encoder; null: no encryption.
   explicit UnitEncoder(SpillSeal* seal = nullptr);
   ~UnitEncoder();
   /// Encodes `raw` to `target`, which has room for unitBound() bytes. Returns the bytes written, in whole blocks.
   /// Bytes that do not shrink are stored without compression; `level` is set to the level used.
   size_t encode(std::span<const std::byte> raw, UnitPlace place, size_t blockBytes, uint32_t& level,
                 std::byte* target);

private:
   struct Contexts;
   std::unique_ptr<Contexts> contexts_;
};

/// Decodes units. Used by one thread at a time.
class UnitDecoder {
public:
   explicit UnitDecoder(const SpillSeal* seal = nullptr);
   ~UnitDecoder();
   /// Decodes all units of a page to `target`. False: a unit is damaged or foreign.
   [[nodiscard]] bool decodePage(std::span<const std::byte> stored, UnitPlace place, size_t blockBytes,
                                 std::span<std::byte> target);

private:
   struct Contexts;
   std::unique_ptr<Contexts> contexts_;
};

} // namespace ouzel::io
