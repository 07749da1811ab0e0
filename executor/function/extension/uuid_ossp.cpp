#include <openssl/evp.h>
#include <openssl/rand.h>

#include "common/env/clock.hpp"
#include "common/sync/mutex.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The extension uuid-ossp: UUIDs of RFC 4122. pgcrypto has the random ones, too.

namespace ouzel::executor {

namespace {

constexpr uint128 sign = uint128{1} << 127; ///< uuids are stored with the top bit flipped (physical_type.hpp)

constexpr uint128 uuid(uint64_t high, uint64_t low) {
   return (uint128{high} << 64) | low;
}
int128 stored(uint128 value) {
   return static_cast<int128>(value ^ sign);
}

/// The name spaces of RFC 4122, appendix C, differ in one digit.
template <uint64_t number>
int128 nameSpace() {
   return stored(uuid(0x6ba7b8109dad11d1 + (number << 32), 0x80b400c04fd430c8));
}

std::array<unsigned char, 16> bytesOf(uint128 value) {
   std::array<unsigned char, 16> bytes;
   for (size_t i = 16; i-- > 0; value >>= 8)
      bytes[i] = static_cast<unsigned char>(value);
   return bytes;
}

uint128 valueOf(const unsigned char* bytes) {
   uint128 value = 0;
   for (size_t i = 0; i < 16; ++i)
      value = (value << 8) | bytes[i];
   return value;
}

uint128 marked(uint128 value, uint32_t version) {
   value = (value & ~(uint128{0xf} << 76)) | (uint128{version} << 76);
   return (value & ~(uint128{3} << 62)) | (uint128{2} << 62);
}

void fillRandom(unsigned char* bytes, int size) {
   if (RAND_bytes(bytes, size) != 1) throw SqlError(sqlstate::internalError, "could not generate random values");
}

int128 random() {
   unsigned char bytes[16];
   fillRandom(bytes, sizeof bytes);
   return stored(marked(valueOf(bytes), 4));
}

/// A UUID of a name: a digest of both.
template <const EVP_MD* (*algorithm)(), uint32_t version>
int128 ofName(int128 space, const StringView& name) {
   const std::array<unsigned char, 16> prefix = bytesOf(static_cast<uint128>(space) ^ sign);
   std::string text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
   text += name.view();
   unsigned char hash[EVP_MAX_MD_SIZE];
   if (EVP_Digest(text.data(), text.size(), hash, nullptr, algorithm(), nullptr) != 1) throwInternal("digest failed");
   return stored(marked(valueOf(hash), version));
}

/// Gives each call a time of its own: tenths of microseconds since 1582-10-15, as RFC 4122 counts.
class TimeSource {
public:
   struct Stamp {
      uint64_t time;
      uint16_t sequence;
      std::array<unsigned char, 6> node;
   };
   Stamp next() {
      const MutexLock lock(mutex_);
      if (!isReady_) {
         fillRandom(node_.data(), static_cast<int>(node_.size()));
         node_[0] |= 1; // a multicast address, which no network card has
         unsigned char bytes[2];
         fillRandom(bytes, sizeof bytes);
         sequence_ = static_cast<uint16_t>((bytes[0] << 8 | bytes[1]) & 0x3fff);
         isReady_ = true;
      }
      constexpr uint64_t microsFrom1582To2000 = 13165977600ull * 1000000;
      const uint64_t now = (static_cast<uint64_t>(wallClockMicros()) + microsFrom1582To2000) * 10;
      last_ = std::max(last_ + 1, now);
      return {last_, sequence_, node_};
   }

private:
   Mutex mutex_;
   bool isReady_ GUARDED_BY(mutex_) = false;
   uint64_t last_ GUARDED_BY(mutex_) = 0;
   uint16_t sequence_ GUARDED_BY(mutex_) = 0;
   std::array<unsigned char, 6> node_ GUARDED_BY(mutex_){};
};

uint128 ofTime(const std::array<unsigned char, 6>* node) {
   static TimeSource source;
   const TimeSource::Stamp stamp = source.next();
   const uint64_t high =
       stamp.time << 32 | (stamp.time >> 16 & 0xffff0000) | (stamp.time >> 48 & 0x0fff); // low, mid, high
   uint64_t low = uint64_t{stamp.sequence} << 48;
   for (size_t i = 0; i < 6; ++i)
      low |= uint64_t{(node ? *node : stamp.node)[i]} << (40 - 8 * i);
   return marked(uuid(high, low), 1);
}

/// The server does not tell the addresses of its network cards: a random node of its own, as RFC 4122 allows.
int128 timed() {
   return stored(ofTime(nullptr));
}
/// With another random node each time.
int128 timedWithRandomNode() {
   std::array<unsigned char, 6> node;
   fillRandom(node.data(), static_cast<int>(node.size()));
   node[0] |= 3;
   return stored(ofTime(&node));
}

int128 nil() {
   return stored(0);
}

} // namespace

void registerUuidOssp() {
   addKernel<nil>("uuid-ossp/uuid_nil", totalKernel);
   addKernel<nameSpace<0>>("uuid-ossp/uuid_ns_dns", totalKernel);
   addKernel<nameSpace<1>>("uuid-ossp/uuid_ns_url", totalKernel);
   addKernel<nameSpace<2>>("uuid-ossp/uuid_ns_oid", totalKernel);
   addKernel<nameSpace<4>>("uuid-ossp/uuid_ns_x500", totalKernel);
   addKernel<timed>("uuid-ossp/uuid_generate_v1");
   addKernel<timedWithRandomNode>("uuid-ossp/uuid_generate_v1mc");
   addKernel<ofName<EVP_md5, 3>>("uuid-ossp/uuid_generate_v3");
   addKernels<random>({"uuid-ossp/uuid_generate_v4", "pgcrypto/pg_random_uuid"});
   addKernel<ofName<EVP_sha1, 5>>("uuid-ossp/uuid_generate_v5");
}

} // namespace ouzel::executor
