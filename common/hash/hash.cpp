#include "common/hash/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouzel {

uint64_t hashBytes(const void* data, size_t size) {
   return XXH3_64bits(data, size);
}

} // namespace ouzel
