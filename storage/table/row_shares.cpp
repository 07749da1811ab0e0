#include "storage/table/row_shares.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/error/check.hpp"
#include "storage/table/key_index.hpp"

namespace ouzel::storage {

RowShares::~RowShares() {
   memory_.shrink(locks_.size() * lockBytes);
   for (const auto& [transaction, claims] : claims_)
      memory_.shrink(claims.rows.size() * claimBytes);
}

uint32_t RowShares::keyOf(const std::vector<uint32_t>& columns) {
   const MutexLock lock(mutex_);
   const auto found = std::find(keys_.begin(), keys_.end(), columns);
   const auto number = static_cast<uint32_t>(found - keys_.begin());
   if (found == keys_.end()) keys_.push_back(columns);
   return number + 1;
}

uint32_t RowShares::keyCount() const {
   const MutexLock lock(mutex_);
   return static_cast<uint32_t>(keys_.size());
}

std::vector<uint32_t> RowShares::key(uint32_t number) const {
   const MutexLock lock(mutex_);
   return keys_.at(number - 1);
}

bool RowShares::lookAgain(const Place& place, TransactionId marker, LockStrength ofMark, uint32_t& looks) const {
   constexpr uint32_t yieldsMax = 100, looksMax = 200; // another row may have the same hash
   Found found;
   find(place, marker, ofMark, found);
   if (found.holder == 0 || ++looks > looksMax) return false;
   if (looks <= yieldsMax)
      std::this_thread::yield();
   else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
   return true;
}

bool RowShares::insert(const Place& place, TransactionId transaction, LockStrength strength) {
   const auto [first, end] = locks_.equal_range(place);
   if (std::any_of(first, end, [&](const auto& entry) { return entry.second == Lock{transaction, strength}; }))
      return false;
   locks_.emplace(place, Lock{transaction, strength});
   if (place.key == 0) ++rowLocks_[segmentOf(place.value)];
   count_.fetch_add(1);
   return true;
}

void RowShares::erase(const Place& place, TransactionId transaction, LockStrength strength) {
   const auto [first, end] = locks_.equal_range(place);
   const auto found = std::find_if(first, end, [&](const auto& entry) {
      return entry.second == Lock{transaction, strength};
   });
   CHECK(found != end);
   locks_.erase(found);
   if (place.key == 0) {
      const auto ofSegment = rowLocks_.find(segmentOf(place.value));
      if (--ofSegment->second == 0) rowLocks_.erase(ofSegment);
   }
   count_.fetch_sub(1);
   memory_.shrink(lockBytes);
}

void RowShares::remove(const Place& place, TransactionId transaction, LockStrength strength) {
   const MutexLock lock(mutex_);
   erase(place, transaction, strength);
}

void RowShares::find(const Place& place, TransactionId transaction, LockStrength wanted, Found& found) const {
   const MutexLock lock(mutex_);
   for (auto [entry, end] = locks_.equal_range(place); entry != end; ++entry) {
      if (entry->second.transaction == transaction)
         found.isShared = true;
      else if (conflicts(entry->second.strength, wanted) &&
               (found.holder == 0 || entry->second.transaction < found.holder))
         found.holder = entry->second.transaction;
   }
}

bool RowShares::hasRowsOf(SegmentId segment) const {
   if (isEmpty()) return false;
   const MutexLock lock(mutex_);
   return rowLocks_.contains(segment);
}

void RowShares::claim(TransactionId transaction, const SegmentPtr& segment, uint32_t row, uint32_t command,
                      const Definitions& definitions) {
   memory_.grow(claimBytes); // may wait: not with the mutex
   const MutexLock lock(mutex_);
   Claims& claims = claims_[claimant(transaction)];
   claims.rows.push_back({segment, row, command});
   claims.definitions = definitions;
}

void RowShares::unclaim(TransactionId transaction, SegmentId segment, uint32_t row) {
   const MutexLock lock(mutex_);
   Claims& claims = claims_.at(claimant(transaction));
   const auto found = std::find_if(claims.rows.rbegin(), claims.rows.rend(), [&](const Claim& claim) {
      return claim.row == row && claim.segment->id == segment;
   });
   CHECK(found != claims.rows.rend());
   claims.rows.erase(std::next(found).base());
   memory_.shrink(claimBytes);
   claims.ofKey.clear();
   if (claims.rows.empty()) claims_.erase(claimant(transaction));
}

void RowShares::unclaimSince(TransactionId transaction, uint32_t command) {
   const MutexLock lock(mutex_);
   const auto found = claims_.find(claimant(transaction));
   if (found == claims_.end()) return;
   Claims& claims = found->second;
   const size_t gone = std::erase_if(claims.rows, [&](const Claim& claim) { return claim.command >= command; });
   memory_.shrink(gone * claimBytes);
   if (gone > 0) claims.ofKey.clear();
   if (claims.rows.empty()) claims_.erase(found);
}

bool RowShares::hasClaims(TransactionId transaction) const {
   const MutexLock lock(mutex_);
   return claims_.contains(claimant(transaction));
}

bool RowShares::isClaimed(TransactionId updater, const Place& place) {
   const auto found = claims_.find(claimant(updater));
   if (found == claims_.end()) return false;
   if (place.key == 0) return true; // a row id does not find other versions
   Claims& claims = found->second;
   if (claims.ofKey.size() < place.key) claims.ofKey.resize(place.key);
   Claims::Hashes& hashes = claims.ofKey[place.key - 1];
   while (hashes.rowCount < claims.rows.size()) {
      const Claim& first = claims.rows[hashes.rowCount];
      uint32_t least = first.row, most = first.row;
      size_t end = hashes.rowCount;
      for (; end < claims.rows.size() && claims.rows[end].segment == first.segment &&
             claims.rows[end].row / vectorRows == first.row / vectorRows;
           ++end) {
         least = std::min(least, claims.rows[end].row);
         most = std::max(most, claims.rows[end].row);
      }
      std::vector<uint8_t> outside;
      const std::vector<uint64_t> some = hashKeys(*first.segment, claims.definitions, keys_.at(place.key - 1), nullptr,
                                                  least, most - least + 1, outside);
      for (; hashes.rowCount < end; ++hashes.rowCount)
         hashes.all.insert(some[claims.rows[hashes.rowCount].row - least]);
   }
   return hashes.all.contains(place.value);
}

} // namespace ouzel::storage
