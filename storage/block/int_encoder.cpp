#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "storage/block/bit_packing.hpp"
#include "storage/block/chunk_encoder.hpp"

// Encodes integers. Each vector of 2,048 rows gets the cheapest of three modes: frame of reference, with a common
// factor taken out (money in cents that are always .00, timestamps of whole days); delta; runs. Positions with NULL
// repeat the value before them.

namespace ouzel::storage {

namespace {

/// A vector's descriptor and its packed data.
struct EncodedVector {
   PackedVector head;
   std::string data;
};

template <typename T>
void widenTo(const ColumnSlice& slice, int64_t* out) {
   const T* values = slice.values<T>();
   for (uint32_t i = 0; i < slice.count; ++i)
      out[i] = static_cast<int64_t>(values[i]);
}

void widenAll(const ColumnSlice& slice, int64_t* out) {
   switch (slice.type) {
   case PhysicalType::Bool: widenTo<uint8_t>(slice, out); break;
   case PhysicalType::I16: widenTo<int16_t>(slice, out); break;
   case PhysicalType::I32: widenTo<int32_t>(slice, out); break;
   case PhysicalType::I64: widenTo<int64_t>(slice, out); break;
   case PhysicalType::I128: widenTo<int128>(slice, out); break;
   default: throwInternal("not an integer column");
   }
   if (!slice.validity) return;
   uint32_t first = 0;
   while (!slice.isValid(first))
      ++first;
   int64_t previous = out[first];
   for (uint32_t i = 0; i < slice.count; ++i) {
      if (slice.isValid(i))
         previous = out[i];
      else
         out[i] = previous;
   }
}

/// The greatest common divisor of all `offsets`; stops at 1.
uint64_t commonFactor(const uint64_t* offsets, uint32_t count) {
   uint64_t factor = 0;
   for (uint32_t i = 0; i < count && factor != 1; ++i) {
      const uint64_t v = offsets[i];
      if (v == 0) continue;
      if (factor == 0)
         factor = v;
      else if (((v | factor) >> 32) == 0 ? static_cast<uint32_t>(v) % static_cast<uint32_t>(factor) != 0
                                         : v % factor != 0)
         factor = std::gcd(factor, v);
   }
   return std::max<uint64_t>(factor, 1);
}

struct DeltaRange {
   int64_t smallest = 0;
   uint64_t range = 0;
   bool isValid = false;
};

DeltaRange deltasOf(const int64_t* values, uint32_t count) {
   DeltaRange result;
   if (count < 3) return result;
   int64_t low = INT64_MAX, high = INT64_MIN;
   for (uint32_t i = 1; i < count; ++i) {
      int64_t delta;
      if (__builtin_sub_overflow(values[i], values[i - 1], &delta)) return result;
      low = std::min(low, delta);
      high = std::max(high, delta);
   }
   result.smallest = low;
   result.range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
   result.isValid = true;
   return result;
}

void packInto(std::string& data, const uint64_t* values, uint32_t count, uint32_t bits) {
   const size_t start = data.size();
   data.resize(start + packedBytes(bits, count));
   packBits(values, count, bits, data.data() + start);
}

void encodeRuns(EncodedVector& out, const uint64_t* packed, uint32_t count, uint32_t runs) {
   std::vector<uint16_t> ends;
   std::vector<uint64_t> values;
   for (uint32_t i = 0; i < count; ++i) {
      if (i + 1 < count && packed[i + 1] == packed[i]) continue;
      ends.push_back(static_cast<uint16_t>(i + 1));
      values.push_back(packed[i]);
   }
   CHECK(ends.size() == runs);
   out.head.mode = PackedMode::Runs;
   out.head.runs = static_cast<uint16_t>(runs);
   out.data.append(reinterpret_cast<const char*>(ends.data()), ends.size() * sizeof(uint16_t));
   out.data.append((32 - out.data.size() % 32) % 32, '\0');
   packInto(out.data, values.data(), runs, out.head.bits);
}

EncodedVector encodeVector(const int64_t* values, uint32_t count) {
   EncodedVector out;
   int64_t low = values[0], high = values[0];
   uint32_t runs = 1;
   for (uint32_t i = 1; i < count; ++i) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
      runs += values[i] != values[i - 1];
   }
   out.head.smallest = out.head.reference = low;
   out.head.range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
   if (out.head.range == 0) return out;

   uint64_t packed[vectorRows];
   for (uint32_t i = 0; i < count; ++i)
      packed[i] = static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(low);
   out.head.factor = commonFactor(packed, count);
   out.head.bits = static_cast<uint8_t>(bitsFor(out.head.range / out.head.factor));

   // Delta must save much: decoding computes a running sum, and predicates cannot be evaluated on packed deltas.
   const DeltaRange deltas = deltasOf(values, count);
   const uint32_t deltaBits = bitsFor(deltas.range);
   if (deltas.isValid && (deltaBits == 0 || (out.head.bits >= 16 && deltaBits * 2 <= out.head.bits))) {
      for (uint32_t i = count - 1; i > 0; --i)
         packed[i] = static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]) -
                     static_cast<uint64_t>(deltas.smallest);
      packed[0] = 0;
      out.head.mode = PackedMode::Delta;
      out.head.reference = deltas.smallest;
      out.head.factor = static_cast<uint64_t>(values[0]);
      out.head.bits = static_cast<uint8_t>(deltaBits);
      packInto(out.data, packed, count, deltaBits);
      return out;
   }
   if (out.head.factor != 1)
      for (uint32_t i = 0; i < count; ++i)
         packed[i] /= out.head.factor;
   if ((runs * 2 + packedBytes(out.head.bits, runs)) * 4 <= packedBytes(out.head.bits, count))
      encodeRuns(out, packed, count, runs);
   else
      packInto(out.data, packed, count, out.head.bits);
   return out;
}

void writePages(const ColumnSlice& slice, std::vector<EncodedVector>& vectors, EncodedChunk& chunk) {
   PageWriter writer(chunk);
   for (size_t first = 0; first < vectors.size();) {
      size_t bytes = 0, end = first;
      while (end < vectors.size()) {
         const size_t next = vectors[end].data.size() + sizeof(PackedVector);
         if (end > first && bytes + next + 8192 > pageSizeMax) break;
         bytes += next;
         ++end;
      }
      const auto firstRow = static_cast<uint32_t>(first * vectorRows);
      const uint32_t rows = std::min(static_cast<uint32_t>(end * vectorRows), slice.count) - firstRow;
      std::string& page = writer.begin(PageEncoding::PackedInts, slice, firstRow, rows, true);
      size_t offset = ((end - first) * sizeof(PackedVector) + 31) / 32 * 32;
      const size_t headsSize = offset;
      for (size_t i = first; i < end; ++i) {
         vectors[i].head.offset = static_cast<uint32_t>(offset);
         offset += vectors[i].data.size();
         page.append(reinterpret_cast<const char*>(&vectors[i].head), sizeof(PackedVector));
      }
      page.resize(writer.bodyOffset() + headsSize);
      for (size_t i = first; i < end; ++i)
         page.append(vectors[i].data);
      writer.end(PageWriter::Compression::None);
      first = end;
   }
}

// Add the values to the sketch. When few values are possible, collect them in a bitmap instead of hashing each row.
void sketchInts(const int64_t* values, uint32_t count, int64_t low, uint64_t range, ColumnSketch& sketch) {
   constexpr uint64_t seenMax = 1 << 15;
   if (range < seenMax && range < count) {
      uint64_t seen[seenMax / 64] = {};
      for (uint32_t i = 0; i < count; ++i) {
         const uint64_t v = static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(low);
         seen[v >> 6] |= uint64_t{1} << (v & 63);
      }
      for (uint64_t word = 0; word <= range >> 6; ++word)
         for (uint64_t bits = seen[word]; bits != 0; bits &= bits - 1)
            sketch.distinct.add(hashI64(low + static_cast<int64_t>(word * 64 + std::countr_zero(bits))));
      return;
   }
   sketch.distinct.add(hashI64(values[0]));
   for (uint32_t i = 1; i < count; ++i)
      if (values[i] != values[i - 1]) sketch.distinct.add(hashI64(values[i]));
}

} // namespace

void encodeInts(const ColumnSlice& slice, EncodedChunk& chunk, ColumnSketch& sketch) {
   std::vector<int64_t> values(slice.count);
   widenAll(slice, values.data());
   int64_t low = values[0], high = values[0];
   for (const int64_t value : values) { // vectorises, which std::minmax_element does not
      low = std::min(low, value);
      high = std::max(high, value);
   }
   chunk.header.zone.add(low);
   chunk.header.zone.add(high);
   sketchInts(values.data(), slice.count, low, static_cast<uint64_t>(high) - static_cast<uint64_t>(low), sketch);
   if (low == high && chunk.header.nullCount == 0) {
      PageWriter writer(chunk);
      std::string& page = writer.begin(PageEncoding::Constant, slice, 0, slice.count, false);
      const int128 value = low;
      page.append(reinterpret_cast<const char*>(&value), sizeof value);
      writer.end(PageWriter::Compression::None);
      return;
   }
   std::vector<EncodedVector> vectors;
   for (uint32_t first = 0; first < slice.count; first += vectorRows)
      vectors.push_back(encodeVector(values.data() + first, std::min(vectorRows, slice.count - first)));
   writePages(slice, vectors, chunk);
}

} // namespace ouzel::storage
