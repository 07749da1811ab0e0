#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/crypto/encryption_key.hpp"

// How a spilled page looks on a device: a sequence of units of at most unitBytesMax raw bytes, each with a header and,
// behind it, its bytes as they are or compressed. Every unit fills whole blocks of the device, so that it can be
// written and read with O_DIRECT, and carries what tells a torn, lost or foreign one.
//
//   0  magic       4    12  stored bytes  4    32  nonce  8
//   4  level       4    16  place         8    40  tag    16
//   8  raw bytes   4    24  checksum      8    56  bytes
//
// Places are offsets in the file; the checksum is of header and stored bytes. When the device is not to be trusted, the
// stored bytes are sealed with AES-256-GCM: nonces count all units of the process, whose key nobody else has. Otherwise
// nonce and tag are 0.

namespace ouzel::io {

inline constexpr size_t unitBytesMax = size_t{256} << 10;
inline constexpr size_t unitHeaderBytes = 56;

/// The scale: a higher level costs more CPU and stores fewer bytes. Level 0 stores bytes as they are.
struct SpillLevel {
   enum class Codec : uint8_t { None, Lz4, Zstd };
   const char* name;
   Codec codec;
   int parameter; ///< LZ4: acceleration; zstd: level
   /// Of rows of lineitem, to begin with: stored bytes and nanoseconds per raw byte.
   double ratio, encodeNanos, decodeNanos;
};
std::span<const SpillLevel> spillLevels();

/// What a unit of `rawBytes` needs at most, in whole blocks.
constexpr size_t unitBound(size_t rawBytes, size_t blockBytes) {
   return (unitHeaderBytes + rawBytes + blockBytes - 1) / blockBytes * blockBytes;
}
/// What a page of `rawBytes` needs at most.
constexpr size_t pageBound(size_t rawBytes, size_t blockBytes) {
   const size_t full = rawBytes / unitBytesMax, rest = rawBytes % unitBytesMax;
   return full * unitBound(unitBytesMax, blockBytes) + (rest > 0 ? unitBound(rest, blockBytes) : 0);
}

/// What units of one process are sealed with. Thread-safe.
struct SpillSeal {
   const SecretBytes key = EncryptionKey::makeRandom()->derive("", "ouzel spill 1");
   std::atomic<uint64_t> nonces{0};
};

/// Writes units. One thread's at a time.
class UnitEncoder {
public:
   /// `seal` must outlive it; null: units are not encrypted.
   explicit UnitEncoder(SpillSeal* seal = nullptr);
   ~UnitEncoder();
   /// Encode `raw` to `target`, which has room for its unitBound, and return how many bytes were written: whole blocks.
   /// What does not shrink is stored as it is; `level` says what became of it.
   size_t encode(std::span<const std::byte> raw, uint64_t place, size_t blockBytes, uint32_t& level, std::byte* target);

private:
   struct Contexts;
   std::unique_ptr<Contexts> contexts_;
};

/// Reads units. One thread's at a time.
class UnitDecoder {
public:
   explicit UnitDecoder(const SpillSeal* seal = nullptr);
   ~UnitDecoder();
   /// Decode all units of a page to `target`; false when they are not what was written.
   [[nodiscard]] bool decodePage(std::span<const std::byte> stored, uint64_t place, size_t blockBytes,
                                 std::span<std::byte> target);

private:
   struct Contexts;
   std::unique_ptr<Contexts> contexts_;
};

} // namespace ouzel::io
