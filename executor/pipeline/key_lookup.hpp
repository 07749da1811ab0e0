#pragma once
#include <cstdint>
#include <vector>

namespace ouzel::executor {

/// The keys of a join that built few rows, for a scan of the probe side that finds them by an index instead of reading
/// the table. Published once by the join before the probe pipeline starts; read-only afterwards.
class KeyLookup {
public:
   /// More keys than this are not worth single lookups; the join's other filters serve then.
   static constexpr uint64_t keysMax = 1024;

   /// Hashes as storage::KeyFilter has them, of the index's columns in its order.
   void publish(std::vector<uint64_t> hashes) {
      hashes_ = std::move(hashes);
      isPublished_ = true;
   }
   void reset() { isPublished_ = false; }
   bool isPublished() const { return isPublished_; }
   const std::vector<uint64_t>& hashes() const { return hashes_; }

private:
   bool isPublished_ = false;
   std::vector<uint64_t> hashes_;
};

} // namespace ouzel::executor
