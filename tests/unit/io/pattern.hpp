#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

/// Pseudorandom bytes, so that a piece at the wrong place is detected.
inline std::string pattern(size_t size, uint64_t seed = 1) {
   std::string bytes(size, '\0');
   for (char& c : bytes) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      c = static_cast<char>(seed >> 56);
   }
   return bytes;
}
