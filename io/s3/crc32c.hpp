#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::io {

/// The Castagnoli CRC of bytes after those whose CRC is `before`.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
/// As S3's checksum headers have it: base64 of its bytes, the highest first.
std::string crc32cHeader(uint32_t crc);

} // namespace ouzel::io
