#include "io/s3/crc32c.hpp"

#include <cstring>
#include <nmmintrin.h>

#include "io/s3/signer.hpp"

namespace ouzel::io {

uint32_t crc32c(std::string_view bytes, uint32_t before) {
   uint64_t crc = ~before;
   const char* at = bytes.data();
   const char* const end = at + bytes.size();
   for (; end - at >= 8; at += 8) {
      uint64_t word;
      std::memcpy(&word, at, sizeof word);
      crc = _mm_crc32_u64(crc, word);
   }
   auto rest = static_cast<uint32_t>(crc);
   for (; at != end; ++at)
      rest = _mm_crc32_u8(rest, static_cast<unsigned char>(*at));
   return ~rest;
}

std::string crc32cHeader(uint32_t crc) {
   const char bytes[] = {static_cast<char>(crc >> 24), static_cast<char>(crc >> 16), static_cast<char>(crc >> 8),
                         static_cast<char>(crc)};
   return base64({bytes, sizeof bytes});
}

} // namespace ouzel::io
