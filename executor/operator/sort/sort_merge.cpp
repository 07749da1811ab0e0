#include "executor/operator/sort/sort_merge.hpp"

#include <algorithm>

namespace ouzel::executor {

namespace {
/// Pages whose rows next() gives out are kept until the next call; with more bytes of them next() returns.
constexpr size_t retiredBytesMax = size_t{1} << 20;
} // namespace

SortMerge::SortMerge(const SortRowLayout& layout, RunPages& pages, const KeyPacking& packing, const Bounds& bounds)
   : layout_(layout), pages_(pages), packing_(packing), bounds_(bounds) {}

SortMerge::~SortMerge() {
   releaseRetired();
   for (const Input& input : inputs_)
      if (input.page) pages_.release(input.run, input.left.from - 1);
}

void SortMerge::addPages(uint32_t run, PageSpan span) {
   Input& input = inputs_.emplace_back();
   input.run = run;
   input.left = span;
}

void SortMerge::addRows(const ColumnPieces& pieces, std::span<const RowAddress> order) {
   Input& input = inputs_.emplace_back();
   input.pieces = &pieces;
   input.order = order;
}

void SortMerge::setHead(uint32_t number, RowRef row) {
   const SortPrefix prefix = packing_.prefix(row.piece->key(row.row));
   heads_[number] = {prefix.high, prefix.low};
   inputs_[number].head = row;
}

uint32_t SortMerge::rowsBefore(const RunPages::Page& page, const CutKey& key) const {
   uint32_t from = 0;
   for (uint32_t end = page.rows.rowCount(); from < end;) {
      const uint32_t middle = (from + end) / 2;
      if (bounds_.order->isBefore(RowRef{&page.piece, middle}, key))
         from = middle + 1;
      else
         end = middle;
   }
   return from;
}

/// Go on to the input's next page that has rows of the range; the head is then its first one.
bool SortMerge::loadPage(Input& input) {
   if (input.page) {
      retiredBytes_ += input.page->rows.memoryBytes();
      retired_.push_back({input.run, input.left.from - 1});
      input.page = nullptr;
   }
   while (input.left.from < input.left.end) {
      const size_t number = input.left.from++;
      const RunPages::Page& page = pages_.acquire(input.run, number);
      // Only the first page of a range may have earlier rows, and only the last page later ones.
      const uint32_t row = bounds_.lower && !input.head.piece ? rowsBefore(page, *bounds_.lower) : 0;
      input.rowEnd =
          bounds_.upper && input.left.from == input.left.end ? rowsBefore(page, *bounds_.upper) : page.rows.rowCount();
      if (row < input.rowEnd) {
         input.page = &page;
         input.head = {&page.piece, row};
         return true;
      }
      pages_.release(input.run, number);
   }
   return false;
}

void SortMerge::advance(uint32_t number) {
   Input& input = inputs_[number];
   if (input.pieces) {
      if (!input.order.empty()) {
         setHead(number, input.pieces->ref(input.order.front()));
         input.order = input.order.subspan(1);
         return;
      }
   } else if (input.page && input.head.row + 1 < input.rowEnd) {
      return setHead(number, {&input.page->piece, input.head.row + 1});
   } else if (loadPage(input)) {
      return setHead(number, input.head);
   }
   input.isExhausted = true;
   heads_[number] = {UINT64_MAX, UINT64_MAX};
}

bool SortMerge::isBefore(uint32_t a, uint32_t b) const {
   const Head &x = heads_[a], &y = heads_[b];
   if (x.high != y.high) return x.high < y.high;
   if (x.low != y.low) return x.low < y.low;
   return isBeforeTied(a, b);
}

bool SortMerge::isBeforeTied(uint32_t a, uint32_t b) const {
   const uint32_t count = static_cast<uint32_t>(inputs_.size());
   if (a >= count || inputs_[a].isExhausted) return false;
   if (b >= count || inputs_[b].isExhausted) return true;
   if (packing_.isEnough()) return a < b;
   const Input& x = inputs_[a];
   const Input& y = inputs_[b];
   const auto valueIn = [](const RowRef& row, uint32_t column) {
      return row.piece->values[column] + row.row * sizeof(StringView); // only strings and decimals have inexact keys
   };
   const int order = compareKeys(
       layout_, x.head.piece->key(x.head.row), y.head.piece->key(y.head.row), 0,
       static_cast<uint32_t>(layout_.key.columns().size()), [&](uint32_t column) { return valueIn(x.head, column); },
       [&](uint32_t column) { return valueIn(y.head, column); });
   return order != 0 ? order < 0 : a < b;
}

uint32_t SortMerge::build(uint32_t node) {
   if (node >= leaves_) return node - leaves_;
   const uint32_t left = build(2 * node), right = build(2 * node + 1);
   const bool rightWins = isBefore(right, left);
   losers_[node] = rightWins ? left : right;
   return rightWins ? right : left;
}

void SortMerge::start() {
   isStarted_ = true;
   while (leaves_ < inputs_.size())
      leaves_ *= 2;
   heads_.assign(leaves_, {UINT64_MAX, UINT64_MAX});
   for (uint32_t number = 0; number < inputs_.size(); ++number)
      advance(number);
   losers_.resize(leaves_);
   winner_ = build(1);
}

void SortMerge::releaseRetired() {
   for (const UsedPage& used : retired_)
      pages_.release(used.run, used.page);
   retired_.clear();
   retiredBytes_ = 0;
}

std::span<const RowRef> SortMerge::next(uint32_t rowsMax) {
   out_.clear();
   releaseRetired();
   if (inputs_.empty()) return {};
   if (!isStarted_) start();
   while (out_.size() < rowsMax && retiredBytes_ < retiredBytesMax) {
      Input& input = inputs_[winner_];
      if (input.isExhausted) break;
      out_.push_back(input.head);
      advance(winner_);
      for (uint32_t node = (winner_ + leaves_) / 2; node > 0; node /= 2)
         if (isBefore(losers_[node], winner_)) std::swap(losers_[node], winner_);
   }
   return out_;
}

// ---- MergeRanges ----

MergeRanges::MergeRanges(const SortRowLayout& layout, Reservation& memory)
   : layout_(layout), pages_(layout, memory), hasNulls_(layout.columns.size(), 0) {}

void MergeRanges::addRun(const SpilledRun& run, io::SpillSpace& space, size_t aheadBytes) {
   pages_.addRun(run, space, aheadBytes);
   spread_.add(run.spread);
   for (size_t i = 0; i < hasNulls_.size(); ++i)
      hasNulls_[i] = hasNulls_[i] != 0 || run.hasNulls[i] != 0 ? 1 : 0;
   Run& added = runs_.emplace_back();
   added.run = &run;
   for (const SpilledColumnPage& page : run.pages)
      added.rows.push_back(page.rows);
}

void MergeRanges::addResident(const SortBuffer& buffer) {
   if (buffer.rowCount() == 0) return;
   order_ = buffer.order();
   pieces_ = std::make_unique<ColumnPieces>(buffer.runs(), layout_);
   for (const SortRun* run : buffer.runs())
      spread_.add(run->spread());
   for (uint32_t i = 0; i < hasNulls_.size(); ++i)
      hasNulls_[i] = hasNulls_[i] != 0 || buffer.mayHaveNulls(i) ? 1 : 0;
}

/// Make the keys of the fences anew, by the first `columns` key columns.
void MergeRanges::setCutOrder(uint32_t columns) {
   cutOrder_.emplace(layout_, spread_, columns);
   for (Run& run : runs_) {
      const SpilledRun& pages = *run.run;
      run.firsts.clear();
      for (size_t page = run.skipped; page < pages.pages.size(); ++page)
         run.firsts.push_back(cutOrder_->keyOf(pages.fences.data() + page * layout_.key.stride(),
                                               pages.fenceTexts.empty() ? std::string_view() : pages.fenceTexts[page]));
   }
}

uint64_t MergeRanges::residentBefore(const CutKey& key) const {
   const auto end = std::partition_point(order_.begin(), order_.end(), [&](RowAddress address) {
      return cutOrder_->isBefore(pieces_->ref(address), key);
   });
   return static_cast<uint64_t>(end - order_.begin());
}

/// An upper bound for the number of rows before `key`: a page counts as a whole.
uint64_t MergeRanges::rowsBefore(const CutKey& key) const {
   uint64_t rows = residentBefore(key);
   for (const Run& run : runs_) {
      const size_t pages = run.fences().pagesBefore(*cutOrder_, key);
      for (size_t page = 0; page < pages; ++page)
         rows += run.rows[page];
   }
   return rows;
}

uint64_t MergeRanges::skip(uint64_t rows) {
   DCHECK(cuts_.empty() && !packing_);
   setCutOrder(UINT32_MAX);
   // Find the last fence that has at most `rows` rows before it.
   std::vector<CutKey> fences;
   for (const Run& run : runs_)
      fences.insert(fences.end(), run.firsts.begin(), run.firsts.end());
   std::sort(fences.begin(), fences.end(), [&](const CutKey& a, const CutKey& b) { return cutOrder_->isBefore(a, b); });
   const auto end =
       std::partition_point(fences.begin(), fences.end(), [&](const CutKey& key) { return rowsBefore(key) <= rows; });
   if (end == fences.begin()) return 0;
   const CutKey& bound = end[-1];
   uint64_t skipped = residentBefore(bound);
   order_ = order_.subspan(skipped);
   for (Run& run : runs_) {
      // The last page that begins before the bound may have rows after it.
      const size_t pages = run.fences().pagesBefore(*cutOrder_, bound);
      if (pages < 2) continue;
      run.skipped = pages - 1;
      for (size_t page = 0; page < run.skipped; ++page)
         skipped += run.rows[page];
      run.rows.erase(run.rows.begin(), run.rows.begin() + static_cast<ptrdiff_t>(run.skipped));
      run.firsts.erase(run.firsts.begin(), run.firsts.begin() + static_cast<ptrdiff_t>(run.skipped));
   }
   return skipped;
}

void MergeRanges::cut(uint64_t rowsPerRange, uint64_t firstRows, uint32_t columns) {
   DCHECK(!packing_);
   setCutOrder(columns);
   std::vector<RunFences> fences;
   uint64_t onDisk = 0;
   for (const Run& run : runs_) {
      fences.push_back(run.fences());
      for (const uint32_t rows : run.rows)
         onDisk += rows;
   }
   // Rows in memory have keys like those on disk: they make ranges larger, but do not change where the cuts are best.
   const uint64_t all = onDisk + order_.size();
   cuts_ = chooseCuts(*cutOrder_, fences, all == 0 ? rowsPerRange : rowsPerRange * onDisk / all, firstRows);
}

size_t MergeRanges::bytesOfRanges(uint32_t lanes) const {
   std::vector<size_t> bytes(count(), 0);
   for (uint32_t range = 0; range < count(); ++range)
      for (const Run& run : runs_) {
         const PageSpan span = pagesOfRange(*cutOrder_, run.fences(), lower(range), upper(range));
         for (size_t page = span.from + 1; page < span.end; ++page)
            bytes[range] += run.run->pages[run.skipped + page].bytes;
      }
   size_t most = 0, sum = 0;
   for (uint32_t range = 0; range < count(); ++range) {
      sum += bytes[range];
      if (range >= lanes) sum -= bytes[range - lanes];
      most = std::max(most, sum);
   }
   return most;
}

void MergeRanges::start() {
   packing_.emplace(layout_.key, spread_);
   if (!cutOrder_) setCutOrder(UINT32_MAX);
   for (uint32_t range = 0; range < count(); ++range)
      for (uint32_t number = 0; number < runs_.size(); ++number) {
         const Run& run = runs_[number];
         const PageSpan span = pagesOfRange(*cutOrder_, run.fences(), lower(range), upper(range));
         pages_.use(number, run.skipped + span.from, run.skipped + span.end);
      }
   pages_.start();
}

std::unique_ptr<SortMerge> MergeRanges::open(uint32_t range) {
   const CutKey *from = lower(range), *end = upper(range);
   auto merge = std::make_unique<SortMerge>(layout_, pages_, *packing_, SortMerge::Bounds{&*cutOrder_, from, end});
   for (uint32_t number = 0; number < runs_.size(); ++number) {
      const Run& run = runs_[number];
      const PageSpan span = pagesOfRange(*cutOrder_, run.fences(), from, end);
      if (span.from < span.end) merge->addPages(number, {run.skipped + span.from, run.skipped + span.end});
   }
   if (pieces_) {
      const uint64_t first = from ? residentBefore(*from) : 0, last = end ? residentBefore(*end) : order_.size();
      if (first < last) merge->addRows(*pieces_, order_.subspan(first, last - first));
   }
   return merge;
}

uint64_t MergeRanges::rowsAtLeast(uint32_t range) const {
   const CutKey *from = lower(range), *end = upper(range);
   uint64_t rows = (end ? residentBefore(*end) : order_.size()) - (from ? residentBefore(*from) : 0);
   for (const Run& run : runs_) {
      const PageSpan span = pagesOfRange(*cutOrder_, run.fences(), from, end);
      for (size_t page = span.from + 1; page + 1 < span.end; ++page)
         rows += run.rows[page];
   }
   return rows;
}

} // namespace ouzel::executor
