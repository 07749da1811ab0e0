#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::io {

/// The Castagnoli CRC of a byte string that ends in `bytes`; `before` is the CRC of the bytes in front of them.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
/// The value of S3's checksum header: base64 of the CRC's bytes, the most significant first.
std::string crc32cHeader(uint32_t crc);

} // namespace ouzel::io
