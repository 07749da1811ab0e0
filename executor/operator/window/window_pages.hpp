#pragma once
#include <memory>
#include <vector>

#include "executor/materialize/row_page.hpp"

// A window partition that does not fit into memory: its rows in pages on disk, some of which are in memory, and a bit
// for each row.

namespace ouzel::executor {

/// Rows of one partition, counted from 0, read page by page as they are asked for. One thread's.
class PagedRows {
public:
   struct Page {
      RowPage rows;
      uint32_t first = 0, count = 0; ///< which rows they are
      uint64_t usedAt = 0;
   };
   /// Owns the stored pages. Keeps `pagesMax` of them in memory, at least 4.
   PagedRows(std::vector<PhysicalType> types, std::vector<StoredRows> pages, std::vector<uint8_t> hasNulls,
             io::SpillSpace& space, Reservation& memory, size_t pagesMax);
   ~PagedRows();
   PagedRows(const PagedRows&) = delete;
   PagedRows& operator=(const PagedRows&) = delete;

   uint32_t rowCount() const { return firsts_.back(); }
   bool mayHaveNulls(uint32_t column) const { return hasNulls_[column] != 0; }
   PhysicalType type(uint32_t column) const { return types_[column]; }
   /// Valid until three other pages have been asked for.
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
   const std::vector<StoredRows> pages_;
   const std::vector<uint8_t> hasNulls_;
   io::SpillSpace& space_;
   Reservation& memory_;
   const size_t pagesMax_;
   std::vector<uint32_t> firsts_; // first row of each page, and the end
   std::vector<std::unique_ptr<Page>> loaded_;
   std::vector<Page*> byNumber_; // null: not in memory
   uint64_t uses_ = 0;
   Page none_;
   Page* last_ = &none_;
};

/// Which rows begin a group of peers. Filled in order, then read.
class PeerStarts {
public:
   explicit PeerStarts(Reservation& memory) : memory_(memory) {}
   void add(bool isStart);
   /// No more rows come.
   void seal();

   uint32_t rowCount() const { return rows_; }
   uint32_t groupCount() const { return groups_; }
   uint32_t groupOf(uint32_t row) const;
   uint32_t groupStart(uint32_t group) const; ///< of groupCount(): the end
   uint32_t peerStart(uint32_t row) const { return find(row), start_; }
   uint32_t peerEnd(uint32_t row) const { return find(row), end_; }

private:
   static constexpr uint32_t blockWords = 8; ///< between two counts
   void find(uint32_t row) const;
   uint32_t nextStart(uint32_t row) const;

   Reservation& memory_;
   LargeMemory words_, counts_; // counts_: of bits before each block
   uint32_t rows_ = 0, groups_ = 0;
   mutable uint32_t start_ = 0, end_ = 0; // of the group asked for last
};

} // namespace ouzel::executor
