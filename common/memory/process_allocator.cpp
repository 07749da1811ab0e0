#include "common/memory/process_allocator.hpp"

#include <cstdio>
#include <unistd.h>

namespace ouzel {

namespace {
ProcessAllocator theAllocator;
} // namespace

void setProcessAllocator(const ProcessAllocator& allocator) {
   theAllocator = allocator;
}

const ProcessAllocator& processAllocator() {
   return theAllocator;
}

size_t residentBytes() {
   std::FILE* file = std::fopen("/proc/self/statm", "re");
   if (!file) return 0;
   unsigned long size = 0, resident = 0;
   const bool isRead = std::fscanf(file, "%lu %lu", &size, &resident) == 2;
   std::fclose(file);
   return isRead ? resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

} // namespace ouzel
