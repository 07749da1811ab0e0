#pragma once

#include "common/memory/process_allocator.hpp"

// The memory allocator that the program is linked with: one of the files beside this one, chosen by the CMake variable
// OUZEL_ALLOCATOR. jemalloc is what Ouzel is tuned for; the others exist to be compared with it (bench/allocator).

namespace ouzel::server {

/// Of the allocator in use. Under a sanitizer, which brings its own, all but the name is null.
ProcessAllocator linkedAllocator();

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool hasSanitizer = true;
#else
inline constexpr bool hasSanitizer = false;
#endif

} // namespace ouzel::server
