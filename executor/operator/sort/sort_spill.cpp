#include "executor/operator/sort/sort_spill.hpp"

#include <algorithm>
#include <cmath>

#include "common/value/dispatch.hpp"
#include "executor/operator/sort/row_sorter.hpp"

namespace ouzel::executor {

namespace {

std::vector<PhysicalType> physicalTypes(const SortRowLayout& layout) {
   std::vector<PhysicalType> out;
   for (const Representation& column : layout.columns)
      out.push_back(column.physical);
   return out;
}

/// Pages whose rows next() gives out cannot be reused until the next call; with more bytes of them next() returns.
constexpr size_t retiredBytesMax = size_t{1} << 20;

} // namespace

void gatherRefs(std::span<const RowRef> rows, uint32_t column, PhysicalType type, void* out, ValidityWord* validity) {
   dispatchSize(type, [&](auto tag) {
      using T = decltype(tag);
      T* target = static_cast<T*>(out);
      for (size_t i = 0; i < rows.size(); ++i)
         std::memcpy(target + i, rows[i].piece->values[column] + rows[i].row * sizeof(T), sizeof(T));
   });
   if (!validity) return;
   std::memset(validity, 0xff, validityWords(static_cast<uint32_t>(rows.size())) * sizeof(ValidityWord));
   for (size_t i = 0; i < rows.size(); ++i)
      if (!isValidBit(rows[i].piece->validity[column], rows[i].row))
         setValidBit(validity, static_cast<uint32_t>(i), false);
}

ColumnPieces::ColumnPieces(std::span<const SortRun* const> runs, const SortRowLayout& layout) {
   for (const SortRun* run : runs) {
      std::vector<ColumnPiece>& pieces = pieces_.emplace_back();
      for (uint32_t row = 0; row < run->rowCount(); row += batchRowsMax) {
         ColumnPiece piece{run->key(row), layout.key.stride(), {}, {}};
         for (const Vector& column : run->batchOf(row).columns) {
            piece.values.push_back(static_cast<const std::byte*>(column.data));
            piece.validity.push_back(column.validity);
         }
         pieces.push_back(std::move(piece));
      }
   }
}

// ---- RunWriter ----

RunWriter::RunWriter(const SortRowLayout& layout, std::vector<uint8_t> hasNulls, io::SpillSpace& space,
                     Reservation& memory, size_t pageBytes)
   : layout_(layout), space_(space), pageBytes_(pageBytes), page_(physicalTypes(layout), layout.key.width(), memory) {
   run_.hasNulls = std::move(hasNulls);
   for (uint32_t i = 0; i < layout.columns.size(); ++i)
      if (isVariableSize(layout.columns[i].physical)) stringColumns_.push_back(i);
   DCHECK(run_.hasNulls.size() == layout.columns.size());
   rowsPerPage_ = static_cast<uint32_t>(
       std::clamp<size_t>(pageBytes / ColumnPage::rowBytes(physicalTypes(layout), layout.key.width()), 1, 1 << 16));
}

/// Copies keys in words of 8 bytes. Bytes written past a key are overwritten by the next key or by the values, or are
/// padding.
void RunWriter::copyKeys(std::span<const RowRef> rows) {
   const uint32_t width = layout_.key.width(), words = (width + 7) / 8;
   std::byte* key = page_.keys();
   for (const RowRef& row : rows) {
      const std::byte* from = row.piece->key(row.row);
      for (uint32_t word = 0; word < words; ++word)
         std::memcpy(key + size_t{word} * 8, from + size_t{word} * 8, 8);
      key += width;
   }
   const size_t fence = run_.fences.size();
   run_.fences.resize(fence + layout_.key.stride());
   std::memcpy(run_.fences.data() + fence, page_.keys(), width);
}

void RunWriter::append(std::span<const RowRef> rows) {
   while (!rows.empty()) {
      size_t count = std::min<size_t>(rows.size(), rowsPerPage_), heapBytes = 0;
      if (!stringColumns_.empty()) {
         const size_t fixed = ColumnPage::rowBytes(physicalTypes(layout_), layout_.key.width());
         for (size_t i = 0; i < count; ++i) {
            size_t rowHeap = 0;
            for (const uint32_t column : stringColumns_) {
               StringView view;
               std::memcpy(&view, rows[i].piece->values[column] + rows[i].row * sizeof view, sizeof view);
               rowHeap += view.isInline() ? 0 : view.size();
            }
            if (i > 0 && (i + 1) * fixed + heapBytes + rowHeap > pageBytes_) {
               count = i;
               break;
            }
            heapBytes += rowHeap;
         }
      }
      const std::span<const RowRef> some = rows.first(count);
      page_.open(static_cast<uint32_t>(count), run_.hasNulls, heapBytes);
      copyKeys(some);
      for (uint32_t column = 0; column < layout_.columns.size(); ++column)
         gatherRefs(some, column, layout_.columns[column].physical, page_.values(column), page_.validity(column));
      run_.pages.push_back(page_.store(space_));
      DCHECK(run_.pages.back().rows == count);
      run_.rows += count;
      run_.bytes += run_.pages.back().bytes;
      for (const io::SpilledPage& piece : run_.pages.back().pieces)
         run_.storedBytes += piece.storedBytes();
      rows = rows.subspan(count);
   }
}

/// Returns the addresses of all rows in sort order.
static LargeMemory sortRows(const SortRowLayout& layout, std::span<const SortRun* const> runs, Reservation& memory,
                            const Interrupt& interrupt) {
   RowSorter sorter(layout, runs, 1, memory);
   for (uint32_t part = 0; part < sorter.parts(); ++part, interrupt())
      sorter.split(part);
   sorter.endSplit();
   LargeMemory order(sorter.rowCount() * sizeof(RowAddress), memory, LargeMemory::Fill::Anything);
   for (uint32_t range = 0; range < sorter.parts(); ++range, interrupt())
      sorter.sort(range, order.as<RowAddress>());
   return order;
}

SpilledRun spillRuns(const SortRowLayout& layout, std::span<const SortRun* const> runs, uint64_t rowsWanted,
                     io::SpillSpace& space, Reservation& memory, size_t pageBytes, const Interrupt& interrupt) {
   uint64_t rows = 0;
   std::vector<uint8_t> hasNulls(layout.columns.size(), 0);
   for (const SortRun* run : runs) {
      rows += run->rowCount();
      for (uint32_t i = 0; i < hasNulls.size(); ++i)
         hasNulls[i] = hasNulls[i] != 0 || run->mayHaveNulls(i) ? 1 : 0;
   }
   const LargeMemory order = sortRows(layout, runs, memory, interrupt);
   const ColumnPieces pieces(runs, layout);
   RunWriter writer(layout, std::move(hasNulls), space, memory, pageBytes);
   std::vector<RowRef> refs;
   rows = std::min(rows, rowsWanted);
   for (uint64_t from = 0; from < rows; from += refs.size()) {
      interrupt();
      refs.clear();
      const uint64_t end = std::min<uint64_t>(rows, from + writer.rowsPerPage());
      for (uint64_t i = from; i < end; ++i)
         refs.push_back(pieces.ref(order.as<RowAddress>()[i]));
      writer.append(refs);
   }
   SpilledRun out = writer.finish();
   for (const SortRun* run : runs)
      out.spread.add(run->spread());
   return out;
}

// ---- SortMerge ----

struct SortMerge::Page {
   Page(const std::vector<PhysicalType>& types, uint32_t keyWidth, Reservation& memory)
      : rows(types, keyWidth, memory) {}
   ColumnPage rows;
   ColumnPiece piece;
};

/// Either pages of a run or addresses of resident rows.
struct SortMerge::Input {
   RowRef head; // the next row
   bool isExhausted = false;

   const SpilledRun* run = nullptr;
   size_t nextPage = 0;
   std::unique_ptr<io::SpillReader> reader;
   std::unique_ptr<Page> page;

   std::span<const RowAddress> order; // addresses of the rows not yet given
   std::unique_ptr<ColumnPieces> pieces;

   /// The number of pages whose first row comes before `key`.
   size_t pagesBefore(const KeyPacking& packing, uint32_t stride, const SortPrefix& key) const {
      size_t from = 0;
      for (size_t end = run->pages.size(); from < end;) {
         const size_t middle = (from + end) / 2;
         if (packing.prefix(run->fences.data() + middle * stride) < key)
            from = middle + 1;
         else
            end = middle;
      }
      return from;
   }
   uint64_t rowsBefore(const KeyPacking& packing, const SortPrefix& key) const {
      const auto end = std::partition_point(order.begin(), order.end(), [&](RowAddress address) {
         const RowRef row = pieces->ref(address);
         return packing.prefix(row.piece->key(row.row)) < key;
      });
      return static_cast<uint64_t>(end - order.begin());
   }
};

SortMerge::SortMerge(const SortRowLayout& layout, Reservation& memory)
   : layout_(layout), memory_(memory), types_(physicalTypes(layout)), hasNulls_(types_.size(), 0) {}

SortMerge::~SortMerge() {
   inputs_.clear();
   memory_.shrink(aheadBytes_);
}

void SortMerge::addRun(const SpilledRun& run, io::SpillSpace& space, size_t aheadBytes) {
   auto input = std::make_unique<Input>();
   input->run = &run;
   memory_.grow(aheadBytes);
   aheadBytes_ += aheadBytes;
   input->reader = std::make_unique<io::SpillReader>(space, aheadBytes);
   spread_.add(run.spread);
   for (size_t i = 0; i < hasNulls_.size(); ++i)
      hasNulls_[i] = hasNulls_[i] != 0 || run.hasNulls[i] != 0 ? 1 : 0;
   inputs_.push_back(std::move(input));
}

void SortMerge::addResident(const SortBuffer& buffer) {
   if (buffer.rowCount() == 0) return;
   auto input = std::make_unique<Input>();
   input->order = buffer.order();
   input->pieces = std::make_unique<ColumnPieces>(buffer.runs(), layout_);
   for (const SortRun* run : buffer.runs())
      spread_.add(run->spread());
   for (uint32_t i = 0; i < hasNulls_.size(); ++i)
      hasNulls_[i] = hasNulls_[i] != 0 || buffer.mayHaveNulls(i) ? 1 : 0;
   inputs_.push_back(std::move(input));
}

/// An upper bound for the number of rows before `key`: a page counts as a whole.
uint64_t SortMerge::rowsBefore(const SortPrefix& key) const {
   uint64_t rows = 0;
   for (const auto& input : inputs_) {
      if (input->run) {
         const size_t pages = input->pagesBefore(*packing_, layout_.key.stride(), key);
         for (size_t page = 0; page < pages; ++page)
            rows += input->run->pages[page].rows;
      } else {
         rows += input->rowsBefore(*packing_, key);
      }
   }
   return rows;
}

uint64_t SortMerge::skip(uint64_t rows) {
   DCHECK(!isStarted_ && !packing_);
   packing_.emplace(layout_.key, spread_);
   // Find the last fence that has at most `rows` rows before it.
   std::vector<SortPrefix> fences;
   for (const auto& input : inputs_)
      for (size_t page = 0; input->run && page < input->run->pages.size(); ++page)
         fences.push_back(packing_->prefix(input->run->fences.data() + page * layout_.key.stride()));
   std::sort(fences.begin(), fences.end());
   const auto end = std::partition_point(fences.begin(), fences.end(),
                                         [&](const SortPrefix& key) { return rowsBefore(key) <= rows; });
   if (end == fences.begin()) return 0;
   const SortPrefix& bound = end[-1];
   uint64_t skipped = 0;
   for (const auto& input : inputs_) {
      if (!input->run) {
         const uint64_t some = input->rowsBefore(*packing_, bound);
         input->order = input->order.subspan(some);
         skipped += some;
         continue;
      }
      // The last page that begins before the bound may have rows after it.
      const size_t pages = input->pagesBefore(*packing_, layout_.key.stride(), bound);
      for (; input->nextPage + 1 < pages; ++input->nextPage)
         skipped += input->run->pages[input->nextPage].rows;
   }
   return skipped;
}

void SortMerge::setHead(uint32_t number, RowRef row) {
   const SortPrefix prefix = packing_->prefix(row.piece->key(row.row));
   heads_[number] = {prefix.high, prefix.low};
   inputs_[number]->head = row;
}

bool SortMerge::loadPage(Input& input) {
   if (input.page) {
      retiredBytes_ += input.page->rows.memoryBytes();
      retired_.push_back(std::move(input.page));
   }
   if (input.nextPage == input.run->pages.size()) return false;
   if (free_.empty())
      input.page = std::make_unique<Page>(types_, layout_.key.width(), memory_);
   else {
      input.page = std::move(free_.back());
      free_.pop_back();
   }
   Page& page = *input.page;
   page.rows.load(*input.reader, input.run->pages[input.nextPage++]);
   page.piece.keys = page.rows.key(0);
   page.piece.keyStride = page.rows.keyWidth();
   page.piece.values.clear();
   page.piece.validity.clear();
   for (size_t i = 0; i < types_.size(); ++i) {
      page.piece.values.push_back(page.rows.values(i));
      page.piece.validity.push_back(page.rows.validity(i));
   }
   return true;
}

void SortMerge::advance(uint32_t number) {
   Input& input = *inputs_[number];
   if (!input.run) {
      if (!input.order.empty()) {
         setHead(number, input.pieces->ref(input.order.front()));
         input.order = input.order.subspan(1);
         return;
      }
   } else if (input.page && input.head.row + 1 < input.page->rows.rowCount()) {
      return setHead(number, {&input.page->piece, input.head.row + 1});
   } else if (loadPage(input)) {
      return setHead(number, {&input.page->piece, 0});
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
   if (a >= count || inputs_[a]->isExhausted) return false;
   if (b >= count || inputs_[b]->isExhausted) return true;
   if (packing_->isEnough()) return a < b;
   const Input& x = *inputs_[a];
   const Input& y = *inputs_[b];
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
   if (!packing_) packing_.emplace(layout_.key, spread_);
   while (leaves_ < inputs_.size())
      leaves_ *= 2;
   heads_.assign(leaves_, {UINT64_MAX, UINT64_MAX});
   for (uint32_t number = 0; number < inputs_.size(); ++number) {
      Input& input = *inputs_[number];
      for (size_t page = input.nextPage; input.run && page < input.run->pages.size(); ++page)
         addToReader(*input.reader, input.run->pages[page], true);
      advance(number);
   }
   losers_.resize(leaves_);
   winner_ = build(1);
}

std::span<const RowRef> SortMerge::next(uint32_t rowsMax) {
   out_.clear();
   std::move(retired_.begin(), retired_.end(), std::back_inserter(free_));
   retired_.clear();
   retiredBytes_ = 0;
   if (!isStarted_) start();
   if (inputs_.empty()) return {};
   while (out_.size() < rowsMax && retiredBytes_ < retiredBytesMax) {
      Input& input = *inputs_[winner_];
      if (input.isExhausted) break;
      out_.push_back(input.head);
      advance(winner_);
      for (uint32_t node = (winner_ + leaves_) / 2; node > 0; node /= 2)
         if (isBefore(losers_[node], winner_)) std::swap(losers_[node], winner_);
   }
   return out_;
}

// ---- how to merge ----

MergePlan planMerge(uint32_t runs, double pages, double memoryPages, double tau, uint32_t fanInMax) {
   MergePlan best;
   if (runs <= 1) return best;
   double least = 0;
   fanInMax = std::max(2u, std::min(fanInMax, runs));
   for (uint32_t fanIn = 2; fanIn <= fanInMax; ++fanIn) {
      uint32_t passes = 0;
      for (double left = runs; left > 1; left = std::ceil(left / fanIn))
         ++passes;
      // The last merge writes nothing, so that all memory is used for reading.
      const double root = std::sqrt(double(fanIn));
      const double writing = pages * (2 + tau * (root + 1) * (root + 1) / memoryPages);
      const double last = pages * (1 + tau * fanIn / memoryPages);
      const double cost = (passes - 1) * writing + last;
      if (best.passes == 0 || cost < least) {
         least = cost;
         best = {fanIn, passes};
      }
   }
   return best;
}

std::vector<MergeGroup> mergeGroups(uint32_t runs, uint32_t fanIn, uint32_t tasks) {
   // A lane's runs grow as it spills more, so the first runs are the shortest.
   std::vector<MergeGroup> out;
   if (runs <= fanIn) return out;
   uint32_t surplus = runs - fanIn;
   for (uint32_t from = 0; surplus > 0 && from + 1 < runs;) {
      const uint32_t share = (surplus + tasks - 1) / std::max(tasks, 1u);
      const uint32_t count = std::min({fanIn, std::max(2u, share + 1), surplus + 1, runs - from});
      out.push_back({from, from + count});
      surplus -= count - 1;
      from += count;
      if (tasks > 1) --tasks;
   }
   return out;
}

} // namespace ouzel::executor
