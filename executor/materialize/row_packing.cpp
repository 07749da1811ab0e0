#include "executor/materialize/row_packing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/error/check.hpp"
#include "common/value/string_view.hpp"
#include "executor/materialize/key_hash.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t fieldHeaderBytes = 9;
/// In place of a width: listed strings follow.
constexpr uint8_t listedStrings = 255;
/// In place of a width: the hashes are left out.
constexpr uint8_t hashesOfColumns = 254;

template <typename T>
T read(const std::byte* from) {
   T value;
   std::memcpy(&value, from, sizeof value);
   return value;
}

template <typename T>
std::byte* write(std::byte* to, T value) {
   std::memcpy(to, &value, sizeof value);
   return to + sizeof value;
}

/// Copies `size` bytes, and touches no byte outside.
inline void copyString(char* to, const char* from, uint32_t size) {
   DCHECK(size > StringView::inlineMax);
   if (size < 16) {
      uint64_t first, last;
      std::memcpy(&first, from, 8);
      std::memcpy(&last, from + size - 8, 8);
      std::memcpy(to, &first, 8);
      std::memcpy(to + size - 8, &last, 8);
      return;
   }
   if (size > 128) {
      std::memcpy(to, from, size);
      return;
   }
   char end[16];
   std::memcpy(end, from + size - 16, 16);
   for (uint32_t i = 0; i + 16 < size; i += 16)
      std::memcpy(to + i, from + i, 16);
   std::memcpy(to + size - 16, end, 16);
}

/// Calls body(T()) with an integer type T of `bytes` bytes: uint8_t for 1, since single bytes are mostly flags, and
/// signed types otherwise.
template <typename Body>
void withNumber(uint8_t bytes, Body&& body) {
   switch (bytes) {
   case 8: return body(int64_t{});
   case 4: return body(int32_t{});
   case 2: return body(int16_t{});
   default: return body(uint8_t{});
   }
}

/// A string of at most inlineMax bytes. Always reads inlineMax bytes.
inline StringView inlineString(const std::byte* data, uint32_t size) {
   const auto first = read<uint64_t>(data);
   const uint64_t word0 = first << 32, word1 = first >> 32 | uint64_t{read<uint32_t>(data + 8)} << 32;
   const uint64_t words[2] = {(size < 4 ? word0 & ~(~uint64_t{0} << (32 + 8 * size)) : word0) | size,
                              size <= 4    ? 0
                              : size == 12 ? word1
                                           : word1 & ~(~uint64_t{0} << (8 * (size - 4)))};
   StringView string;
   std::memcpy(static_cast<void*>(&string), words, sizeof string);
   return string;
}

/// Writes values[0..count) as a field of numbers; `target` has slack. Returns the end.
std::byte* packNumbers(const int64_t* values, uint32_t count, std::byte* target) {
   int64_t least = values[0], most = values[0];
   for (uint32_t i = 1; i < count; ++i) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
   }
   const auto base = static_cast<uint64_t>(least);
   const auto width = static_cast<uint32_t>((std::bit_width(static_cast<uint64_t>(most) - base) + 7) / 8);
   target = write(target, static_cast<uint8_t>(width));
   target = write(target, base);
   const auto put = [&](auto fixedWidth) {
      for (uint32_t i = 0; i < count; ++i, target += fixedWidth)
         write(target, static_cast<uint64_t>(values[i]) - base);
   };
   switch (width) {
   case 0: break;
   case 1: put(std::integral_constant<uint32_t, 1>()); break;
   case 2: put(std::integral_constant<uint32_t, 2>()); break;
   case 4: put(std::integral_constant<uint32_t, 4>()); break;
   case 8: put(std::integral_constant<uint32_t, 8>()); break;
   default: put(width);
   }
   return target;
}

/// The different strings of a run, if they are few.
class StringList {
public:
   static constexpr uint32_t entriesMax = 32;

   /// Collect the strings of `count` rows. False: too many are different for a list to pay.
   bool build(const std::byte* row, uint32_t count, uint32_t rowSize) {
      size_ = 0;
      const uint32_t entriesWorthwhile = std::min(entriesMax, count / 8);
      uint8_t slots[slotCount] = {}; // hash table of indexes + 1; 0: empty
      for (uint32_t i = 0; i < count; ++i, row += rowSize) {
         const auto& string = *reinterpret_cast<const StringView*>(row);
         uint32_t slot = (string.size() * 0x9e3779b1u ^ string.prefix() * 0x85ebca6bu) >> (32 - slotBits);
         while (slots[slot] != 0 && !(entries_[slots[slot] - 1] == string))
            slot = (slot + 1) % slotCount;
         if (slots[slot] == 0) {
            if (size_ == entriesWorthwhile) return false;
            entries_[size_] = string;
            slots[slot] = static_cast<uint8_t>(++size_);
         }
         numbers_[i] = static_cast<uint8_t>(slots[slot] - 1);
      }
      return true;
   }

   std::byte* pack(uint32_t count, std::byte* target, size_t& heapBytes) const {
      target = write(target, listedStrings);
      target = write(target, uint64_t{size_});
      for (uint32_t i = 0; i < size_; ++i) {
         const uint32_t bytes = entries_[i].size();
         target = write(target, bytes);
         std::memcpy(target, entries_[i].data(), bytes);
         target += bytes;
         heapBytes += entries_[i].isInline() ? 0 : bytes;
      }
      if (size_ == 1) return target;
      std::memcpy(target, numbers_, count);
      return target + count;
   }

   /// Reads a field of listed strings for `count` rows from `row` on. Returns its end; null: the bytes are damaged.
   static const std::byte* unpack(const std::byte* from, const std::byte* end, uint32_t count, std::byte* row,
                                  uint32_t rowSize, char*& heap) {
      const auto left = [&] { return static_cast<size_t>(end - from); };
      const auto size = read<uint64_t>(from + 1);
      from += fieldHeaderBytes;
      if (size == 0 || size > entriesMax) return nullptr;
      StringView entries[entriesMax];
      for (uint64_t i = 0; i < size; ++i) {
         if (left() < sizeof(uint32_t)) return nullptr;
         const auto bytes = read<uint32_t>(from);
         from += sizeof bytes;
         if (bytes > StringView::lengthMax || left() < bytes) return nullptr;
         const auto* data = reinterpret_cast<const char*>(from);
         if (bytes > StringView::inlineMax) {
            std::memcpy(heap, data, bytes);
            data = heap;
            heap += bytes;
         }
         entries[i] = StringView(data, bytes);
         from += bytes;
      }
      const std::byte* const numbers = from;
      if (size > 1) {
         if (left() < count) return nullptr;
         from += count;
      }
      for (uint32_t i = 0; i < count; ++i, row += rowSize) {
         const uint32_t number = size > 1 ? static_cast<uint32_t>(numbers[i]) : 0;
         if (number >= size) return nullptr;
         std::memcpy(row, &entries[number], sizeof(StringView));
      }
      return from;
   }

private:
   static constexpr uint32_t slotBits = 6, slotCount = 1u << slotBits;

   StringView entries_[entriesMax];
   uint8_t numbers_[RowPacking::runRows];
   uint32_t size_ = 0;
};

/// Calls put(i, value) for each number of a field. Returns the field's end; null: the bytes are too few.
template <typename Put>
const std::byte* unpackNumbers(const std::byte* from, const std::byte* end, uint32_t count, Put&& put) {
   if (static_cast<size_t>(end - from) < fieldHeaderBytes) return nullptr;
   const auto width = read<uint8_t>(from);
   const auto base = read<uint64_t>(from + 1);
   from += fieldHeaderBytes;
   if (width > 8 || static_cast<size_t>(end - from) < size_t{width} * count) return nullptr;
   const uint64_t mask = width == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * width);
   for (uint32_t i = 0; i < count; ++i, from += width)
      put(i, base + (read<uint64_t>(from) & mask));
   return from;
}

/// Writes a field of strings; `sizes` is scratch. Returns the end.
std::byte* packStrings(const std::byte* row, uint32_t count, uint32_t rowSize, int64_t* sizes, std::byte* target,
                       size_t& heapBytes) {
   const std::byte* const first = row;
   for (uint32_t i = 0; i < count; ++i, row += rowSize)
      sizes[i] = reinterpret_cast<const StringView*>(row)->size();
   target = packNumbers(sizes, count, target);
   row = first;
   for (uint32_t i = 0; i < count; ++i, row += rowSize) {
      const auto& string = *reinterpret_cast<const StringView*>(row);
      if (string.isInline()) {
         std::memcpy(target, string.data(), StringView::inlineMax);
      } else {
         copyString(reinterpret_cast<char*>(target), string.data(), string.size());
         heapBytes += string.size();
      }
      target += string.size();
   }
   return target;
}

/// Reads a field of strings or of listed strings. Returns its end; null: the bytes are damaged.
const std::byte* unpackStrings(const std::byte* from, const std::byte* end, uint32_t count, std::byte* row,
                               uint32_t rowSize, char*& heap) {
   if (static_cast<size_t>(end - from) >= fieldHeaderBytes && read<uint8_t>(from) == listedStrings)
      return StringList::unpack(from, end, count, row, rowSize, heap);
   uint32_t sizes[RowPacking::runRows];
   size_t bytes = 0;
   from = unpackNumbers(from, end, count, [&](uint32_t i, uint64_t value) {
      sizes[i] = static_cast<uint32_t>(value);
      bytes += sizes[i];
   });
   if (!from || static_cast<size_t>(end - from) < bytes) return nullptr;
   for (uint32_t i = 0; i < count; ++i, row += rowSize) {
      auto& string = *reinterpret_cast<StringView*>(row);
      if (sizes[i] <= StringView::inlineMax) {
         string = inlineString(from, sizes[i]);
      } else {
         copyString(heap, reinterpret_cast<const char*>(from), sizes[i]);
         string = StringView(heap, sizes[i], StringView::Storage::Transient);
         heap += sizes[i];
      }
      from += sizes[i];
   }
   return from;
}

} // namespace

RowPacking::RowPacking(const RowLayout& layout) : layout_(layout), rowSize_(layout.rowSize()) {
   addBytes(0, RowLayout::headerSize);
   for (uint32_t c = 0; c < layout.columnCount(); ++c) {
      if (isVariableSize(layout.type(c)))
         fields_.push_back({layout.offset(c), 0});
      else
         addBytes(layout.offset(c), layout.offset(c) + physicalSize(layout.type(c)));
   }
   const std::vector<uint32_t>& strings = layout.extraStringOffsets();
   for (const auto& [begin, size] : layout.extraParts()) {
      uint32_t at = begin;
      for (const uint32_t string : strings) {
         if (string < begin || string >= begin + size) continue;
         DCHECK(string >= at); // sorted by offset
         addBytes(at, string);
         fields_.push_back({string, 0});
         at = string + sizeof(StringView);
      }
      addBytes(at, begin + size);
   }
   addBytes(layout.nullsOffset(), rowSize_);
   uint32_t bytes = 0;
   for (const Field& field : fields_)
      bytes += field.bytes > 0 ? field.bytes : uint32_t{sizeof(StringView)};
   hasGaps_ = bytes < rowSize_;
}

/// Add bytes [begin, end) of a row as number fields, each as wide as its alignment allows.
void RowPacking::addBytes(uint32_t begin, uint32_t end) {
   for (uint32_t at = begin; at < end; at += fields_.back().bytes) {
      const uint32_t aligned = at == 0 ? 8 : at & -at;
      fields_.push_back({at, static_cast<uint8_t>(std::min({std::bit_floor(end - at), aligned, 8u}))});
   }
}

size_t RowPacking::bound(size_t rowCount, size_t heapBytes) const {
   // A string's packed length and its inline bytes take at most the 16 bytes of its view.
   return (rowCount + runRows - 1) / runRows * fields_.size() * fieldHeaderBytes + rowCount * rowSize_ + heapBytes +
          slackBytes;
}

bool RowPacking::hashesAreOfColumns(const std::byte* rows, uint32_t count) const {
   if (layout_.hashedColumns() == 0) return false;
   uint64_t hashes[runRows];
   hashRows(layout_, layout_.hashedColumns(), rows, count, hashes);
   uint64_t difference = 0;
   for (uint32_t i = 0; i < count; ++i, rows += rowSize_)
      difference |= hashes[i] ^ rowHash(rows);
   return difference == 0;
}

RowPacking::Packed RowPacking::pack(const std::byte* begin, const std::byte* end, std::byte* target) const {
   int64_t values[runRows];
   StringList list;
   size_t heapBytes = 0;
   while (begin != end) {
      const auto count = static_cast<uint32_t>(std::min<size_t>((end - begin) / rowSize_, runRows));
      for (const Field& field : fields_) {
         const std::byte* row = begin + field.offset;
         if (field.offset == 0 && hashesAreOfColumns(begin, count)) {
            target = write(target, hashesOfColumns);
            continue;
         }
         if (field.bytes == 0) {
            target = list.build(row, count, rowSize_) ? list.pack(count, target, heapBytes)
                                                      : packStrings(row, count, rowSize_, values, target, heapBytes);
            continue;
         }
         withNumber(field.bytes, [&]<typename T>(T) {
            for (uint32_t i = 0; i < count; ++i, row += rowSize_)
               values[i] = read<T>(row);
         });
         target = packNumbers(values, count, target);
      }
      begin += size_t{count} * rowSize_;
   }
   return {target, heapBytes};
}

bool RowPacking::makeHashes(std::byte* rows, uint32_t count) const {
   if (layout_.hashedColumns() == 0) return false;
   uint64_t hashes[runRows];
   hashRows(layout_, layout_.hashedColumns(), rows, count, hashes);
   for (uint32_t i = 0; i < count; ++i, rows += rowSize_)
      write(rows, hashes[i]);
   return true;
}

bool RowPacking::unpack(std::span<const std::byte> packed, std::byte* begin, std::byte* end, char* heap) const {
   const std::byte *from = packed.data(), *const fromEnd = from + packed.size();
   if (hasGaps_) std::memset(begin, 0, static_cast<size_t>(end - begin));
   while (begin != end) {
      const auto count = static_cast<uint32_t>(std::min<size_t>((end - begin) / rowSize_, runRows));
      bool leavesOutHashes = false;
      for (const Field& field : fields_) {
         std::byte* row = begin + field.offset;
         if (field.offset == 0 && from != fromEnd && read<uint8_t>(from) == hashesOfColumns) {
            leavesOutHashes = true;
            ++from;
         } else if (field.bytes == 0) {
            from = unpackStrings(from, fromEnd, count, row, rowSize_, heap);
         } else {
            withNumber(field.bytes, [&]<typename T>(T) {
               from = unpackNumbers(from, fromEnd, count, [&](uint32_t, uint64_t value) {
                  write(row, static_cast<T>(value));
                  row += rowSize_;
               });
            });
         }
         if (!from) return false;
      }
      if (leavesOutHashes && !makeHashes(begin, count)) return false;
      begin += size_t{count} * rowSize_;
   }
   return from == fromEnd;
}

} // namespace ouzel::executor
