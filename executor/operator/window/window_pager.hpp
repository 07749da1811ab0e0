#pragma once
#include <memory>
#include <vector>

#include "executor/materialize/column_page.hpp"

// A window partition that does not fit into memory: WindowPager has its rows, in pages on disk of which some are
// loaded; PeerStarts has one bit per row.

namespace ouzel::executor {

/// The rows of a partition, counted from 0. Loads pages on demand and evicts the page that was used least recently.
/// Used by one thread.
class WindowPager {
public:
   struct Page {
      ColumnPage rows;
      uint32_t first = 0, count = 0; ///< number of the first row, and number of rows
      uint64_t usedAt = 0;
   };
   /// Owns the stored pages and frees them in the end. Keeps `pagesMax` pages in memory, but at least 4.
   WindowPager(std::vector<PhysicalType> types, std::vector<SpilledColumnPage> pages, std::vector<uint8_t> hasNulls,
               io::SpillSpace& space, Reservation& memory, size_t pagesMax);
   ~WindowPager();
   WindowPager(const WindowPager&) = delete;
   WindowPager& operator=(const WindowPager&) = delete;

   uint32_t rowCount() const { return firsts_.back(); }
   bool mayHaveNulls(uint32_t column) const { return hasNulls_[column] != 0; }
   PhysicalType type(uint32_t column) const { return types_[column]; }
   /// The page that has the row; valid until three other pages were asked for.
   const Page& pageOf(uint32_t row) { return row - last_->first < last_->count ? *last_ : load(row); }
   bool isNull(uint32_t column, uint32_t row) {
      const Page& page = pageOf(row);
      return !isValidBit(page.rows.validity(column), row - page.first);
   }
   const std::byte* value(uint32_t column, uint32_t row) {
      const Page& page = pageOf(row);
      return page.rows.values(column) + size_t{row - page.first} * physicalSize(types_[column]);
   }

private:
   const Page& load(uint32_t row);

   const std::vector<PhysicalType> types_;
   const std::vector<SpilledColumnPage> pages_;
   const std::vector<uint8_t> hasNulls_;
   io::SpillSpace& space_;
   Reservation& memory_;
   const size_t pagesMax_;
   std::vector<uint32_t> firsts_; // first row of each page, then the number of rows
   std::vector<std::unique_ptr<Page>> loaded_;
   std::vector<Page*> byNumber_; // by number of the page; null: not in memory
   uint64_t uses_ = 0;
   Page none_;
   Page* last_ = &none_;
};

/// Which rows begin a group of peers: one bit per row, and counts that make searches fast. Filled row by row, then
/// sealed, then read. Used by one thread.
class PeerStarts {
public:
   explicit PeerStarts(Reservation& memory) : memory_(memory) {}
   void add(bool isStart);
   /// Call after the last add().
   void seal();

   uint32_t rowCount() const { return rows_; }
   uint32_t groupCount() const { return groups_; }
   uint32_t groupOf(uint32_t row) const;
   uint32_t groupStart(uint32_t group) const; ///< for group == groupCount(): the number of rows
   uint32_t peerStart(uint32_t row) const { return find(row), start_; }
   uint32_t peerEnd(uint32_t row) const { return find(row), end_; }

private:
   static constexpr uint32_t blockWords = 8; ///< number of words per entry of counts_
   void find(uint32_t row) const;
   uint32_t nextStart(uint32_t row) const;

   Reservation& memory_;
   LargeMemory words_, counts_; // counts_: set bits before each block of blockWords words
   uint32_t rows_ = 0, groups_ = 0;
   mutable uint32_t start_ = 0, end_ = 0; // rows of the group found last
};

} // namespace ouzel::executor
