#pragma once
#include <cstdint>
#include <vector>

namespace ouzel::executor {

/// The build keys of a join that built few rows. A scan of the probe side looks the keys up in an index instead of
/// reading the table. The join publishes them once, before the probe pipeline starts; read-only afterwards.
class KeyLookup {
public:
   /// With more keys, single lookups cost more than a scan with the join's runtime filters.
   static constexpr uint64_t keysMax = 1024;

   /// Hashes of the index's columns in the order of the index, as in storage::KeyFilter.
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
