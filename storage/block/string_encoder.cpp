#include <algorithm>
#include <numeric>
#include <vector>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"
#include "storage/block/bit_packing.hpp"
#include "storage/block/chunk_encoder.hpp"

// Encodes strings and the byte strings of Decimal: an ordered dictionary per row group when values repeat, else lengths
// and bytes.

namespace ouzel::storage {

namespace {

/// Collects the distinct values of a slice, in order of first appearance, and the number of each row's value. build()
/// returns false when there are more than `entriesMax` distinct values.
class DictionaryBuilder {
public:
   DictionaryBuilder(const ColumnSlice& slice, uint32_t entriesMax) : slice_(slice), entriesMax_(entriesMax) {}

   bool build() {
      const auto* values = slice_.values<StringView>();
      slots_.assign(1024, 0);
      codes.resize(slice_.count);
      for (uint32_t i = 0; i < slice_.count; ++i) {
         if (!slice_.isValid(i)) continue;
         if (i > 0 && slice_.isValid(i - 1) && values[i] == values[i - 1]) {
            codes[i] = codes[i - 1];
            continue;
         }
         const uint64_t hash = sketchHash(values[i]);
         size_t slot = hash & (slots_.size() - 1);
         while (slots_[slot] != 0 && !(hashes[slots_[slot] - 1] == hash && entries[slots_[slot] - 1] == values[i]))
            slot = (slot + 1) & (slots_.size() - 1);
         if (slots_[slot] == 0) {
            if (entries.size() == entriesMax_) return false;
            entries.push_back(values[i]);
            hashes.push_back(hash);
            entryBytes += values[i].size();
            slots_[slot] = static_cast<uint32_t>(entries.size());
            codes[i] = static_cast<uint32_t>(entries.size() - 1);
            if (entries.size() * 2 > slots_.size()) grow();
         } else {
            codes[i] = slots_[slot] - 1;
         }
      }
      return true;
   }

   std::vector<StringView> entries;
   std::vector<uint64_t> hashes;
   std::vector<uint32_t> codes;
   uint64_t entryBytes = 0;

private:
   void grow() {
      std::vector<uint32_t> wider(slots_.size() * 4, 0);
      for (uint32_t entry = 0; entry < entries.size(); ++entry) {
         size_t slot = hashes[entry] & (wider.size() - 1);
         while (wider[slot] != 0)
            slot = (slot + 1) & (wider.size() - 1);
         wider[slot] = entry + 1;
      }
      slots_ = std::move(wider);
   }

   const ColumnSlice& slice_;
   const uint32_t entriesMax_;
   std::vector<uint32_t> slots_;
};

/// True when rows drawn evenly repeat often enough for a dictionary to be tried.
bool mayRepeat(const ColumnSlice& slice) {
   constexpr uint32_t sampleRows = 256;
   if (slice.count <= sampleRows * 4) return true;
   std::vector<uint64_t> hashes;
   const auto* values = slice.values<StringView>();
   for (uint32_t i = 0; i < sampleRows; ++i) {
      const auto row = static_cast<uint32_t>(uint64_t{i} * slice.count / sampleRows);
      if (slice.isValid(row)) hashes.push_back(sketchHash(values[row]));
   }
   std::sort(hashes.begin(), hashes.end());
   const auto distinct = std::unique(hashes.begin(), hashes.end()) - hashes.begin();
   // n draws out of d values give about n - n²/2d distinct ones: 256 of 10,000 give 253. A spread sample does not show
   // repeats of neighbours (sorted columns), so adjacent rows are compared too.
   if (static_cast<size_t>(distinct) * 100 < hashes.size() * 98) return true;
   uint32_t repeats = 0;
   for (uint32_t i = 1; i < sampleRows; ++i)
      repeats += slice.isValid(i) && slice.isValid(i - 1) && values[i] == values[i - 1];
   return repeats * 2 > sampleRows;
}

size_t appendStringBody(std::string& page, size_t bodyOffset, const StringView* values, const ColumnSlice* validity,
                        uint32_t firstRow, uint32_t count) {
   const auto sizeOf = [&](uint32_t i) {
      return validity && !validity->isValid(firstRow + i) ? 0u : values[firstRow + i].size();
   };
   uint32_t longest = 0;
   for (uint32_t i = 0; i < count; ++i)
      longest = std::max(longest, sizeOf(i));
   StringBody body;
   body.lengthWidth = longest <= UINT8_MAX ? 1 : longest <= UINT16_MAX ? 2 : 4;
   const uint32_t granules = (count + stringGranule - 1) / stringGranule;
   body.lengthsOffset = static_cast<uint32_t>(sizeof body + granules * sizeof(uint32_t));
   body.bytesOffset = body.lengthsOffset + count * body.lengthWidth;
   page.resize(bodyOffset + body.bytesOffset);
   std::memcpy(page.data() + bodyOffset, &body, sizeof body);
   uint64_t bytes = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t size = sizeOf(i);
      if (i % stringGranule == 0) {
         const auto start = static_cast<uint32_t>(bytes);
         std::memcpy(page.data() + bodyOffset + sizeof body + i / stringGranule * sizeof start, &start, sizeof start);
      }
      std::memcpy(page.data() + bodyOffset + body.lengthsOffset + i * body.lengthWidth, &size, body.lengthWidth);
      bytes += size;
   }
   page.reserve(page.size() + bytes);
   for (uint32_t i = 0; i < count; ++i)
      page.append(values[firstRow + i].data(), sizeOf(i));
   return bytes;
}

void encodePlainStrings(const ColumnSlice& slice, EncodedChunk& chunk) {
   const auto* values = slice.values<StringView>();
   PageWriter writer(chunk);
   for (uint32_t first = 0; first < slice.count;) {
      uint32_t end = first;
      size_t bytes = 0;
      uint32_t step = stringGranule;
      while (end < slice.count) {
         const uint32_t granuleEnd = std::min(end + step, slice.count);
         size_t next = 0;
         for (uint32_t i = end; i < granuleEnd; ++i)
            next += 2 + (slice.isValid(i) ? values[i].size() : 0);
         if (step > 1 && end == first && next + 8192 > pageSizeMax) {
            step = 1; // long strings: the page ends at any row
            continue;
         }
         if (end > first && bytes + next + 8192 > pageSizeMax) break;
         bytes += next;
         end = granuleEnd;
      }
      std::string& page = writer.begin(PageEncoding::PlainStrings, slice, first, end - first, true);
      appendStringBody(page, writer.bodyOffset(), values, &slice, first, end - first);
      writer.end(PageWriter::Compression::Strings);
      first = end;
   }
}

void encodeDictionary(const ColumnSlice& slice, DictionaryBuilder& dictionary, EncodedChunk& chunk) {
   const auto entryCount = static_cast<uint32_t>(dictionary.entries.size());
   std::vector<uint32_t> order(entryCount);
   std::iota(order.begin(), order.end(), 0u);
   std::sort(order.begin(), order.end(),
             [&](uint32_t a, uint32_t b) { return dictionary.entries[a].compare(dictionary.entries[b]) < 0; });
   std::vector<StringView> sorted(entryCount);
   std::vector<uint32_t> place(entryCount);
   for (uint32_t i = 0; i < entryCount; ++i) {
      sorted[i] = dictionary.entries[order[i]];
      place[order[i]] = i;
   }
   PageWriter writer(chunk);
   std::string& page = writer.begin(PageEncoding::Dictionary, slice, 0, entryCount, false);
   appendStringBody(page, writer.bodyOffset(), sorted.data(), nullptr, 0, entryCount);
   writer.end(PageWriter::Compression::Strings);
   chunk.header.hasDictionary = true;

   // Nulls have the code after the last entry, so that validity is a property of the dictionary entry.
   const bool hasNulls = chunk.header.nullCount != 0;
   std::vector<uint64_t> codes(slice.count);
   for (uint32_t i = 0; i < slice.count; ++i)
      codes[i] = slice.isValid(i) ? place[dictionary.codes[i]] : entryCount;
   const uint32_t bits = bitsFor(entryCount - 1 + hasNulls);
   std::string& codePage = writer.begin(PageEncoding::Codes, slice, 0, slice.count, false, static_cast<uint8_t>(bits));
   const size_t start = codePage.size();
   codePage.resize(start + packedBytes(bits, slice.count));
   packBits(codes.data(), slice.count, bits, codePage.data() + start);
   writer.end(PageWriter::Compression::None);
}

void encodeConstant(const ColumnSlice& slice, const StringView& value, EncodedChunk& chunk) {
   PageWriter writer(chunk);
   std::string& page = writer.begin(PageEncoding::Constant, slice, 0, slice.count, false);
   const uint32_t size = value.size();
   page.append(reinterpret_cast<const char*>(&size), sizeof size);
   page.append(value.data(), size);
   writer.end(PageWriter::Compression::None);
}

ZoneRange zoneOf(PhysicalType type, const StringView* values, const ColumnSlice* validity, uint32_t count) {
   ZoneRange zone;
   if (type == PhysicalType::Decimal) {
      for (uint32_t i = 0; i < count; ++i)
         if (!validity || validity->isValid(i)) zone.add(zoneKeyOfDecimal(values[i]));
      return zone;
   }
   uint32_t low = UINT32_MAX, high = 0; // 4-byte prefixes decide in most cases
   for (uint32_t i = 0; i < count; ++i) {
      if (validity && !validity->isValid(i)) continue;
      const uint32_t prefix = __builtin_bswap32(values[i].prefix());
      if (prefix > low && prefix < high) continue;
      zone.add(zoneKeyOfString(values[i].view()));
      low = std::min(low, prefix);
      high = std::max(high, prefix);
   }
   return zone;
}

} // namespace

void encodeStrings(const ColumnSlice& slice, EncodedChunk& chunk, ColumnSketch& sketch) {
   const auto* values = slice.values<StringView>();
   uint64_t totalBytes = 0;
   for (uint32_t i = 0; i < slice.count; ++i)
      if (slice.isValid(i)) totalBytes += values[i].size();
   sketch.valueBytes += totalBytes;

   if (mayRepeat(slice)) {
      // When more than half of the values are distinct, codes save nothing.
      DictionaryBuilder dictionary(slice, std::min(dictionaryEntriesMax, std::max(slice.count / 2, 1u)));
      if (dictionary.build()) {
         const uint32_t bits = bitsFor(dictionary.entries.size());
         const uint64_t dictionaryBytes = dictionary.entryBytes + dictionary.entries.size() * 2;
         const bool pays = (dictionaryBytes + uint64_t{slice.count} * bits / 8) * 5 < (totalBytes + slice.count) * 4;
         const bool isConstant = dictionary.entries.size() == 1 && chunk.header.nullCount == 0;
         if (isConstant || (pays && dictionaryBytes + 4096 <= pageSizeMax)) {
            for (const StringView& entry : dictionary.entries)
               sketch.distinct.add(sketchHash(slice.type, entry));
            chunk.header.zone = zoneOf(slice.type, dictionary.entries.data(), nullptr,
                                       static_cast<uint32_t>(dictionary.entries.size()));
            if (isConstant)
               encodeConstant(slice, dictionary.entries[0], chunk);
            else
               encodeDictionary(slice, dictionary, chunk);
            return;
         }
      }
   }
   for (uint32_t i = 0; i < slice.count; ++i)
      if (slice.isValid(i)) sketch.distinct.add(sketchHash(slice.type, values[i]));
   chunk.header.zone = zoneOf(slice.type, values, &slice, slice.count);
   encodePlainStrings(slice, chunk);
}

} // namespace ouzel::storage
