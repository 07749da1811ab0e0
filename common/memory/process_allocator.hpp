#pragma once
#include <cstddef>

namespace ouzel {

/// The memory allocator of the process.
struct ProcessAllocator {
   const char* name = "unknown";
   /// Returns memory that the allocator keeps to the system. Null: resident memory has no meaning, as under a
   /// sanitizer.
   void (*purge)() = nullptr;
   /// Bytes that are allocated now. Null: not known.
   size_t (*allocatedBytes)() = nullptr;
};

/// Set once, by main() before other threads start; read by any thread.
void setProcessAllocator(const ProcessAllocator& allocator);
const ProcessAllocator& processAllocator();

/// Bytes of memory that the process has resident; 0: not known.
size_t residentBytes();

} // namespace ouzel
