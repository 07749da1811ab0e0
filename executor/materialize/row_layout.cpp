#include "executor/materialize/row_layout.hpp"

#include <algorithm>
#include <bit>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

/// A 16-byte value to be copied (rows are aligned to 8 only).
struct alignas(8) Bytes16 {
   uint64_t low, high;
};

constexpr uint32_t alignUp(uint32_t value, uint32_t alignment) {
   return (value + alignment - 1) & ~(alignment - 1);
}

void setNull(const RowLayout& layout, std::byte* row, uint32_t column) {
   if (layout.isNeverNull()) throw SqlError(sqlstate::internalError, "a value is NULL that was known not to be");
   row[layout.nullsOffset() + (column >> 3)] |= static_cast<std::byte>(1u << (column & 7));
}

/// Calls body(k, live) for each row to write.
template <typename Body>
void forEachLive(const RowIndex* live, uint32_t count, Body&& body) {
   if (live == nullptr) {
      for (uint32_t i = 0; i < count; ++i)
         body(i);
   } else {
      for (uint32_t k = 0; k < count; ++k)
         body(live[k]);
   }
}

template <typename T>
void scatterFixed(const RowLayout& layout, uint32_t column, const LiveColumn& source, const RowIndex* live,
                  uint32_t count, std::byte* const* rows) {
   const uint32_t offset = layout.offset(column);
   const T* data = static_cast<const T*>(source.data);
   const uint16_t* positions = source.positions;
   if (positions == nullptr) {
      forEachLive(live, count, [&](uint32_t i) { *reinterpret_cast<T*>(rows[i] + offset) = data[i]; });
   } else {
      forEachLive(live, count, [&](uint32_t i) { *reinterpret_cast<T*>(rows[i] + offset) = data[positions[i]]; });
   }
   if (source.validity != nullptr) {
      bool any = false;
      forEachLive(live, count, [&](uint32_t i) {
         if (!source.isNull(i)) return;
         setNull(layout, rows[i], column);
         any = true;
      });
      if (any) layout.noteNulls(column);
   }
}

void scatterStrings(const RowLayout& layout, uint32_t column, const LiveColumn& source, const RowIndex* live,
                    uint32_t count, std::byte* const* rows, char** heap) {
   const uint32_t offset = layout.offset(column);
   const auto* data = static_cast<const StringView*>(source.data);
   forEachLive(live, count, [&](uint32_t i) {
      const uint32_t position = source.position(i);
      auto* target = reinterpret_cast<StringView*>(rows[i] + offset);
      if (!isValidBit(source.validity, position)) {
         *target = StringView();
         setNull(layout, rows[i], column);
         layout.noteNulls(column);
         return;
      }
      *target = data[position];
      if (!target->isInline()) {
         const uint32_t size = target->size();
         std::memcpy(heap[i], target->data(), size);
         // The page lives as long as the row: a reader that copies the view must copy the bytes before the operator
         // frees its memory.
         target->rebase(heap[i], StringView::Storage::Transient);
         heap[i] += size;
      }
   });
}

void scatter(const RowLayout& layout, uint32_t column, const LiveColumn& source, const RowIndex* live, uint32_t count,
             std::byte* const* rows, char** heap) {
   DCHECK(source.type == layout.type(column));
   if (isVariableSize(source.type)) return scatterStrings(layout, column, source, live, count, rows, heap);
   switch (physicalSize(source.type)) {
   case 1: return scatterFixed<uint8_t>(layout, column, source, live, count, rows);
   case 2: return scatterFixed<uint16_t>(layout, column, source, live, count, rows);
   case 4: return scatterFixed<uint32_t>(layout, column, source, live, count, rows);
   case 8: return scatterFixed<uint64_t>(layout, column, source, live, count, rows);
   default: return scatterFixed<Bytes16>(layout, column, source, live, count, rows);
   }
}

template <typename T, typename Position>
void gatherPresent(uint32_t offset, const std::byte* const* rows, uint32_t count, T* data, Position&& position) {
   for (uint32_t k = 0; k < count; ++k)
      data[position(k)] = *reinterpret_cast<const T*>(rows[k] + offset);
}

template <typename T, bool mayBeAbsent, typename Position>
bool gatherFixed(const RowLayout& layout, uint32_t column, const std::byte* const* rows, uint32_t count,
                 GatherTarget target, Position&& position) {
   const uint32_t offset = layout.offset(column);
   DCHECK(!mayBeAbsent || !layout.isNeverNull());
   const uint32_t nullByte = layout.nullsOffset() + (column >> 3), nullShift = column & 7;
   T* data = static_cast<T*>(target.data);
   if (!mayBeAbsent && !layout.mayHaveNulls(column)) {
      gatherPresent(offset, rows, count, data, position);
      return false;
   }
   bool anyNull = false;
   for (uint32_t k = 0; k < count; ++k) {
      const std::byte* row = rows[k];
      const uint32_t p = position(k);
      if (mayBeAbsent && row == nullptr) {
         data[p] = T{};
         setValidBit(target.validity, p, false);
         anyNull = true;
         continue;
      }
      data[p] = *reinterpret_cast<const T*>(row + offset);
      const bool valid = (static_cast<uint8_t>(row[nullByte]) >> nullShift & 1) == 0;
      setValidBit(target.validity, p, valid);
      anyNull |= !valid;
   }
   return anyNull;
}

template <typename Position>
bool gather(const RowLayout& layout, uint32_t column, const std::byte* const* rows, uint32_t count, bool mayBeAbsent,
            GatherTarget target, Position position) {
   const auto run = [&]<typename T>(T*) {
      return mayBeAbsent ? gatherFixed<T, true>(layout, column, rows, count, target, position)
                         : gatherFixed<T, false>(layout, column, rows, count, target, position);
   };
   switch (physicalSize(layout.type(column))) {
   case 1: return run(static_cast<uint8_t*>(nullptr));
   case 2: return run(static_cast<uint16_t*>(nullptr));
   case 4: return run(static_cast<uint32_t*>(nullptr));
   case 8: return run(static_cast<uint64_t*>(nullptr));
   default: return run(static_cast<Bytes16*>(nullptr));
   }
}

} // namespace

uint32_t RowLayout::addColumn(PhysicalType type) {
   DCHECK(rowSize_ == 0); // before seal()
   types_.push_back(type);
   if (isVariableSize(type)) hasVariableSize_ = true;
   return columnCount() - 1;
}

uint32_t RowLayout::addExtra(uint32_t size, uint32_t alignment) {
   DCHECK(rowSize_ == 0);
   DCHECK(std::has_single_bit(alignment));
   DCHECK(alignment <= 16);
   extras_.push_back({size, alignment, 0});
   return static_cast<uint32_t>(extras_.size() - 1);
}

void RowLayout::seal() {
   DCHECK(rowSize_ == 0);
   offsets_.resize(types_.size());
   nullsSeen_ = std::make_unique<std::atomic<bool>[]>(types_.size());
   uint32_t end = headerSize;
   uint32_t rowAlignment = 8;
   for (const uint32_t size : {16u, 8u}) {
      for (uint32_t c = 0; c < columnCount(); ++c) {
         if (physicalSize(types_[c]) != size) continue;
         offsets_[c] = end;
         end += size;
      }
   }
   for (Extra& extra : extras_) {
      if (extra.alignment < 8) continue;
      rowAlignment = std::max(rowAlignment, extra.alignment);
      end = alignUp(end, extra.alignment);
      extra.offset = end;
      end += extra.size;
   }
   for (const uint32_t size : {4u, 2u, 1u}) {
      end = alignUp(end, size);
      for (uint32_t c = 0; c < columnCount(); ++c) {
         if (physicalSize(types_[c]) != size) continue;
         offsets_[c] = end;
         end += size;
      }
   }
   for (Extra& extra : extras_) {
      if (extra.alignment >= 8) continue;
      end = alignUp(end, std::max(extra.alignment, 1u));
      extra.offset = end;
      end += extra.size;
   }
   nullsOffset_ = end;
   if (!isNeverNull_) end += (columnCount() + 7) / 8;
   rowSize_ = alignUp(end, rowAlignment);
   DCHECK(hashedColumns_ <= columnCount());
   for (uint32_t c = 0; c < columnCount(); ++c)
      if (isVariableSize(types_[c])) stringOffsets_.push_back(offsets_[c]);
   for (const ExtraString& string : extraStrings_) {
      DCHECK(string.extra < extras_.size());
      DCHECK(string.offset + sizeof(StringView) <= extras_[string.extra].size);
      extraStringOffsets_.push_back(extras_[string.extra].offset + string.offset);
   }
}

namespace {
/// The bytes of a string that do not fit into its view.
uint32_t heapSizeOf(const LiveColumn& column, uint32_t position) {
   const StringView& value = static_cast<const StringView*>(column.data)[position];
   return value.isInline() || !isValidBit(column.validity, position) ? 0 : value.size();
}
} // namespace

bool addVariableSizes(const LiveColumn& column, uint32_t count, uint32_t* sizes) {
   uint32_t any = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t size = heapSizeOf(column, column.position(i));
      sizes[i] += size;
      any |= size;
   }
   return any != 0;
}

void addVariableSizes(const LiveColumn& column, const RowIndex* live, uint32_t count, uint32_t* sizes) {
   for (uint32_t k = 0; k < count; ++k)
      sizes[k] += heapSizeOf(column, column.position(live[k]));
}

void scatterColumn(const RowLayout& layout, uint32_t column, const LiveColumn& source, uint32_t count,
                   std::byte* const* rows, char** heap) {
   scatter(layout, column, source, nullptr, count, rows, heap);
}

void scatterColumn(const RowLayout& layout, uint32_t column, const LiveColumn& source, const RowIndex* live,
                   uint32_t count, std::byte* const* rows, char** heap) {
   scatter(layout, column, source, live, count, rows, heap);
}

bool gatherColumn(const RowLayout& layout, uint32_t column, const std::byte* const* rows, uint32_t count,
                  bool mayBeAbsent, GatherTarget target) {
   return gather(layout, column, rows, count, mayBeAbsent, target, [](uint32_t k) { return k; });
}

bool gatherColumn(const RowLayout& layout, uint32_t column, const std::byte* const* rows, const RowIndex* positions,
                  uint32_t count, bool mayBeAbsent, GatherTarget target) {
   return gather(layout, column, rows, count, mayBeAbsent, target,
                 [positions](uint32_t k) { return static_cast<uint32_t>(positions[k]); });
}

} // namespace ouzel::executor
