#include "executor/operator/sort/range_cuts.hpp"

#include <algorithm>

namespace ouzel::executor {

size_t RunFences::pagesBefore(const SortPrefix& key) const {
   return static_cast<size_t>(std::lower_bound(firsts.begin(), firsts.end(), key) - firsts.begin());
}

std::vector<SortPrefix> chooseCuts(std::span<const RunFences> runs, uint64_t rowsPerRange, uint64_t firstRows) {
   struct Page {
      SortPrefix first;
      uint32_t run, rows;
   };
   std::vector<Page> pages;
   for (uint32_t run = 0; run < runs.size(); ++run)
      for (size_t page = 0; page < runs[run].firsts.size(); ++page)
         pages.push_back({runs[run].firsts[page], run, runs[run].rows[page]});
   std::sort(pages.begin(), pages.end(), [](const Page& a, const Page& b) { return a.first < b.first; });

   std::vector<SortPrefix> cuts;
   std::vector<uint64_t> begun(runs.size(), 0); // rows of each run's last page so far: they may reach past the cut
   uint64_t rows = 0;                           // of pages that begin in this range
   uint64_t certain = 0;                        // rows that come before the current page's first key
   for (size_t i = 0; i < pages.size(); ++i) {
      const Page& page = pages[i];
      const bool isNewKey = i > 0 && pages[i - 1].first < page.first;
      if (isNewKey && rows >= rowsPerRange && (!cuts.empty() || certain >= firstRows)) {
         cuts.push_back(page.first);
         rows = 0;
      }
      rows += page.rows;
      certain += begun[page.run];
      begun[page.run] = page.rows;
   }
   return cuts;
}

PageSpan pagesOfRange(const RunFences& run, const SortPrefix* lower, const SortPrefix* upper) {
   const size_t end = upper ? run.pagesBefore(*upper) : run.firsts.size();
   const size_t before = lower ? run.pagesBefore(*lower) : 0;
   // The last page that begins before the range may have rows of the range.
   return {std::min(before > 0 ? before - 1 : 0, end), end};
}

} // namespace ouzel::executor
