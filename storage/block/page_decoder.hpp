#pragma once
#include "common/value/vector.hpp"
#include "storage/block/format.hpp"
#include "storage/block/value_range.hpp"

// Decodes pages: free functions over the bytes of a pinned frame. `firstRow` counts inside the page. For packed layouts
// it is a multiple of 2,048 (256 for codes). Selections count from firstRow.

namespace ouzel::storage {

/// A view of a page in memory, LZ4 removed.
struct PageView {
   const char* base = nullptr;

   const PageHeader& header() const { return *reinterpret_cast<const PageHeader*>(base); }
   const char* body() const { return base + header().bodyOffset; }
   /// Validity words from row `firstRow` on, a multiple of 64; null when the page has no NULLs.
   const ValidityWord* validity(uint32_t firstRow) const {
      return header().hasNulls ? reinterpret_cast<const ValidityWord*>(base + sizeof(PageHeader)) + firstRow / 64
                               : nullptr;
   }
   const PackedVector& packedVector(uint32_t firstRow) const {
      return reinterpret_cast<const PackedVector*>(body())[firstRow / vectorRows];
   }
};

/// Decode PackedInts to values of `type` (Bool, I16, I32, I64, I128). `out` is 64-byte aligned, with room for 2,048.
void decodeInts(const PageView& page, PhysicalType type, uint32_t firstRow, uint32_t count, void* out);
/// Decode selected rows only, one by one: for few rows.
void decodeIntsAt(const PageView& page, PhysicalType type, uint32_t firstRow, const Selection& rows, void* out);
/// True when single values can be read without decoding the values before them.
inline bool hasRandomAccess(const PackedVector& head) {
   return head.mode == PackedMode::FrameOfReference || (head.mode == PackedMode::Delta && head.bits == 0);
}
inline bool hasRandomAccess(const PageView& page, uint32_t firstRow) {
   return hasRandomAccess(page.packedVector(firstRow));
}
enum class Matches : uint8_t { None, Some, All };
/// Which of `count` rows have a value that the range contains. Some: sets the bits of `mask` for these rows and clears
/// those of the other rows; bits behind the last row may be anything. Otherwise the mask is not written.
Matches matchInts(const PageView& page, uint32_t firstRow, uint32_t count, const ValueRange& range, uint64_t* mask);
/// Write the rows with a value that the range contains to `out`; returns their number. `out` may be the list of `rows`.
uint32_t filterInts(const PageView& page, uint32_t firstRow, uint32_t count, const ValueRange& range,
                    const Selection& rows, RowIndex* out);

/// Decode the codes of a whole vector. `out` is 32-byte aligned, with room for 2,048.
void decodeCodes(const PageView& page, uint32_t firstRow, uint32_t count, uint16_t* out);
/// Decode the codes of the selected rows only.
void decodeCodesAt(const PageView& page, uint32_t firstRow, const Selection& rows, uint16_t* out);

/// Decode PlainStrings or Dictionary to views into the page. Rows [firstRow, firstRow + count) of the page go to out[0
/// ...].
void decodeStrings(const PageView& page, uint32_t firstRow, uint32_t count, StringView* out);
/// Decode only the rows whose index in the selection, minus `shift`, lies in [0, count).
void decodeStringsAt(const PageView& page, uint32_t firstRow, uint32_t count, const Selection& rows, uint32_t shift,
                     StringView* out);

/// Of the rows that decodeStringsAt() decodes, append those whose strings have between `lower` and `upper` bytes to
/// `out`, which has `kept` rows; returns the new number. A NULL has no bytes. `out` may be the list of `rows`.
uint32_t filterLengths(const PageView& page, uint32_t firstRow, uint32_t count, uint32_t lower, uint32_t upper,
                       const Selection& rows, uint32_t shift, RowIndex* out, uint32_t kept);

/// Bytes of a frame for a page: the page, padding, and for a dictionary its decoded entries and one NULL entry behind
/// them.
size_t frameSize(const PageEntry& entry, bool isDictionary);
/// The decoded entries in a dictionary frame.
const StringView* dictionaryEntries(const char* frame, const PageEntry& entry);
/// Validity of the entries: the bit of the NULL entry is clear, all others are set.
const ValidityWord* dictionaryValidity(const char* frame, const PageEntry& entry);
/// Fill the part of a dictionary frame behind the page: entries and validity.
void buildDictionary(char* frame, const PageEntry& entry);

/// Throw XX001 unless the offsets in the page agree with its entry. The checksum proves that the bytes are as written;
/// this check guards against reads out of bounds in a page that was written wrongly.
void verifyPage(const char* page, const PageEntry& entry);

} // namespace ouzel::storage
