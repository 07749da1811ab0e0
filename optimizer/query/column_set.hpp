#pragma once
#include <cstdint>
#include <vector>

#include "sql/algebra/rel.hpp"

namespace ouzel::optimizer {

/// A set of column ids: a bitmap as long as the largest id requires.
class ColumnSet {
public:
   ColumnSet() = default;
   explicit ColumnSet(const std::vector<sql::ColumnId>& columns) { add(columns); }

   void add(sql::ColumnId column) {
      const uint32_t id = static_cast<uint32_t>(column);
      if (id / 64 >= words_.size()) words_.resize(id / 64 + 1);
      words_[id / 64] |= uint64_t{1} << (id % 64);
   }
   void add(const std::vector<sql::ColumnId>& columns) {
      for (const sql::ColumnId column : columns)
         add(column);
   }
   void add(const ColumnSet& other) {
      if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
      for (size_t i = 0; i < other.words_.size(); ++i)
         words_[i] |= other.words_[i];
   }
   void remove(sql::ColumnId column) {
      const uint32_t id = static_cast<uint32_t>(column);
      if (id / 64 < words_.size()) words_[id / 64] &= ~(uint64_t{1} << (id % 64));
   }
   bool contains(sql::ColumnId column) const {
      const uint32_t id = static_cast<uint32_t>(column);
      return id / 64 < words_.size() && (words_[id / 64] >> (id % 64) & 1) != 0;
   }
   bool containsAll(const std::vector<sql::ColumnId>& columns) const {
      for (const sql::ColumnId column : columns)
         if (!contains(column)) return false;
      return true;
   }
   bool containsAny(const std::vector<sql::ColumnId>& columns) const {
      for (const sql::ColumnId column : columns)
         if (contains(column)) return true;
      return false;
   }
   bool isEmpty() const {
      for (const uint64_t word : words_)
         if (word) return false;
      return true;
   }
   std::vector<sql::ColumnId> list() const {
      std::vector<sql::ColumnId> columns;
      for (size_t i = 0; i < words_.size(); ++i)
         for (uint64_t word = words_[i]; word; word &= word - 1)
            columns.push_back(static_cast<sql::ColumnId>(i * 64 + static_cast<size_t>(__builtin_ctzll(word))));
      return columns;
   }

private:
   std::vector<uint64_t> words_;
};

/// The columns of `wanted` that are in `set`, in the order of `wanted`.
inline std::vector<sql::ColumnId> intersection(const std::vector<sql::ColumnId>& wanted, const ColumnSet& set) {
   std::vector<sql::ColumnId> both;
   for (const sql::ColumnId column : wanted)
      if (set.contains(column)) both.push_back(column);
   return both;
}

} // namespace ouzel::optimizer
