#include "executor/operator/window/row_starts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/error/check.hpp"

namespace ouzel::executor {

/// Make room for the bits of `rows` rows. New bits are zero.
void RowStarts::reserve(uint32_t rows) {
   const size_t needed = (size_t{rows} + 63) / 64 * sizeof(uint64_t);
   if (needed <= words_.bytes()) return;
   LargeMemory more(std::max({size_t{8192}, 2 * words_.bytes(), needed}), *memory_);
   if (rows_ > 0) std::memcpy(more.data(), words_.data(), (size_t{rows_} + 63) / 64 * sizeof(uint64_t));
   words_ = std::move(more);
}

void RowStarts::add(bool isStart) {
   DCHECK(isStart || rows_ > 0); // the first row starts a group
   if (rows_ % 64 == 0) reserve(rows_ + 1);
   if (isStart) {
      words_.as<uint64_t>()[rows_ / 64] |= uint64_t{1} << (rows_ % 64);
      ++groups_;
   }
   ++rows_;
}

void RowStarts::append(const RowStarts& later, bool isStart) {
   if (later.rows_ == 0) return;
   DCHECK(isStart || rows_ > 0); // the first row starts a group
   reserve(rows_ + later.rows_);
   uint64_t* words = words_.as<uint64_t>() + rows_ / 64;
   const auto* from = later.words_.as<uint64_t>();
   const uint32_t count = (later.rows_ + 63) / 64, shift = rows_ % 64;
   const uint32_t room = (shift + later.rows_ + 63) / 64; // words that get bits
   for (uint32_t i = 0; i < count; ++i) {
      const uint64_t bits = i == 0 && !isStart ? from[0] & ~uint64_t{1} : from[i];
      words[i] |= bits << shift;
      if (shift > 0 && i + 1 < room) words[i + 1] |= bits >> (64 - shift);
   }
   rows_ += later.rows_;
   groups_ += later.groups_ - (isStart ? 0 : 1);
}

void RowStarts::seal() {
   const uint32_t words = (rows_ + 63) / 64, blocks = (words + blockWords - 1) / blockWords;
   counts_ = LargeMemory(size_t{blocks} * sizeof(uint32_t), *memory_);
   uint32_t count = 0;
   for (uint32_t word = 0; word < words; ++word) {
      if (word % blockWords == 0) counts_.as<uint32_t>()[word / blockWords] = count;
      count += static_cast<uint32_t>(std::popcount(words_.as<uint64_t>()[word]));
   }
   DCHECK(count == groups_); // add() counted the same groups
}

uint32_t RowStarts::groupOf(uint32_t row) const {
   DCHECK(row < rows_);
   const uint64_t* words = words_.as<uint64_t>();
   const uint32_t block = row / (64 * blockWords);
   uint32_t count = counts_.as<uint32_t>()[block];
   for (uint32_t word = block * blockWords; word < row / 64; ++word)
      count += static_cast<uint32_t>(std::popcount(words[word]));
   return count + static_cast<uint32_t>(std::popcount(words[row / 64] << (63 - row % 64))) - 1;
}

uint32_t RowStarts::groupStart(uint32_t group) const {
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
uint32_t RowStarts::nextStart(uint32_t row) const {
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

RowStarts::Group RowStarts::groupAround(uint32_t row) const {
   DCHECK(row < rows_);
   const uint64_t* words = words_.as<uint64_t>();
   uint32_t word = row / 64;
   uint64_t bits = words[word] & (~uint64_t{0} >> (63 - row % 64));
   while (bits == 0) // row 0 is a start
      bits = words[--word];
   return {word * 64 + 63 - static_cast<uint32_t>(std::countl_zero(bits)), nextStart(row)};
}

} // namespace ouzel::executor
