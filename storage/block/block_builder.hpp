#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/object_store/object_store.hpp"
#include "storage/block/chunk_encoder.hpp"
#include "storage/block/sample.hpp"

namespace ouzel::storage {

inline constexpr uint32_t blockSampleRows = 1024;

/// Makes one block: takes row groups, encodes them at once, and writes the object at the end. One owner; several
/// builders may work in parallel. Holds the encoded bytes until then.
class BlockBuilder {
public:
   explicit BlockBuilder(std::vector<PhysicalType> columnTypes);

   uint32_t rowCount() const { return header_.rowCount; }
   bool isFull() const { return header_.rowCount + rowGroupRows > blockRowsMax; }
   size_t encodedBytes() const { return encodedBytes_; }
   /// Add up to rowGroupRows rows; one slice of `rows` rows per column, none for a table without columns. Only the last
   /// row group of a block may be short, unless the rows keep ids they already have (a checkpoint), where each group
   /// but the last is full as well.
   void addRowGroup(uint32_t rows, std::span<const ColumnSlice> columns);
   /// Write the object, if-absent; it is durable when this returns. The builder is spent.
   BlockHeader finish(io::ObjectStore& store, const std::string& objectName, SegmentId segment);
   /// The same, but the object's bytes are appended to `bytes` for the caller to write.
   BlockHeader finish(std::string& bytes, SegmentId segment);

private:
   /// Give pages and filters their places in the object, and return where they end.
   uint64_t placeChunks(std::vector<std::string_view>& parts);
   /// The object is the concatenation of `parts`, which refer to the builder and to `footer`.
   void seal(SegmentId segment, std::vector<std::string_view>& parts, std::string& footer);

   BlockHeader header_;
   std::vector<std::vector<EncodedChunk>> chunks_; ///< [column][row group]
   size_t encodedBytes_ = 0;
   RowSampler sampler_{blockSampleRows};
};

} // namespace ouzel::storage
