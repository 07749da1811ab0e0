#pragma once
#include "common/value/vector.hpp"
#include "storage/block/format.hpp"

// Reading pages: free functions over the bytes of a pinned frame. `firstRow` counts inside the page and, where a packed
// layout is read, is a multiple of 2,048 (256 for codes); selections count from firstRow.

namespace ouzel::storage {

/// A page in memory, LZ4 removed. Does not own it.
struct PageView {
   const char* base = nullptr;

   const PageHeader& header() const { return *reinterpret_cast<const PageHeader*>(base); }
   const char* body() const { return base + header().bodyOffset; }
   /// From row `firstRow`, a multiple of 64; null when the page has no NULLs.
   const ValidityWord* validity(uint32_t firstRow) const {
      return header().hasNulls ? reinterpret_cast<const ValidityWord*>(base + sizeof(PageHeader)) + firstRow / 64
                               : nullptr;
   }
   const PackedVector& packedVector(uint32_t firstRow) const {
      return reinterpret_cast<const PackedVector*>(body())[firstRow / vectorRows];
   }
};

/// PackedInts to values of `type` (Bool, I16, I32, I64, I128). `out` is 64-byte aligned, with room for 2,048.
void decodeInts(const PageView& page, PhysicalType type, uint32_t firstRow, uint32_t count, void* out);
/// The same for selected rows only, one by one: for few of them.
void decodeIntsAt(const PageView& page, PhysicalType type, uint32_t firstRow, const Selection& rows, void* out);
/// True when single values can be read without decoding those before.
inline bool hasRandomAccess(const PageView& page, uint32_t firstRow) {
   return page.packedVector(firstRow).mode == PackedMode::FrameOfReference;
}
/// Rows with lower <= value <= upper, NULLs excluded. `out` may alias the list of `rows`.
uint32_t filterInts(const PageView& page, uint32_t firstRow, uint32_t count, int64_t lower, int64_t upper,
                    const Selection& rows, RowIndex* out);

/// Codes of a whole vector. `out` is 32-byte aligned, with room for 2,048.
void decodeCodes(const PageView& page, uint32_t firstRow, uint32_t count, uint16_t* out);
/// Codes of the selected rows only.
void decodeCodesAt(const PageView& page, uint32_t firstRow, const Selection& rows, uint16_t* out);

/// PlainStrings or Dictionary: views into the page. Rows of the page [firstRow, firstRow + count) go to out[0 ...].
void decodeStrings(const PageView& page, uint32_t firstRow, uint32_t count, StringView* out);
/// The same for the rows whose index in the selection, less `shift`, lies in [0, count).
void decodeStringsAt(const PageView& page, uint32_t firstRow, uint32_t count, const Selection& rows, uint32_t shift,
                     StringView* out);

/// Bytes a frame needs: the page, padding, and for a dictionary its decoded entries with one NULL entry at the end.
size_t frameSize(const PageEntry& entry, bool isDictionary);
/// Where the entries of a dictionary frame lie.
const StringView* dictionaryEntries(const char* frame, const PageEntry& entry);
/// The bit of the entry after the last is clear, all others are set.
const ValidityWord* dictionaryValidity(const char* frame, const PageEntry& entry);
/// Fill what follows the page in a dictionary frame.
void buildDictionary(char* frame, const PageEntry& entry);

/// Throw XX001 unless the page's own offsets agree with its entry. A checksum proves that bytes are as written; this
/// keeps a foreign or wrongly written page from being read out of bounds.
void verifyPage(const char* page, const PageEntry& entry);

} // namespace ouzel::storage
