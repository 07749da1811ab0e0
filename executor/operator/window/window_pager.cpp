#include "executor/operator/window/window_pager.hpp"

#include <algorithm>

namespace ouzel::executor {

PagedRows::~PagedRows() {
   for (const SpilledColumnPage& page : pages_)
      for (const io::SpilledPage& piece : page.pieces)
         space_.free(piece);
}

void PagedRows::append(std::vector<SpilledColumnPage> pages) {
   for (SpilledColumnPage& page : pages) {
      firsts_.push_back(firsts_.back() + page.rows);
      bytes_.push_back(bytes_.back() + page.bytes);
      pages_.push_back(std::move(page));
   }
}

size_t PagedRows::pageOf(uint32_t row) const {
   DCHECK(row < rowCount());
   return static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) - firsts_.begin()) - 1;
}

void WindowPager::expect(uint32_t from, uint32_t end) {
   aheadNext_ = rows_.pageOf(from);
   aheadEnd_ = rows_.pageOf(end - 1) + 1;
   while (aheadNext_ < aheadEnd_ && byNumber_[aheadNext_])
      ++aheadNext_;
   ahead_ = std::make_unique<io::SpillReader>(rows_.space());
   for (size_t number = aheadNext_; number < aheadEnd_; ++number)
      addToReader(*ahead_, rows_.page(number), false);
   if (aheadNext_ < aheadEnd_) ahead_->start();
}

void WindowPager::read(size_t number, ColumnPage& out) {
   if (ahead_ && number == aheadNext_ && number < aheadEnd_) {
      out.load(*ahead_, rows_.page(number));
      ++aheadNext_;
      return;
   }
   // A page of the expected ones that comes out of order is in memory when its turn comes.
   if (number > aheadNext_ && number < aheadEnd_) ahead_.reset();
   io::SpillReader reader(rows_.space(), 0);
   addToReader(reader, rows_.page(number), false);
   out.load(reader, rows_.page(number));
}

const WindowPager::Page& WindowPager::load(uint32_t row) {
   const size_t number = rows_.pageOf(row);
   Page* page = byNumber_[number];
   if (!page) {
      if (loaded_.size() < pagesMax_) {
         page =
             loaded_.emplace_back(std::make_unique<Page>(Page{ColumnPage(rows_.types(), 0, memory_), 0, 0, 0})).get();
      } else {
         page = std::min_element(loaded_.begin(), loaded_.end(), [](const auto& a, const auto& b) {
                   return a->usedAt < b->usedAt;
                })->get();
         if (page->count > 0) byNumber_[rows_.pageOf(page->first)] = nullptr;
         page->count = 0;
      }
      read(number, page->rows);
      page->first = rows_.firstRow(number);
      page->count = rows_.page(number).rows;
      byNumber_[number] = page;
   }
   page->usedAt = ++uses_;
   DCHECK(page->first <= row);
   DCHECK(row < page->first + page->count);
   last_ = page;
   return *page;
}

} // namespace ouzel::executor
