#include "executor/operator/sort/sort_spill.hpp"

#include <algorithm>

#include "common/value/dispatch.hpp"
#include "executor/operator/sort/range_cuts.hpp"
#include "executor/operator/sort/row_sorter.hpp"

namespace ouzel::executor {

namespace {

std::vector<PhysicalType> physicalTypes(const SortRowLayout& layout) {
   std::vector<PhysicalType> out;
   for (const Representation& column : layout.columns)
      out.push_back(column.physical);
   return out;
}

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
   : layout_(layout), space_(space), pageBytes_(pageBytes), page_(physicalTypes(layout), layout.key.width(), memory),
     textColumn_(CutOrder::textColumnOf(layout)) {
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
   if (textColumn_ == UINT32_MAX) return;
   StringView text;
   std::memcpy(&text, rows[0].piece->values[textColumn_] + rows[0].row * sizeof text, sizeof text);
   run_.fenceTexts.emplace_back(text.size() > SortKeyLayout::stringPrefixBytes
                                    ? text.view().substr(0, CutKey::textBytesMax)
                                    : std::string_view());
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

// ---- how to merge ----

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
