#pragma once
#include <cstdint>

namespace ouzel::executor {

/// Finds the hash that most rows of a stream have, if there is one (Boyer & Moore 1991, "MJRTY"). At least lead() rows
/// have it; if three quarters of the rows do, lead() is at least half of them.
class MajorityVote {
public:
   void add(uint64_t hash) {
      if (lead_ == 0) hash_ = hash;
      lead_ = hash == hash_ ? lead_ + 1 : lead_ - 1;
   }
   uint64_t hash() const { return hash_; }
   uint64_t lead() const { return lead_; }

private:
   uint64_t hash_ = 0, lead_ = 0;
};

} // namespace ouzel::executor
