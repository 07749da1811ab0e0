#include "storage/block/format.hpp"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/error/format_version.hpp"
#include "storage/base/batch_codec.hpp"
#include "storage/block/bloom_filter.hpp"

namespace ouzel::storage {

uint64_t checksumOf(std::string_view bytes) {
   return XXH3_64bits(bytes.data(), bytes.size());
}

void ColumnSketch::merge(const ColumnSketch& other) {
   distinct.merge(other.distinct);
   zone.merge(other.zone);
   valueCount += other.valueCount;
   nullCount += other.nullCount;
   valueBytes += other.valueBytes;
}

namespace {

constexpr uint64_t filterSizeMax = 1 << 20;

void writePage(const PageEntry& page, ByteWriter& out) {
   out.varint(page.offset);
   out.varint(page.storedSize);
   out.varint(page.rawSize);
   out.fixed(page.checksum);
   out.varint(page.firstRow);
   out.varint(page.rowCount);
   out.fixed(static_cast<uint8_t>(page.codec));
}

PageEntry readPage(ByteReader& in) {
   PageEntry page;
   page.offset = in.varint();
   page.storedSize = static_cast<uint32_t>(in.varint());
   page.rawSize = static_cast<uint32_t>(in.varint());
   page.checksum = in.fixed<uint64_t>();
   page.firstRow = static_cast<uint32_t>(in.varint());
   page.rowCount = static_cast<uint32_t>(in.varint());
   const auto codec = in.fixed<uint8_t>();
   if (codec > static_cast<uint8_t>(PageCodec::Letters)) ByteReader::corrupted();
   page.codec = static_cast<PageCodec>(codec);
   return page;
}

void writeFilter(const FilterEntry& filter, ByteWriter& out) {
   out.varint(filter.size);
   if (filter.size == 0) return;
   out.varint(filter.offset);
   out.fixed(filter.checksum);
}

FilterEntry readFilter(ByteReader& in) {
   FilterEntry filter;
   const uint64_t size = in.varint();
   if (size == 0) return filter;
   if (size % BloomFilter::blockBytes != 0 || size > filterSizeMax) ByteReader::corrupted();
   filter.size = static_cast<uint32_t>(size);
   filter.offset = in.varint();
   filter.checksum = in.fixed<uint64_t>();
   return filter;
}

void writeZone(const ZoneRange& zone, ByteWriter& out) {
   out.fixed(zone.lower);
   out.fixed(zone.upper);
}

ZoneRange readZone(ByteReader& in) {
   ZoneRange zone;
   zone.lower = in.fixed<ZoneKey>();
   zone.upper = in.fixed<ZoneKey>();
   return zone;
}

void writeParts(const std::vector<ChunkPart>& parts, ByteWriter& out) {
   out.varint(parts.size());
   for (const ChunkPart& part : parts) {
      out.varint(part.pageCount);
      out.fixed(static_cast<uint8_t>(part.hasDictionary));
      out.varint(part.nullCount);
      writeZone(part.zone, out);
   }
}

/// `number`: of the next part of the block.
std::vector<ChunkPart> readParts(ByteReader& in, size_t pageCount, uint32_t& number) {
   std::vector<ChunkPart> parts(in.count());
   uint64_t firstPage = 0;
   for (ChunkPart& part : parts) {
      part.firstPage = static_cast<uint32_t>(firstPage);
      part.pageCount = static_cast<uint32_t>(in.varint());
      part.hasDictionary = in.fixed<uint8_t>() != 0;
      part.nullCount = static_cast<uint32_t>(in.varint());
      part.zone = readZone(in);
      part.number = number++;
      firstPage += part.pageCount;
      if (firstPage > pageCount || (part.hasDictionary && part.pageCount < 2)) ByteReader::corrupted();
   }
   if (!parts.empty() && (parts.size() < partLeaves || firstPage != pageCount)) ByteReader::corrupted();
   return parts;
}

} // namespace

bool ChunkHeader::isDictionaryPage(uint32_t index) const {
   if (parts.empty()) return hasDictionary && index == 0;
   const auto part = std::upper_bound(parts.begin(), parts.end(), index,
                                      [](uint32_t page, const ChunkPart& p) { return page < p.firstPage; });
   // Parts without pages begin where the next one does.
   return part != parts.begin() && std::prev(part)->hasDictionary && std::prev(part)->firstPage == index;
}

void BlockHeader::serialize(std::string& out) const {
   ByteWriter writer(out);
   writer.varint(blockFormatVersion);
   writer.varint(segment);
   writer.varint(rowCount);
   writer.varint(objectSize);
   writer.varint(rowGroupRows.size());
   for (const uint32_t rows : rowGroupRows)
      writer.varint(rows);
   writer.varint(columnTypes.size());
   for (const PhysicalType type : columnTypes)
      writer.fixed(static_cast<uint8_t>(type));
   for (const ChunkHeader& chunk : chunks) {
      writer.varint(chunk.pages.size());
      for (const PageEntry& page : chunk.pages)
         writePage(page, writer);
      writer.fixed(static_cast<uint8_t>(chunk.hasDictionary));
      writer.varint(chunk.nullCount);
      writeZone(chunk.zone, writer);
      writeFilter(chunk.filter, writer);
      writeParts(chunk.parts, writer);
   }
   for (const ColumnSketch& sketch : sketches) {
      sketch.distinct.serialize(out);
      writeZone(sketch.zone, writer);
      writer.varint(sketch.valueCount);
      writer.varint(sketch.nullCount);
      writer.varint(sketch.valueBytes);
   }
   writer.fixed(static_cast<uint8_t>(sample != nullptr));
   if (sample) encodeBatch(sample->batch, out);
   writer.varint(documents.size());
   for (const DocumentColumn& column : documents) {
      writer.varint(column.column);
      column.summary.serialize(out);
   }
}

const DocumentSummary* BlockHeader::documentsOf(uint32_t column) const {
   for (const DocumentColumn& one : documents)
      if (one.column == column) return &one.summary;
   return nullptr;
}

BlockHeader BlockHeader::deserialize(std::string_view bytes) {
   ByteReader in(bytes);
   BlockHeader header;
   const uint64_t version = in.varint();
   if (version == 0) ByteReader::corrupted();
   if (version > blockFormatVersion) throwUnknownFormat("A block's header", version, blockFormatVersion);
   header.segment = in.varint();
   header.rowCount = static_cast<uint32_t>(in.varint());
   header.objectSize = in.varint();
   header.rowGroupRows.resize(in.count());
   uint64_t rows = 0;
   for (uint32_t& n : header.rowGroupRows) {
      n = static_cast<uint32_t>(in.varint());
      if (n > storage::rowGroupRows) ByteReader::corrupted();
      rows += n;
   }
   if (rows != header.rowCount || rows > (uint64_t{1} << rowIdBits)) ByteReader::corrupted();
   header.columnTypes.resize(in.count());
   for (PhysicalType& type : header.columnTypes) {
      const auto byte = in.fixed<uint8_t>();
      if (byte >= physicalTypeCount) ByteReader::corrupted();
      type = static_cast<PhysicalType>(byte);
   }
   header.chunks.resize(header.columnTypes.size() * header.rowGroupRows.size());
   uint32_t parts = 0;
   for (ChunkHeader& chunk : header.chunks) {
      chunk.pages.resize(in.count());
      for (PageEntry& page : chunk.pages)
         page = readPage(in);
      chunk.hasDictionary = in.fixed<uint8_t>() != 0;
      chunk.nullCount = static_cast<uint32_t>(in.varint());
      chunk.zone = readZone(in);
      if (version >= 2) chunk.filter = readFilter(in);
      if (version >= 3) chunk.parts = readParts(in, chunk.pages.size(), parts);
   }
   header.sketches.resize(header.columnTypes.size());
   for (ColumnSketch& sketch : header.sketches) {
      if (!sketch.distinct.deserialize(in.rest())) ByteReader::corrupted();
      sketch.zone = readZone(in);
      sketch.valueCount = in.varint();
      sketch.nullCount = in.varint();
      sketch.valueBytes = in.varint();
   }
   if (in.fixed<uint8_t>() != 0) {
      auto rowsKept = std::make_shared<SampleRows>();
      rowsKept->batch = decodeBatch(in, rowsKept->arena);
      header.sample = std::move(rowsKept);
   }
   if (version >= 4) header.documents.resize(in.count());
   for (DocumentColumn& column : header.documents) {
      column.column = static_cast<uint32_t>(in.varint());
      column.summary = DocumentSummary::deserialize(in);
   }
   return header;
}

} // namespace ouzel::storage
