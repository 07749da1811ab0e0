#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/block/landing.hpp"

namespace ouzel::storage {

/// The stretches of one object that scans read or hold, so that another scan that needs the same bytes waits for these
/// instead of asking for them again. Does not keep them. Thread-safe.
class LandingList {
public:
   void add(const std::shared_ptr<Landing>& landing);
   /// One with these bytes of the object, whose read has not failed; null: there is none.
   std::shared_ptr<Landing> find(uint64_t offset, size_t size);

private:
   Mutex mutex_; ///< guards what follows
   std::vector<std::weak_ptr<Landing>> landings_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
