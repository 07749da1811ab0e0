#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "common/memory/ledger.hpp"
#include "common/value/batch.hpp"
#include "io/spill/spill.hpp"

// Rows as one block of bytes that needs no decoding: on disk it looks as in memory, but that long strings hold offsets
// for pointers.
//
//   0   u32 rows, u32 columns, u64 bytes
//   16  one byte per column: does it have a bitmap of its NULLs?
//   then, each from a multiple of 16 on: the keys, and of each column its values and its bitmap; the bytes of long
//   strings

namespace ouzel::executor {

/// A block of rows on disk: one page of the spill space, or several when a value is larger than those may be.
struct StoredRows {
   std::vector<io::SpilledPage> pieces;
   uint64_t bytes = 0;
   uint32_t rows = 0;
};

/// Ask for all pieces of the block.
void addToReader(io::SpillReader& reader, const StoredRows& stored, bool isLastUse);

/// A block of rows in memory: filled and stored, or loaded and read; used again and again. One thread's.
class RowPage {
public:
   /// `keyWidth`: bytes of key beside each row; may be 0.
   RowPage(std::vector<PhysicalType> columns, uint32_t keyWidth, Reservation& memory)
      : types_(std::move(columns)), keyWidth_(keyWidth), memory_(&memory), places_(types_.size()) {}

   /// Bytes that a row takes without long strings.
   static size_t rowBytes(std::span<const PhysicalType> columns, uint32_t keyWidth);

   /// Make room for so many rows; keys and values are then written through the pointers below. `hasNulls`: by column.
   void open(uint32_t rows, std::span<const uint8_t> hasNulls, size_t heapBytes);
   std::byte* keys() { return base() + keysAt_; }
   std::byte* values(size_t column) { return base() + places_[column].values; }
   ValidityWord* validity(size_t column) {
      return places_[column].validity ? reinterpret_cast<ValidityWord*>(base() + places_[column].validity) : nullptr;
   }
   /// Fetch the bytes of long strings from where the values point. `heapBytes` of open() was their sum.
   StoredRows store(io::SpillSpace& space);

   /// The next block of the reader, which must be `stored`.
   void load(io::SpillReader& reader, const StoredRows& stored);
   uint32_t rowCount() const { return rows_; }
   const std::byte* key(uint32_t row) const { return base() + keysAt_ + size_t{row} * keyWidth_; }
   uint32_t keyWidth() const { return keyWidth_; }
   Vector column(size_t i) const;
   const std::byte* values(size_t column) const { return base() + places_[column].values; }
   const ValidityWord* validity(size_t column) const { return const_cast<RowPage*>(this)->validity(column); }
   size_t memoryBytes() const { return buffer_.bytes(); }

private:
   struct Place {
      size_t values = 0, validity = 0; // 0: no bitmap
   };
   std::byte* base() const { return buffer_.as<std::byte>(); }
   size_t place(uint32_t rows, std::span<const uint8_t> hasNulls);
   void reserve(size_t bytes);

   // PROPERTIES
   std::vector<PhysicalType> types_;
   uint32_t keyWidth_;
   Reservation* memory_;
   // STATE
   LargeMemory buffer_;
   uint32_t rows_ = 0;
   size_t keysAt_ = 0, heapAt_ = 0, bytes_ = 0;
   std::vector<Place> places_;
};

/// Copy the live rows of a batch to the page; columns as the page's.
void fillPage(RowPage& page, const Batch& batch);

} // namespace ouzel::executor
