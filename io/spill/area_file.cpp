#include "io/spill/area_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/error/check.hpp"

namespace ouzel::io {

AreaFile::AreaFile(AreaDevice& device, uint64_t number) : SpillFile(device), owner_(device), number_(number) {
   owner_.addFile(*this);
}

AreaFile::~AreaFile() {
   owner_.removeFile(*this);
   std::vector<AreaDevice::Removal> removals;
   uint64_t kept = 0;
   for (const auto& [offset, area] : areas_) {
      removals.push_back({keyOf(offset), area.size});
      kept += area.size;
   }
   DCHECK(allocated_ >= kept);
   device_.bytesInUse.fetch_sub(inUse_, std::memory_order_relaxed);
   device_.bytesAllocated.fetch_sub(allocated_ - kept, std::memory_order_relaxed);
   owner_.remove(removals);
}

SpillExtent AreaFile::allocate(uint64_t min, uint64_t want) {
   DCHECK(min > 0 && min <= want && min % blockBytes_ == 0);
   uint64_t taken = want;
   if (!owner_.reserve(taken) && !owner_.reserve(taken = min)) owner_.throwFailure(SpillDevice::Doing::Extend, ENOSPC);
   device_.bytesInUse.fetch_add(taken, std::memory_order_relaxed);
   const MutexLock guard(mutex_);
   allocated_ += taken;
   inUse_ += taken;
   return {std::exchange(end_, end_ + taken), taken};
}

void AreaFile::addArea(SpillExtent area) {
   const MutexLock guard(mutex_);
   areas_.insert_or_assign(area.offset, Area{area.size, area.size}); // a write may be repeated
}

AreaFile::Areas::iterator AreaFile::firstArea(uint64_t offset) {
   const auto it = areas_.upper_bound(offset);
   if (it == areas_.begin()) return it;
   const auto before = std::prev(it);
   return before->first + before->second.size > offset ? before : it;
}

std::vector<AreaFile::Part> AreaFile::parts(SpillExtent extent) {
   std::vector<Part> out;
   const MutexLock guard(mutex_);
   const uint64_t end = extent.offset + extent.size;
   for (auto it = firstArea(extent.offset); it != areas_.end() && it->first < end; ++it) {
      const uint64_t from = std::max(extent.offset, it->first);
      out.push_back(
          {it->first, {from - it->first, std::min(end, it->first + it->second.size) - from}, it->second.size});
   }
   return out;
}

void AreaFile::free(SpillExtent extent) {
   if (extent.size == 0) return;
   std::vector<AreaDevice::Removal> removals;
   {
      const MutexLock guard(mutex_);
      const uint64_t end = extent.offset + extent.size;
      uint64_t inAreas = 0, removed = 0;
      for (auto it = firstArea(extent.offset); it != areas_.end() && it->first < end;) {
         const uint64_t bytes = std::min(end, it->first + it->second.size) - std::max(extent.offset, it->first);
         DCHECK(it->second.live >= bytes); // else an extent was freed twice
         inAreas += bytes;
         it->second.live -= bytes;
         if (it->second.live > 0) {
            ++it;
            continue;
         }
         removals.push_back({keyOf(it->first), it->second.size});
         removed += it->second.size;
         it = areas_.erase(it);
      }
      // What was not written is free at once, an area when it is removed.
      const uint64_t unwritten = extent.size - inAreas;
      DCHECK(inUse_ >= extent.size && allocated_ >= unwritten + removed);
      inUse_ -= extent.size;
      allocated_ -= unwritten + removed;
      device_.bytesInUse.fetch_sub(extent.size, std::memory_order_relaxed);
      device_.bytesAllocated.fetch_sub(unwritten, std::memory_order_relaxed);
   }
   owner_.remove(removals);
}

void AreaFile::appendKeys(std::vector<AreaKey>& keys) {
   const MutexLock guard(mutex_);
   for (const auto& area : areas_)
      keys.push_back(keyOf(area.first));
}

} // namespace ouzel::io
