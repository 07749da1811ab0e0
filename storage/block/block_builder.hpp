#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/object_store/object_store.hpp"
#include "storage/base/document_columns.hpp"
#include "storage/block/chunk_encoder.hpp"
#include "storage/block/sample.hpp"

namespace ouzel::storage {

inline constexpr uint32_t blockSampleRows = 1024;

/// Makes one block: takes row groups, encodes each at once, keeps the encoded bytes in memory, and writes the object at
/// the end. One owner and thread; several builders may work in parallel.
class BlockBuilder {
public:
   explicit BlockBuilder(std::vector<PhysicalType> columnTypes, DocumentColumns documents = {});

   uint32_t rowCount() const { return header_.rowCount; }
   bool isFull() const { return header_.rowCount + rowGroupRows > blockRowsMax; }
   size_t encodedBytes() const { return encodedBytes_; }
   /// Add up to rowGroupRows rows: one slice of `rows` rows per column, none for a table without columns. REQUIRES: all
   /// row groups added before are full.
   void addRowGroup(uint32_t rows, std::span<const ColumnSlice> columns);
   /// Write the object, if-absent; it is durable on return. The builder must not be used any more.
   BlockHeader finish(io::ObjectStore& store, const std::string& objectName, SegmentId segment);
   /// Append the object's bytes to `bytes` instead, for the caller to write. The builder must not be used any more.
   BlockHeader finish(std::string& bytes, SegmentId segment);

private:
   /// Give pages and filters their places in the object; returns the offset behind them.
   uint64_t placeChunks(std::vector<std::string_view>& parts);
   /// Fill `parts`, whose concatenation is the object. They refer to the builder and to `footer`.
   void seal(SegmentId segment, std::vector<std::string_view>& parts, std::string& footer);

   const DocumentColumns documents_;
   BlockHeader header_;
   std::vector<std::vector<EncodedChunk>> chunks_; ///< [column][row group]
   size_t encodedBytes_ = 0;
   uint32_t parts_ = 0; ///< of chunks of documents that have their places
   RowSampler sampler_{blockSampleRows};
};

} // namespace ouzel::storage
