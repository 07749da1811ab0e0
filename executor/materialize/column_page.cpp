#include "executor/materialize/column_page.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/value/dispatch.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t headerBytes = 16;
constexpr size_t alignUp(size_t bytes) {
   return (bytes + 15) / 16 * 16;
}

StringView* strings(std::byte* values) {
   return reinterpret_cast<StringView*>(values);
}

} // namespace

void addToReader(io::SpillReader& reader, const SpilledColumnPage& stored, bool isLastUse) {
   for (const io::SpilledPage& piece : stored.pieces)
      reader.add(piece, isLastUse);
}

size_t ColumnPage::rowBytes(std::span<const PhysicalType> columns, uint32_t keyWidth) {
   size_t bytes = keyWidth;
   for (const PhysicalType type : columns)
      bytes += physicalSize(type);
   return std::max<size_t>(bytes + (columns.size() + 7) / 8, 1);
}

/// Compute the positions of keys and columns. Returns the position of the long strings.
size_t ColumnPage::place(uint32_t rows, std::span<const uint8_t> hasNulls) {
   rows_ = rows;
   keysAt_ = alignUp(headerBytes + types_.size());
   size_t at = alignUp(keysAt_ + size_t{rows} * keyWidth_);
   for (size_t i = 0; i < types_.size(); ++i) {
      places_[i] = {at, 0};
      at = alignUp(at + size_t{rows} * physicalSize(types_[i]));
      if (hasNulls[i] == 0) continue;
      places_[i].validity = at;
      at = alignUp(at + validityWords(rows) * sizeof(ValidityWord));
   }
   return heapAt_ = at;
}

void ColumnPage::reserve(size_t bytes) {
   if (bytes <= buffer_.bytes()) return;
   buffer_.release();
   // Keys are read 16 bytes at a time, past the end of the last key.
   buffer_ = LargeMemory(alignUp(bytes + 16), *memory_);
}

void ColumnPage::open(uint32_t rows, std::span<const uint8_t> hasNulls, size_t heapBytes) {
   DCHECK(hasNulls.size() == types_.size());
   bytes_ = place(rows, hasNulls) + heapBytes;
   reserve(bytes_);
   std::memset(base(), 0, keysAt_);
   DCHECK(keysAt_ >= headerBytes + hasNulls.size()); // the flags end before the keys
   const auto columns = static_cast<uint32_t>(types_.size());
   std::memcpy(base(), &rows, 4);
   std::memcpy(base() + 4, &columns, 4);
   std::memcpy(base() + 8, &bytes_, 8);
   std::memcpy(base() + headerBytes, hasNulls.data(), types_.size());
}

SpilledColumnPage ColumnPage::store(io::SpillSpace& space) {
   size_t heap = heapAt_;
   for (size_t i = 0; i < types_.size(); ++i) {
      if (!isVariableSize(types_[i])) continue;
      StringView* views = strings(values(i));
      for (uint32_t row = 0; row < rows_; ++row) {
         if (views[row].isInline()) continue;
         const uint32_t size = views[row].size();
         CHECK(heap + size <= bytes_); // open() got the number of bytes
         std::memcpy(base() + heap, views[row].data(), size);
         // NOLINTNEXTLINE: an offset in place of a pointer
         views[row].rebase(reinterpret_cast<const char*>(heap), StringView::Storage::Transient);
         heap += size;
      }
   }
   DCHECK(heap == bytes_);
   SpilledColumnPage out{{}, bytes_, rows_};
   for (size_t from = 0; from < bytes_; from += io::SpillSpace::pageBytesMax) {
      const std::span<const std::byte> part(base() + from, std::min(bytes_ - from, io::SpillSpace::pageBytesMax));
      out.pieces.push_back(space.write({&part, 1}));
   }
   return out;
}

void ColumnPage::load(io::SpillReader& reader, const SpilledColumnPage& stored) {
   reserve(stored.bytes);
   size_t at = 0;
   for (size_t i = 0; i < stored.pieces.size(); ++i) {
      const uint32_t bytes = reader.nextBytes();
      DCHECK(at + bytes <= stored.bytes);
      reader.next(base() + at);
      at += bytes;
   }
   uint32_t rows, columns;
   std::memcpy(&rows, base(), 4);
   std::memcpy(&columns, base() + 4, 4);
   if (rows != stored.rows || columns != types_.size() || at != stored.bytes)
      throw SqlError(sqlstate::dataCorrupted, "a spilled page is not what was written");
   bytes_ = stored.bytes;
   place(rows, {reinterpret_cast<const uint8_t*>(base() + headerBytes), types_.size()});
   for (size_t i = 0; i < types_.size(); ++i) {
      if (!isVariableSize(types_[i])) continue;
      StringView* views = strings(values(i));
      const char* from = reinterpret_cast<const char*>(base());
      for (uint32_t row = 0; row < rows_; ++row)
         if (!views[row].isInline())
            views[row].rebase(from + reinterpret_cast<size_t>(views[row].data()), StringView::Storage::Transient);
   }
}

Vector ColumnPage::column(size_t i) const {
   DCHECK(i < types_.size());
   return Vector::flat(types_[i], values(i), validity(i));
}

void fillPage(ColumnPage& page, const Batch& batch) {
   std::vector<uint8_t> hasNulls;
   size_t heapBytes = 0;
   const Selection& rows = batch.selection;
   for (const Vector& column : batch.columns) {
      hasNulls.push_back(column.mayHaveNulls() ? 1 : 0);
      if (!isVariableSize(column.type)) continue;
      const auto* views = static_cast<const StringView*>(column.data);
      forEachRow(rows, [&](uint32_t row) {
         const uint32_t position = column.positionOf(row);
         if (isValidBit(column.validity, position) && !views[position].isInline()) heapBytes += views[position].size();
      });
   }
   page.open(rows.count(), hasNulls, heapBytes);
   for (size_t i = 0; i < batch.columns.size(); ++i) {
      const Vector& column = batch.columns[i];
      ValidityWord* validity = page.validity(i);
      if (validity) std::memset(validity, 0xff, validityWords(rows.count()) * sizeof(ValidityWord));
      dispatchSize(column.type, [&](auto tag) {
         using T = decltype(tag);
         const T* values = static_cast<const T*>(column.data);
         T* out = reinterpret_cast<T*>(page.values(i));
         if (column.encoding == Encoding::Flat && rows.isDense() && !validity) {
            std::memcpy(out, values, size_t{rows.count()} * sizeof(T));
            return;
         }
         for (uint32_t at = 0; at < rows.count(); ++at) {
            const uint32_t position = column.positionOf(rows.row(at));
            out[at] = values[position];
            if (isValidBit(column.validity, position)) continue;
            setValidBit(validity, at, false);
            out[at] = T{}; // a NULL string is stored as an empty string
         }
      });
   }
}

} // namespace ouzel::executor
