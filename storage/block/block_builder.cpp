#include "storage/block/block_builder.hpp"

#include <algorithm>
#include <cstring>
#include <lz4.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/block/chunk_filter.hpp"

namespace ouzel::storage {

BlockBuilder::BlockBuilder(std::vector<PhysicalType> columnTypes, DocumentColumns documents)
   : documents_(std::move(documents)) {
   header_.columnTypes = std::move(columnTypes);
   header_.sketches.resize(header_.columnTypes.size());
   for (const uint32_t column : documents_.columns)
      header_.documents.push_back({column, DocumentSummary()});
   chunks_.resize(header_.columnTypes.size());
}

void BlockBuilder::addRowGroup(uint32_t rows, std::span<const ColumnSlice> columns) {
   CHECK(columns.size() == chunks_.size());
   CHECK(!isFull());
   CHECK(header_.rowGroupRows.empty() || header_.rowGroupRows.back() == rowGroupRows);
   for (size_t i = 0; i < columns.size(); ++i) {
      CHECK(columns[i].count == rows);
      const auto documents = std::find(documents_.columns.begin(), documents_.columns.end(), i);
      EncodedChunk& chunk = chunks_[i].emplace_back();
      if (documents != documents_.columns.end()) {
         DocumentSummary& summary =
             header_.documents[static_cast<size_t>(documents - documents_.columns.begin())].summary;
         chunk = encodeDocuments(columns[i], documents_.extraction, header_.sketches[i], summary);
      } else {
         chunk = encodeChunk(columns[i], header_.sketches[i]);
         makeFilter(columns[i], chunk);
      }
      encodedBytes_ += chunk.bytes.size() + chunk.filter.size();
   }
   sampler_.add(columns, rows);
   header_.rowGroupRows.push_back(rows);
   header_.rowCount += rows;
}

uint64_t BlockBuilder::placeChunks(std::vector<std::string_view>& parts) {
   uint64_t offset = blockMagic.size();
   const auto align = [&] {
      static constexpr char zeros[pageAlignment] = {};
      const size_t gap = (pageAlignment - offset % pageAlignment) % pageAlignment;
      if (gap > 0) parts.emplace_back(zeros, gap);
      offset += gap;
   };
   for (auto& column : chunks_) {
      for (EncodedChunk& chunk : column) {
         align();
         for (PageEntry& page : chunk.header.pages)
            page.offset += offset;
         offset += chunk.bytes.size();
         parts.push_back(chunk.bytes);
      }
   }
   for (size_t column = 0; column < chunks_.size(); ++column) {
      dropNeedlessFilters(chunks_[column], header_.sketches[column]);
      for (EncodedChunk& chunk : chunks_[column]) {
         if (!chunk.filter.empty()) {
            align();
            chunk.header.filter = {offset, static_cast<uint32_t>(chunk.filter.size()), checksumOf(chunk.filter)};
            offset += chunk.filter.size();
            parts.push_back(chunk.filter);
         }
         for (ChunkPart& part : chunk.header.parts)
            part.number = parts_++;
         header_.chunks.push_back(std::move(chunk.header));
      }
   }
   return offset;
}

void BlockBuilder::seal(SegmentId segment, std::vector<std::string_view>& parts, std::string& stored) {
   header_.segment = segment;
   header_.sample = makeSample(header_.columnTypes, sampler_.rows());
   for (DocumentColumn& column : header_.documents)
      column.summary.limitSketches(DocumentSummary::sketchesMax);
   parts.assign(1, blockMagic);
   const uint64_t offset = placeChunks(parts);
   std::string raw;
   header_.serialize(raw);
   stored.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
   const int size =
       LZ4_compress_default(raw.data(), stored.data(), static_cast<int>(raw.size()), static_cast<int>(stored.size()));
   CHECK(size > 0);
   stored.resize(static_cast<size_t>(size));
   BlockFooter footer;
   footer.headerOffset = offset;
   footer.headerStoredSize = static_cast<uint32_t>(stored.size());
   footer.headerRawSize = static_cast<uint32_t>(raw.size());
   footer.headerChecksum = checksumOf(stored);
   std::memcpy(&footer.magic, blockMagic.data(), sizeof footer.magic);
   stored.append(reinterpret_cast<const char*>(&footer), sizeof footer);
   parts.push_back(stored);
   header_.objectSize = offset + stored.size();
}

BlockHeader BlockBuilder::finish(io::ObjectStore& store, const std::string& objectName, SegmentId segment) {
   std::vector<std::string_view> parts;
   std::string footer;
   seal(segment, parts, footer);
   if (!store.put(objectName, parts, io::PutCondition::ifAbsent()))
      throw SqlError(sqlstate::dataCorrupted, "object \"" + objectName + "\" exists already");
   chunks_.clear();
   return std::move(header_);
}

BlockHeader BlockBuilder::finish(std::string& bytes, SegmentId segment) {
   std::vector<std::string_view> parts;
   std::string footer;
   seal(segment, parts, footer);
   for (const std::string_view part : parts)
      bytes.append(part);
   chunks_.clear();
   return std::move(header_);
}

} // namespace ouzel::storage
