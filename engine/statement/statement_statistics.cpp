#include "engine/statement/statement_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"

namespace ouzel::engine {

namespace {

/// With each eviction all weights shrink by this factor, so that statements of long ago give way.
constexpr double weightKept = 0.99;
/// The part of the table that one eviction frees, and at least so many entries.
constexpr size_t evictedDivisor = 20, evictedMin = 10;

constexpr double nanosPerMilli = 1e6;

size_t bytesOf(const StatementStatistics::Entry& entry) {
   constexpr size_t nodeBytes = 64; // of the hash table, and of the shared text
   return sizeof(entry) + nodeBytes + entry.text->capacity();
}

/// Cuts the text, but no character of it.
void cut(std::string& text) {
   if (text.size() <= StatementStatistics::textBytesMax) return;
   size_t size = StatementStatistics::textBytesMax;
   while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
      --size;
   text.resize(size);
}

void addTo(StatementStatistics::Entry& entry, const StatementUse& use) {
   for (uint32_t i = 0; i < use.plans; ++i)
      entry.plans.add(static_cast<double>(use.planNanos) / nanosPerMilli / use.plans);
   entry.calls.add(static_cast<double>(std::max<int64_t>(use.nanos - use.preparationNanos, 0)) / nanosPerMilli);
   entry.rows += use.rows;
   entry.pagesHit += use.pagesHit;
   entry.pagesRead += use.pagesRead;
   entry.spillBytesWritten += use.spillBytesWritten;
   entry.spillBytesRead += use.spillBytesRead;
   entry.weight += 1;
}

} // namespace

void DurationSummary::add(double millis) {
   min_ = count_ == 0 ? millis : std::min(min_, millis);
   max_ = count_ == 0 ? millis : std::max(max_, millis);
   ++count_;
   total_ += millis;
   const double before = millis - mean_;
   mean_ += before / static_cast<double>(count_);
   squares_ += before * (millis - mean_);
}

double DurationSummary::deviation() const {
   return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0;
}

StatementStatistics::StatementStatistics(MemoryLedger& ledger, size_t entriesMax)
   : entriesMax_(entriesMax), memory_(ledger) {
   DCHECK(entriesMax > 0);
   const MutexLock lock(mutex_);
   info_.resetAt = wallClockMicros();
}

bool StatementStatistics::addKnown(const StatementKey& key, const StatementUse& use) {
   const MutexLock lock(mutex_);
   const auto found = entries_.find(key);
   if (found == entries_.end()) return false;
   addTo(found->second, use);
   return true;
}

void StatementStatistics::addNew(const StatementKey& key, const StatementUse& use, std::string text) {
   cut(text);
   text.shrink_to_fit();
   Entry entry;
   entry.key = key;
   entry.text = std::make_shared<const std::string>(std::move(text));
   const MutexLock lock(mutex_);
   if (const auto found = entries_.find(key); found != entries_.end()) // another session was faster
      return addTo(found->second, use);
   if (entries_.size() >= entriesMax_) evict();
   if (!memory_.tryGrow(bytesOf(entry))) return;
   addTo(entries_.emplace(key, std::move(entry)).first->second, use);
}

void StatementStatistics::evict() {
   std::vector<Entries::iterator> byWeight;
   byWeight.reserve(entries_.size());
   for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      entry->second.weight *= weightKept;
      byWeight.push_back(entry);
   }
   const size_t count = std::min(std::max(evictedMin, byWeight.size() / evictedDivisor), byWeight.size());
   const auto end = byWeight.begin() + static_cast<std::ptrdiff_t>(count);
   std::nth_element(byWeight.begin(), end, byWeight.end(),
                    [](const auto& a, const auto& b) { return a->second.weight < b->second.weight; });
   for (auto entry = byWeight.begin(); entry != end; ++entry)
      erase(*entry);
   ++info_.evictions;
}

StatementStatistics::Entries::iterator StatementStatistics::erase(Entries::iterator entry) {
   memory_.shrink(bytesOf(entry->second));
   return entries_.erase(entry);
}

std::vector<StatementStatistics::Entry> StatementStatistics::list() const {
   std::vector<Entry> out;
   const MutexLock lock(mutex_);
   out.reserve(entries_.size());
   for (const auto& [key, entry] : entries_)
      out.push_back(entry);
   return out;
}

StatementStatistics::Info StatementStatistics::info() const {
   const MutexLock lock(mutex_);
   return info_;
}

void StatementStatistics::reset(Oid role, Oid database, uint64_t queryId) {
   const MutexLock lock(mutex_);
   for (auto entry = entries_.begin(); entry != entries_.end();) {
      const StatementKey& key = entry->first;
      const bool isMeant = (role == invalidOid || role == key.role) &&
                           (database == invalidOid || database == key.database) &&
                           (queryId == 0 || queryId == key.queryId);
      entry = isMeant ? erase(entry) : std::next(entry);
   }
   if (role == invalidOid && database == invalidOid && queryId == 0) info_ = {0, wallClockMicros()};
}

} // namespace ouzel::engine
