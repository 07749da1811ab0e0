#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "executor/materialize/column_page.hpp"

// Rows of a window that do not fit into memory: in pages on disk, of which each worker loads some.

namespace ouzel::executor {

/// Rows in order, counted from 0, in pages on disk. Filled by one thread, then read by any thread.
class PagedRows {
public:
   /// `hasNulls`: by column, whether pages have a bitmap of its NULLs.
   PagedRows(std::vector<PhysicalType> types, std::vector<uint8_t> hasNulls, io::SpillSpace& space)
      : types_(std::move(types)), hasNulls_(std::move(hasNulls)), space_(space) {}
   /// Frees the pages.
   ~PagedRows();
   PagedRows(const PagedRows&) = delete;
   PagedRows& operator=(const PagedRows&) = delete;
   /// Takes the pages over. There are at most INT32_MAX rows.
   void append(std::vector<SpilledColumnPage> pages);

   uint32_t rowCount() const { return firsts_.back(); }
   size_t pageCount() const { return pages_.size(); }
   size_t pageOf(uint32_t row) const;
   const SpilledColumnPage& page(size_t number) const { return pages_[number]; }
   uint32_t firstRow(size_t page) const { return firsts_[page]; }
   /// Bytes in memory of the pages that have rows [from, end).
   uint64_t bytesOf(uint32_t from, uint32_t end) const { return bytes_[pageOf(end - 1) + 1] - bytes_[pageOf(from)]; }
   const std::vector<PhysicalType>& types() const { return types_; }
   const std::vector<uint8_t>& hasNulls() const { return hasNulls_; }
   io::SpillSpace& space() const { return space_; }

private:
   const std::vector<PhysicalType> types_;
   const std::vector<uint8_t> hasNulls_;
   io::SpillSpace& space_;
   std::vector<SpilledColumnPage> pages_;
   std::vector<uint32_t> firsts_{0}; // first row of each page, then the number of rows
   std::vector<uint64_t> bytes_{0};  // of the pages before each page, then of all
};

/// Loads pages of the rows on demand and evicts the page that was used least recently. Used by one thread.
class WindowPager {
public:
   struct Page {
      ColumnPage rows;
      uint32_t first = 0, count = 0; ///< number of the first row, and number of rows
      uint64_t usedAt = 0;
   };
   /// Keeps `pagesMax` pages in memory, but at least 4. `rows` outlives the pager.
   WindowPager(const PagedRows& rows, Reservation& memory, size_t pagesMax)
      : rows_(rows), memory_(memory), pagesMax_(std::max<size_t>(pagesMax, 4)),
        byNumber_(rows.pageCount()), none_{ColumnPage({}, 0, memory), 0, 0, 0} {}
   WindowPager(const WindowPager&) = delete;
   WindowPager& operator=(const WindowPager&) = delete;

   /// Rows [from, end) will be asked for in order: read their pages ahead.
   void expect(uint32_t from, uint32_t end);
   bool mayHaveNulls(uint32_t column) const { return rows_.hasNulls()[column] != 0; }
   /// The page that has the row; valid until three other pages were asked for.
   const Page& pageOf(uint32_t row) { return row - last_->first < last_->count ? *last_ : load(row); }
   bool isNull(uint32_t column, uint32_t row) {
      const Page& page = pageOf(row);
      return !isValidBit(page.rows.validity(column), row - page.first);
   }
   const std::byte* value(uint32_t column, uint32_t row) {
      const Page& page = pageOf(row);
      return page.rows.values(column) + size_t{row - page.first} * physicalSize(rows_.types()[column]);
   }

private:
   const Page& load(uint32_t row);
   void read(size_t number, ColumnPage& out);

   const PagedRows& rows_;
   Reservation& memory_;
   const size_t pagesMax_;
   std::vector<std::unique_ptr<Page>> loaded_;
   std::vector<Page*> byNumber_;            // by number of the page; null: not in memory
   std::unique_ptr<io::SpillReader> ahead_; // of pages [aheadNext_, aheadEnd_)
   size_t aheadNext_ = 0, aheadEnd_ = 0;
   uint64_t uses_ = 0;
   Page none_;
   Page* last_ = &none_;
};

} // namespace ouzel::executor
