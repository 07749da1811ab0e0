#include "executor/operator/window/window_pager.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ouzel::executor {

WindowPager::WindowPager(std::vector<PhysicalType> types, std::vector<SpilledColumnPage> pages,
                         std::vector<uint8_t> hasNulls, io::SpillSpace& space, Reservation& memory, size_t pagesMax)
   : types_(std::move(types)), pages_(std::move(pages)), hasNulls_(std::move(hasNulls)), space_(space), memory_(memory),
     pagesMax_(std::max<size_t>(pagesMax, 4)), byNumber_(pages_.size()), none_{ColumnPage({}, 0, memory), 0, 0, 0} {
   uint32_t first = 0;
   for (const SpilledColumnPage& page : pages_) {
      firsts_.push_back(first);
      first += page.rows;
   }
   firsts_.push_back(first);
}

WindowPager::~WindowPager() {
   for (const SpilledColumnPage& page : pages_)
      for (const io::SpilledPage& piece : page.pieces)
         space_.free(piece);
}

const WindowPager::Page& WindowPager::load(uint32_t row) {
   DCHECK(row < firsts_.back());
   const auto number = static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) - firsts_.begin()) - 1;
   Page* page = byNumber_[number];
   if (!page) {
      if (loaded_.size() < pagesMax_) {
         page = loaded_.emplace_back(std::make_unique<Page>(Page{ColumnPage(types_, 0, memory_), 0, 0, 0})).get();
      } else {
         page = std::min_element(loaded_.begin(), loaded_.end(), [](const auto& a, const auto& b) {
                   return a->usedAt < b->usedAt;
                })->get();
         if (page->count > 0)
            byNumber_[static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), page->first) -
                                          firsts_.begin()) -
                      1] = nullptr;
         page->count = 0;
      }
      io::SpillReader reader(space_, 0);
      addToReader(reader, pages_[number], false);
      page->rows.load(reader, pages_[number]);
      page->first = firsts_[number];
      page->count = pages_[number].rows;
      byNumber_[number] = page;
   }
   page->usedAt = ++uses_;
   DCHECK(page->first <= row);
   DCHECK(row < page->first + page->count);
   last_ = page;
   return *page;
}

void PeerStarts::add(bool isStart) {
   if (rows_ / 64 * sizeof(uint64_t) >= words_.bytes()) {
      LargeMemory more(std::max<size_t>(8192, 2 * words_.bytes()), memory_);
      if (rows_ > 0) std::memcpy(more.data(), words_.data(), words_.bytes());
      words_ = std::move(more);
   }
   DCHECK(isStart || rows_ > 0); // the first row starts a group
   if (isStart) {
      words_.as<uint64_t>()[rows_ / 64] |= uint64_t{1} << (rows_ % 64);
      ++groups_;
   }
   ++rows_;
}

void PeerStarts::seal() {
   const uint32_t words = (rows_ + 63) / 64, blocks = (words + blockWords - 1) / blockWords;
   counts_ = LargeMemory(size_t{blocks} * sizeof(uint32_t), memory_);
   uint32_t count = 0;
   for (uint32_t word = 0; word < words; ++word) {
      if (word % blockWords == 0) counts_.as<uint32_t>()[word / blockWords] = count;
      count += static_cast<uint32_t>(std::popcount(words_.as<uint64_t>()[word]));
   }
   DCHECK(count == groups_); // add() counted the same groups
}

uint32_t PeerStarts::groupOf(uint32_t row) const {
   DCHECK(row < rows_);
   const uint64_t* words = words_.as<uint64_t>();
   const uint32_t block = row / (64 * blockWords);
   uint32_t count = counts_.as<uint32_t>()[block];
   for (uint32_t word = block * blockWords; word < row / 64; ++word)
      count += static_cast<uint32_t>(std::popcount(words[word]));
   return count + static_cast<uint32_t>(std::popcount(words[row / 64] << (63 - row % 64))) - 1;
}

uint32_t PeerStarts::groupStart(uint32_t group) const {
   if (group >= groups_) return rows_;
   const uint32_t* counts = counts_.as<uint32_t>();
   const uint32_t blocks = ((rows_ + 63) / 64 + blockWords - 1) / blockWords;
   uint32_t word = (static_cast<uint32_t>(std::upper_bound(counts, counts + blocks, group) - counts) - 1) * blockWords;
   uint32_t left = group - counts[word / blockWords];
   const uint64_t* words = words_.as<uint64_t>();
   for (; left >= static_cast<uint32_t>(std::popcount(words[word])); ++word)
      left -= static_cast<uint32_t>(std::popcount(words[word]));
   uint64_t bits = words[word];
   for (; left > 0; --left)
      bits &= bits - 1;
   return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
}

/// The first row after `row` that begins a group, or the number of rows.
uint32_t PeerStarts::nextStart(uint32_t row) const {
   const uint64_t* words = words_.as<uint64_t>();
   uint32_t word = (row + 1) / 64;
   const uint32_t wordsCount = (rows_ + 63) / 64;
   if (word >= wordsCount) return rows_;
   uint64_t bits = words[word] & (~uint64_t{0} << ((row + 1) % 64));
   while (bits == 0)
      if (++word == wordsCount)
         return rows_;
      else
         bits = words[word];
   return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
}

void PeerStarts::find(uint32_t row) const {
   if (row >= start_ && row < end_) return;
   DCHECK(row < rows_);
   const uint64_t* words = words_.as<uint64_t>();
   uint32_t word = row / 64;
   uint64_t bits = words[word] & (~uint64_t{0} >> (63 - row % 64));
   while (bits == 0) // row 0 is a start
      bits = words[--word];
   start_ = word * 64 + 63 - static_cast<uint32_t>(std::countl_zero(bits));
   end_ = nextStart(row);
}

} // namespace ouzel::executor
