#include "storage/block/landing_list.hpp"

namespace ouzel::storage {

void LandingList::add(const std::shared_ptr<Landing>& landing) {
   const MutexLock lock(mutex_);
   std::erase_if(landings_, [](const auto& known) { return known.expired(); });
   landings_.push_back(landing);
}

std::shared_ptr<Landing> LandingList::find(uint64_t offset, size_t size) {
   std::vector<std::shared_ptr<Landing>> others; // may own landings: destroyed after the lock is released
   const MutexLock lock(mutex_);
   for (const auto& known : landings_) {
      std::shared_ptr<Landing> landing = known.lock();
      if (landing && landing->contains(offset, size) && !landing->hasFailed()) return landing;
      others.push_back(std::move(landing));
   }
   return nullptr;
}

} // namespace ouzel::storage
