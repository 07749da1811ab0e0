#include "storage/table/segment.hpp"

#include <algorithm>

#include "common/error/check.hpp"

namespace ouzel::storage {

void SegmentVersions::addCommit(Timestamp timestamp, uint32_t rowEnd, Timestamp horizon) {
   constexpr size_t pruneFrom = 64;
   const MutexLock lock(mutex_);
   CHECK(commits_.empty() || commits_.back().timestamp <= timestamp);
   CHECK(commits_.empty() || commits_.back().rowEnd <= rowEnd);
   if (commits_.size() >= pruneFrom) {
      // Every snapshot sees the commits up to the horizon: only the last of them is needed.
      const auto firstNeeded = std::find_if(commits_.begin(), commits_.end(),
                                            [&](const Commit& commit) { return commit.timestamp > horizon; });
      if (firstNeeded - commits_.begin() > 1) commits_.erase(commits_.begin(), firstNeeded - 1);
   }
   commits_.push_back({timestamp, rowEnd});
}

uint32_t SegmentVersions::visibleRows(Timestamp timestamp) const {
   const MutexLock lock(mutex_);
   for (size_t i = commits_.size(); i-- > 0;)
      if (commits_[i].timestamp <= timestamp) return commits_[i].rowEnd;
   return 0;
}

uint32_t SegmentVersions::committedRows() const {
   const MutexLock lock(mutex_);
   return commits_.empty() ? 0 : commits_.back().rowEnd;
}

} // namespace ouzel::storage
