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

// Rows as one block of bytes that is read without decoding. The bytes on disk are those in memory, except that the
// views of long strings hold offsets in place of pointers.
//
//   0   u32 rows, u32 columns, u64 bytes
//   16  per column one byte: whether the column has a bitmap of its NULLs
//   then, each aligned to 16: the keys; per column its values and its bitmap; the bytes of long strings

namespace ouzel::executor {

/// A block of rows on disk: one page of the spill space, or several when the block is larger than such a page may be.
struct SpilledColumnPage {
   std::vector<io::SpilledPage> pieces;
   uint64_t bytes = 0;
   uint32_t rows = 0;
};

/// Have the reader read all pieces of the block.
void addToReader(io::SpillReader& reader, const SpilledColumnPage& stored, bool isLastUse);

/// A block of rows in memory. Either open(), fill and store() it, or load() and read it; the memory is reused for the
/// next block. Used by one thread.
class ColumnPage {
public:
   /// `keyWidth`: bytes of each row's key; may be 0.
   ColumnPage(std::vector<PhysicalType> columns, uint32_t keyWidth, Reservation& memory)
      : types_(std::move(columns)), keyWidth_(keyWidth), memory_(&memory), places_(types_.size()) {}

   /// Bytes that a row takes without long strings.
   static size_t rowBytes(std::span<const PhysicalType> columns, uint32_t keyWidth);

   /// Make room for `rows` rows; the caller then writes keys and values through the pointers below. `hasNulls`: per
   /// column, whether it gets a bitmap.
   void open(uint32_t rows, std::span<const uint8_t> hasNulls, size_t heapBytes);
   std::byte* keys() { return base() + keysAt_; }
   std::byte* values(size_t column) { return base() + places_[column].values; }
   ValidityWord* validity(size_t column) {
      return places_[column].validity ? reinterpret_cast<ValidityWord*>(base() + places_[column].validity) : nullptr;
   }
   /// Write the block to `space`, after copying the bytes of long strings into the block; `heapBytes` of open() was the
   /// number of these bytes. The views are offsets afterwards.
   SpilledColumnPage store(io::SpillSpace& space);

   /// Load the reader's next block, which must be `stored`.
   void load(io::SpillReader& reader, const SpilledColumnPage& stored);
   uint32_t rowCount() const { return rows_; }
   const std::byte* key(uint32_t row) const { return base() + keysAt_ + size_t{row} * keyWidth_; }
   uint32_t keyWidth() const { return keyWidth_; }
   Vector column(size_t i) const;
   const std::byte* values(size_t column) const { return base() + places_[column].values; }
   const ValidityWord* validity(size_t column) const { return const_cast<ColumnPage*>(this)->validity(column); }
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

/// Copy the live rows of a batch to the page; the batch has the page's columns.
void fillPage(ColumnPage& page, const Batch& batch);

} // namespace ouzel::executor
