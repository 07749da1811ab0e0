#include "executor/operator/flow/seen_rows.hpp"

#include <algorithm>
#include <bit>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t slotsMin = 512;
/// A smaller table is not written: it grows, though memory is short. Runs would be too short.
constexpr size_t slotsWorth = 1 << 13;
constexpr size_t entriesPerPage = 4096; // 64 KiB
constexpr size_t runsPerLevel = 4;
/// The filter takes this part of what the recursion can count on.
constexpr size_t filterDivisor = 4;

} // namespace

/// Gives the entries of a run one by one, and frees its pages.
class SeenRows::RunReader {
public:
   RunReader(const Run& run, io::SpillSpace& space, Reservation& memory)
      : reader_(space, entriesPerPage * sizeof(Entry)),
        page_(entriesPerPage * sizeof(Entry), memory, LargeMemory::Fill::Anything) {
      for (const io::SpilledPage& page : run.pages)
         reader_.add(page);
   }
   /// Null at the end.
   const Entry* current() {
      if (at_ == count_) {
         if (reader_.isEmpty()) return nullptr;
         count_ = reader_.nextBytes() / sizeof(Entry);
         CHECK(count_ > 0);
         CHECK(count_ <= entriesPerPage);
         reader_.next(page_.as<std::byte>());
         at_ = 0;
      }
      return page_.as<Entry>() + at_;
   }
   void advance() { ++at_; }

private:
   io::SpillReader reader_;
   LargeMemory page_;
   size_t at_ = 0, count_ = 0;
};

class SeenRows::RunWriter {
public:
   RunWriter(io::SpillSpace& space, const std::function<void()>& interrupt) : space_(space), interrupt_(interrupt) {}
   void write(std::span<const Entry> entries) {
      for (; !entries.empty(); entries = entries.subspan(std::min(entriesPerPage, entries.size()))) {
         interrupt_();
         const auto bytes = std::as_bytes(entries.first(std::min(entriesPerPage, entries.size())));
         run_.firsts.push_back(entries.front().hash);
         run_.pages.push_back(space_.write({&bytes, 1}));
      }
   }
   Run finish(uint32_t level) {
      run_.level = level;
      return std::move(run_);
   }

private:
   io::SpillSpace& space_;
   const std::function<void()>& interrupt_;
   Run run_;
};

SeenRows::SeenRows(QueryBudget& budget, io::SpillSpace* space, std::function<void()> interrupt)
   : space_(space), interrupt_(std::move(interrupt)), grant_(budget) {}

bool SeenRows::mayGrow(size_t slots) {
   if (!space_) return true; // or 53200
   if (slots <= slotsWorth && !grant_.policy().spillsAlways) return true;
   return grant_.mayGrow(slots * sizeof(Entry));
}

void SeenRows::put(const Entry& entry) {
   auto* entries = table_.as<Entry>();
   size_t slot = entry.hash & (slots_ - 1);
   while (entries[slot].batch != 0)
      slot = (slot + 1) & (slots_ - 1);
   entries[slot] = entry;
}

void SeenRows::grow(size_t slots) {
   const LargeMemory old = std::move(table_);
   table_ = LargeMemory(slots * sizeof(Entry), grant_.memory());
   const size_t before = std::exchange(slots_, slots);
   for (size_t i = 0; i < before; ++i)
      if (old.as<Entry>()[i].batch != 0) put(old.as<Entry>()[i]);
}

void SeenRows::add(uint64_t hash, Place place) {
   if (used_ * 2 >= slots_) {
      const size_t wanted = std::max(slotsMin, slots_ * 2);
      if (slots_ == 0 || mayGrow(wanted))
         grow(wanted);
      else
         writeRun();
   }
   put({hash, place.batch + 1, place.row});
   ++used_;
}

/// Write the table as a run.
void SeenRows::writeRun() {
   auto* entries = table_.as<Entry>();
   Entry* const end = std::remove_if(entries, entries + slots_, [](const Entry& entry) { return entry.batch == 0; });
   std::sort(entries, end, [](const Entry& a, const Entry& b) { return a.hash < b.hash; });
   if (!filter_) {
      const size_t bytes = std::bit_floor(std::max(grant_.floor() / filterDivisor, sizeof(uint64_t)));
      filter_ = std::make_unique<HashFilter>(std::min<uint64_t>(bytes / sizeof(uint64_t), HashFilter::wordsMax),
                                             grant_.memory());
   }
   for (const Entry* entry = entries; entry != end; ++entry)
      filter_->add(entry->hash);
   RunWriter writer(*space_, interrupt_);
   writer.write({entries, end});
   runs_.push_back(writer.finish(0));
   std::fill(entries, entries + slots_, Entry{});
   used_ = 0;
   const auto isFull = [this] {
      return runs_.size() >= runsPerLevel && runs_[runs_.size() - runsPerLevel].level == runs_.back().level;
   };
   while (isFull())
      mergeLast(runsPerLevel);
}

/// Replace the last runs by one.
void SeenRows::mergeLast(size_t count) {
   const auto first = runs_.end() - static_cast<ptrdiff_t>(count);
   std::vector<std::unique_ptr<RunReader>> inputs;
   for (auto run = first; run != runs_.end(); ++run)
      inputs.push_back(std::make_unique<RunReader>(*run, *space_, grant_.memory()));
   const LargeMemory page(entriesPerPage * sizeof(Entry), grant_.memory(), LargeMemory::Fill::Anything);
   auto* entries = page.as<Entry>();
   size_t filled = 0;
   RunWriter writer(*space_, interrupt_);
   while (true) {
      RunReader* lowest = nullptr;
      for (const auto& input : inputs)
         if (input->current() && (!lowest || input->current()->hash < lowest->current()->hash)) lowest = input.get();
      if (!lowest) break;
      entries[filled++] = *lowest->current();
      lowest->advance();
      if (filled == entriesPerPage) writer.write({entries, std::exchange(filled, 0)});
   }
   writer.write({entries, filled});
   Run merged = writer.finish(runs_.back().level + 1);
   runs_.erase(first, runs_.end());
   runs_.push_back(std::move(merged));
}

void SeenRows::find(std::span<Probe> probes, const Found& found) {
   const auto* entries = table_.as<Entry>();
   if (slots_ > 0)
      for (const Probe& probe : probes)
         for (size_t slot = probe.hash & (slots_ - 1); entries[slot].batch != 0; slot = (slot + 1) & (slots_ - 1))
            if (entries[slot].hash == probe.hash) found(probe, {entries[slot].batch - 1, entries[slot].row});
   if (runs_.empty()) return;
   std::sort(probes.begin(), probes.end(), [](const Probe& a, const Probe& b) { return a.hash < b.hash; });
   std::vector<Probe> known;
   std::copy_if(probes.begin(), probes.end(), std::back_inserter(known),
                [this](const Probe& probe) { return filter_->mayContain(probe.hash); });
   if (known.empty()) return;
   for (const Run& run : runs_)
      findInRun(run, known, found);
}

/// `probes`: in order of their hashes.
void SeenRows::findInRun(const Run& run, std::span<const Probe> probes, const Found& found) {
   if (page_.bytes() == 0)
      page_ = LargeMemory(entriesPerPage * sizeof(Entry), grant_.memory(), LargeMemory::Fill::Anything);
   const auto* entries = page_.as<Entry>();
   size_t loaded = SIZE_MAX, count = 0;
   for (const Probe& probe : probes) {
      // Entries with the hash may begin at the end of the page before the first one that begins with it.
      const auto above = std::lower_bound(run.firsts.begin(), run.firsts.end(), probe.hash);
      size_t page = static_cast<size_t>(above - run.firsts.begin());
      for (page -= page > 0; page < run.pages.size() && run.firsts[page] <= probe.hash; ++page) {
         if (page != loaded) {
            interrupt_();
            io::SpillReader reader(*space_, 0);
            reader.add(run.pages[page], false);
            count = reader.nextBytes() / sizeof(Entry);
            CHECK(count <= entriesPerPage);
            reader.next(page_.as<std::byte>());
            loaded = page;
         }
         const auto* entry = std::lower_bound(entries, entries + count, probe.hash,
                                              [](const Entry& one, uint64_t hash) { return one.hash < hash; });
         for (; entry != entries + count && entry->hash == probe.hash; ++entry)
            found(probe, {entry->batch - 1, entry->row});
      }
   }
}

} // namespace ouzel::executor
