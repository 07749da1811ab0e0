#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/block/landing.hpp"

namespace ouzel::storage {

/// The stretches of one object that scans read or hold. A scan that needs bytes of such a stretch waits for it instead
/// of reading the bytes again. Holds weak pointers only. Thread-safe.
class LandingList {
public:
   void add(const std::shared_ptr<Landing>& landing);
   /// A stretch that contains these bytes of the object and whose read has not failed; null when there is none.
   std::shared_ptr<Landing> find(uint64_t offset, size_t size);

private:
   Mutex mutex_; ///< guards the members below
   std::vector<std::weak_ptr<Landing>> landings_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
