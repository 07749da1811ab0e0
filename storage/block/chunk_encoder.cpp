#include "storage/block/chunk_encoder.hpp"

#include <algorithm>
#include <lz4.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "storage/block/letter_packing.hpp"

namespace ouzel::storage {

namespace {

// Smaller pages are not compressed, nor those that compression shrinks by less than a fifth: that does not pay for the
// time of decompression.
constexpr size_t compressionSizeMin = 512;
constexpr double compressionRatioMax = 0.8;
/// Packed letters take longer to decode than LZ4, and less where they are read from afar.
constexpr double packedRatioMax = 0.9;

template <typename T, typename KeyOf, typename HashOf>
void sketchFixed(const ColumnSlice& slice, EncodedChunk& chunk, ColumnSketch& sketch, KeyOf keyOf, HashOf hashOf) {
   const T* values = slice.values<T>();
   for (uint32_t i = 0; i < slice.count; ++i) {
      if (!slice.isValid(i)) continue;
      chunk.header.zone.add(keyOf(values[i]));
      sketch.distinct.add(hashOf(values[i]));
   }
}

void sketchPlain(const ColumnSlice& slice, EncodedChunk& chunk, ColumnSketch& sketch) {
   switch (slice.type) {
   case PhysicalType::F32:
      return sketchFixed<float>(
          slice, chunk, sketch, [](float v) { return zoneKeyOfDouble(v); },
          [](float v) { return sketchHash(static_cast<double>(v)); });
   case PhysicalType::F64:
      return sketchFixed<double>(slice, chunk, sketch, zoneKeyOfDouble, [](double v) { return sketchHash(v); });
   case PhysicalType::I128:
      return sketchFixed<int128>(
          slice, chunk, sketch, [](int128 v) { return v; },
          [](int128 v) { return v == static_cast<int64_t>(v) ? hashI64(static_cast<int64_t>(v)) : sketchHash(v); });
   case PhysicalType::Interval:
      return sketchFixed<Interval>(
          slice, chunk, sketch, [](const Interval& v) { return intervalSpan(v); },
          [](const Interval& v) { return sketchHash(v); });
   default: throwInternal("type has an encoder of its own");
   }
}

void encodePlain(const ColumnSlice& slice, EncodedChunk& chunk) {
   const uint32_t size = physicalSize(slice.type);
   const auto* data = static_cast<const char*>(slice.data);
   const uint32_t perPage = pageSizeMax / size / vectorRows * vectorRows;
   PageWriter writer(chunk);
   for (uint32_t first = 0; first < slice.count; first += perPage) {
      const uint32_t rows = std::min(perPage, slice.count - first);
      writer.begin(PageEncoding::PlainFixed, slice, first, rows, true)
          .append(data + static_cast<size_t>(first) * size, static_cast<size_t>(rows) * size);
      writer.end(PageWriter::Compression::Bytes);
   }
}

bool isAllSame(const ColumnSlice& slice) {
   const uint32_t size = physicalSize(slice.type);
   const auto* data = static_cast<const char*>(slice.data);
   for (uint32_t i = 1; i < slice.count; ++i)
      if (std::memcmp(data, data + static_cast<size_t>(i) * size, size) != 0) return false;
   return true;
}

bool fitsInts(const ColumnSlice& slice) {
   const auto* values = slice.values<int128>();
   for (uint32_t i = 0; i < slice.count; ++i)
      if (slice.isValid(i) && values[i] != static_cast<int64_t>(values[i])) return false;
   return true;
}

uint32_t countNulls(const ColumnSlice& slice) {
   if (!slice.validity) return 0;
   uint32_t valid = 0;
   for (uint32_t word = 0; word < validityWords(slice.count); ++word) {
      ValidityWord bits = slice.validity[word];
      if (slice.count - word * 64 < 64) bits &= (ValidityWord{1} << (slice.count & 63)) - 1;
      valid += static_cast<uint32_t>(__builtin_popcountll(bits));
   }
   return slice.count - valid;
}

/// The bits of these rows, the first row's first.
std::vector<ValidityWord> validityOf(const ColumnSlice& slice, uint32_t firstRow, uint32_t rowCount) {
   const uint32_t shift = firstRow % 64, start = firstRow / 64, last = validityWords(slice.count) - 1;
   std::vector<ValidityWord> words(validityWords(rowCount));
   for (uint32_t i = 0; i < words.size(); ++i) {
      words[i] = slice.validity[start + i] >> shift;
      if (shift != 0 && start + i < last) words[i] |= slice.validity[start + i + 1] << (64 - shift);
   }
   return words;
}

} // namespace

std::string& PageWriter::begin(PageEncoding encoding, const ColumnSlice& slice, uint32_t firstRow, uint32_t rowCount,
                               bool withValidity, uint8_t width) {
   PageHeader header;
   header.encoding = encoding;
   header.width = width;
   header.rowCount = rowCount;
   entry_ = {};
   entry_.firstRow = firstRow;
   entry_.rowCount = rowCount;
   page_.clear();
   page_.append(sizeof header, '\0');
   if (withValidity && slice.validity) {
      const std::vector<ValidityWord> words = validityOf(slice, firstRow, rowCount);
      ColumnSlice part = slice;
      part.validity = words.data();
      part.count = rowCount;
      if (countNulls(part) != 0) {
         header.hasNulls = 1;
         page_.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(ValidityWord));
      }
   }
   page_.append((32 - page_.size() % 32) % 32, '\0');
   bodyOffset_ = page_.size();
   header.bodyOffset = static_cast<uint32_t>(bodyOffset_);
   std::memcpy(page_.data(), &header, sizeof header);
   return page_;
}

/// Leaves the best form in `compressed_`, and its codec in the entry.
void PageWriter::compress(Compression compression) {
   const auto partOf = [](size_t bytes, double ratio) {
      return static_cast<size_t>(static_cast<double>(bytes) * ratio);
   };
   // The output has room for fewer bytes than the page: LZ4 gives up early when it saves too little.
   compressed_.resize(partOf(page_.size(), compressionRatioMax));
   const int size = LZ4_compress_default(page_.data(), compressed_.data(), static_cast<int>(page_.size()),
                                         static_cast<int>(compressed_.size()));
   compressed_.resize(size > 0 ? static_cast<size_t>(size) : compressed_.size());
   if (size > 0) entry_.codec = PageCodec::Lz4;
   if (compression != Compression::Strings) return;
   std::string packed = packLetters(page_, partOf(compressed_.size(), size > 0 ? packedRatioMax : 1));
   if (packed.empty()) return;
   compressed_ = std::move(packed);
   entry_.codec = PageCodec::Letters;
}

void PageWriter::end(Compression compression) {
   entry_.rawSize = static_cast<uint32_t>(page_.size());
   if (compression != Compression::None && page_.size() >= compressionSizeMin) compress(compression);
   const std::string_view stored = entry_.codec == PageCodec::None ? page_ : compressed_;
   chunk_.bytes.append((pageAlignment - chunk_.bytes.size() % pageAlignment) % pageAlignment, '\0');
   entry_.offset = chunk_.bytes.size();
   entry_.storedSize = static_cast<uint32_t>(stored.size());
   entry_.checksum = checksumOf(stored);
   chunk_.bytes.append(stored);
   chunk_.header.pages.push_back(entry_);
}

EncodedChunk encodeChunk(const ColumnSlice& slice, ColumnSketch& sketch) {
   DCHECK(slice.count <= rowGroupRows);
   EncodedChunk chunk;
   chunk.header.nullCount = countNulls(slice);
   const uint32_t valid = slice.count - chunk.header.nullCount;
   sketch.valueCount += valid;
   sketch.nullCount += chunk.header.nullCount;
   if (slice.count == 0) return chunk;
   if (valid == 0) {
      PageWriter writer(chunk);
      writer.begin(PageEncoding::AllNull, slice, 0, slice.count, false);
      writer.end(PageWriter::Compression::None);
      return chunk;
   }
   if (isVariableSize(slice.type)) {
      encodeStrings(slice, chunk, sketch);
   } else {
      sketch.valueBytes += static_cast<uint64_t>(valid) * physicalSize(slice.type);
      const bool isInt = slice.type <= PhysicalType::I64;
      if (isInt || (slice.type == PhysicalType::I128 && fitsInts(slice))) {
         encodeInts(slice, chunk, sketch);
      } else {
         sketchPlain(slice, chunk, sketch);
         if (valid == slice.count && isAllSame(slice)) {
            PageWriter writer(chunk);
            std::string& body = writer.begin(PageEncoding::Constant, slice, 0, slice.count, false);
            body.append(static_cast<const char*>(slice.data), physicalSize(slice.type));
            body.append(16 - physicalSize(slice.type), '\0');
            writer.end(PageWriter::Compression::None);
         } else {
            encodePlain(slice, chunk);
         }
      }
   }
   sketch.zone.merge(chunk.header.zone);
   return chunk;
}

} // namespace ouzel::storage
