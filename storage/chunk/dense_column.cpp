#include "storage/chunk/dense_column.hpp"

#include <algorithm>
#include <cstring>

#include "storage/base/byte_codec.hpp"

namespace ouzel::storage {

template <typename Take>
void DenseColumn::readPieces(Take take) {
   if (!wanted.empty() && passed + wanted.back() >= reader.rowCount()) ByteReader::corrupted();
   RowIndex list[vectorRows];
   for (size_t i = 0; i < wanted.size();) {
      const uint32_t from = passed + wanted[i], begin = from / vectorRows * vectorRows;
      const uint32_t skipped = std::max(begin, passed) - passed, start = passed + skipped;
      uint32_t found = 0;
      for (size_t k = i; k < wanted.size() && passed + wanted[k] < begin + vectorRows; ++k)
         list[found++] = static_cast<RowIndex>(wanted[k] - skipped);
      const uint32_t count = list[found - 1] + 1u;
      const Selection rows = found == count ? Selection::dense(count) : Selection::list(list, found);
      take(reader.read(start, count, rows), i, rows);
      i += found;
   }
}

namespace {

template <typename T>
void copy(const Vector& read, const Selection& rows, T* out) {
   const auto* source = static_cast<const T*>(read.data);
   if (read.encoding == Encoding::Flat && rows.isDense()) {
      std::memcpy(out, source, rows.count() * sizeof(T));
      return;
   }
   for (uint32_t i = 0; i < rows.count(); ++i)
      out[i] = source[read.positionOf(rows.row(i))];
}

struct alignas(16) Wide {
   char bytes[16];
};

void copy(const Vector& read, const Selection& rows, uint32_t size, char* out) {
   switch (size) {
   case 1: return copy(read, rows, reinterpret_cast<uint8_t*>(out));
   case 2: return copy(read, rows, reinterpret_cast<uint16_t*>(out));
   case 4: return copy(read, rows, reinterpret_cast<uint32_t*>(out));
   case 8: return copy(read, rows, reinterpret_cast<uint64_t*>(out));
   default: return copy(read, rows, reinterpret_cast<Wide*>(out));
   }
}

} // namespace

void DenseColumn::fetch() {
   if (wanted.empty()) return values.clear();
   reader.passPages(passed);
   const uint32_t size = physicalSize(reader.type());
   values.resize(wanted.size() * size);
   readPieces([&](const Vector& read, size_t first, const Selection& rows) {
      copy(read, rows, size, values.data() + first * size);
   });
}

void DenseColumn::fetchRange(uint32_t from, uint32_t count) {
   if (from + count > reader.rowCount()) ByteReader::corrupted();
   if (count > 0) reader.passPages(from);
   const uint32_t size = physicalSize(reader.type());
   values.resize((size_t{count} + 1) * size);
   for (uint32_t done = 0; done < count;) {
      const uint32_t start = from + done;
      const Selection rows = Selection::dense(std::min(count - done, vectorRows - start % vectorRows));
      copy(reader.read(start, rows.count(), rows), rows, size, values.data() + size_t{done} * size);
      done += rows.count();
   }
}

Vector DenseColumn::fetchCodes(uint16_t* codes) {
   Vector dictionary;
   readPieces([&](const Vector& read, size_t first, const Selection& rows) {
      dictionary = read;
      for (uint32_t i = 0; i < rows.count(); ++i)
         codes[first + i] = read.codes[rows.row(i)];
   });
   return dictionary;
}

} // namespace ouzel::storage
