#pragma once
#include <string>

#include "storage/base/column_slice.hpp"
#include "storage/base/document_columns.hpp"
#include "storage/block/format.hpp"

namespace ouzel::storage {

/// One encoded column chunk: its header, with page offsets counted from the start of `bytes`.
struct EncodedChunk {
   ChunkHeader header;
   std::string bytes;
   std::string filter;        ///< bytes of a BloomFilter; empty: none
   double distinctValues = 0; ///< an estimate; set for chunks with a filter
};

/// Encode one column of one row group, with encodings chosen by its values, and add these values to `sketch`. Pure
/// computation; many threads may encode different chunks.
EncodedChunk encodeChunk(const ColumnSlice& slice, ColumnSketch& sketch);

/// The same for jsonb documents (document_encoder.cpp): in parts where that pays, else as strings. What is at their
/// paths is added to `summary`.
EncodedChunk encodeDocuments(const ColumnSlice& slice, JsonExtraction extraction, ColumnSketch& sketch,
                             DocumentSummary& summary);

/// Add flat values to a sketch without encoding them (column_sketch.cpp).
void sketchSlice(const ColumnSlice& slice, ColumnSketch& sketch);
/// Hashes that sketches use; integers use hashI64.
uint64_t sketchHash(double value);
uint64_t sketchHash(int128 value);
uint64_t sketchHash(const Interval& value);
uint64_t sketchHash(const StringView& value);
uint64_t sketchHash(PhysicalType type, const StringView& value); ///< equal decimals of different scale have one hash

// The parts of encodeChunk(), by file. All append whole pages to `chunk`.

/// Appends pages to a chunk: header, validity, body. Compresses a page if asked and if that saves a fifth. Computes the
/// checksum.
class PageWriter {
public:
   /// What is tried. Strings: LZ4, and packing their letters (letter_packing.hpp) if that takes a tenth less.
   enum class Compression : uint8_t { None, Bytes, Strings };

   explicit PageWriter(EncodedChunk& chunk) : chunk_(chunk) {}

   /// Begin a page for rows [firstRow, firstRow + rowCount) of `slice` and return its body to append to.
   std::string& begin(PageEncoding encoding, const ColumnSlice& slice, uint32_t firstRow, uint32_t rowCount,
                      bool withValidity, uint8_t width = 0);
   void end(Compression compression);
   /// Offset of the body in the page.
   size_t bodyOffset() const { return bodyOffset_; }

private:
   EncodedChunk& chunk_;
   std::string page_;
   std::string compressed_;
   size_t bodyOffset_ = 0;
   PageEntry entry_;

   void compress(Compression compression);
};

/// int_encoder.cpp: Bool, I16, I32, I64, and I128 whose values all fit 64 bits.
void encodeInts(const ColumnSlice& slice, EncodedChunk& chunk, ColumnSketch& sketch);
/// string_encoder.cpp: String and Decimal.
void encodeStrings(const ColumnSlice& slice, EncodedChunk& chunk, ColumnSketch& sketch);

} // namespace ouzel::storage
