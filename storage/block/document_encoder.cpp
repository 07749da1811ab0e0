#include <algorithm>

#include "storage/block/chunk_encoder.hpp"
#include "storage/json/shredder.hpp"

namespace ouzel::storage {

namespace {

/// Appends a part to a chunk of documents. Returns what its values are like.
ColumnSketch appendPart(const ColumnSlice& slice, EncodedChunk& chunk) {
   ColumnSketch sketch;
   EncodedChunk part = encodeChunk(slice, sketch);
   const size_t offset = (chunk.bytes.size() + pageAlignment - 1) / pageAlignment * pageAlignment;
   chunk.bytes.resize(offset, '\0');
   chunk.bytes.append(part.bytes);
   chunk.header.parts.push_back({static_cast<uint32_t>(chunk.header.pages.size()),
                                 static_cast<uint32_t>(part.header.pages.size()), part.header.hasDictionary,
                                 part.header.nullCount, part.header.zone});
   for (PageEntry& page : part.header.pages) {
      page.offset += offset;
      chunk.header.pages.push_back(page);
   }
   return sketch;
}

std::vector<std::string> keysOf(const std::vector<JsonPath>& paths, uint32_t path) {
   std::vector<std::string> keys;
   for (; path != 0; path = paths[path].parent)
      keys.push_back(paths[path].key);
   std::reverse(keys.begin(), keys.end());
   return keys;
}

/// Whether columns of leaves hold most of the documents' bytes.
bool pays(const ShreddedColumn& column, const ColumnSlice& documents) {
   if (column.dictionary.leaves.empty()) return false;
   size_t bytes = 0, left = 0;
   const auto* values = documents.values<StringView>();
   for (uint32_t row = 0; row < documents.count; ++row)
      if (documents.isValid(row)) bytes += values[row].size();
   for (const StringView& residue : column.residues)
      left += residue.size();
   return left < bytes / 2;
}

/// Adds what the values of the leaves are like to `summary`.
EncodedChunk encodeParts(const ShreddedColumn& column, const ColumnSlice& documents, DocumentSummary& summary) {
   EncodedChunk chunk;
   std::string dictionary;
   column.dictionary.serialize(dictionary);
   const StringView bytes(dictionary);
   appendPart({PhysicalType::String, &bytes, nullptr, 1}, chunk);
   appendPart(column.shapeSlice(documents.validity), chunk);
   appendPart(column.residueSlice(), chunk);
   for (uint32_t leaf = 0; leaf < column.dictionary.leaves.size(); ++leaf) {
      const ColumnSketch sketch = appendPart(column.leafSlice(leaf), chunk);
      const ShapeNode& node = column.dictionary.leaves[leaf].node;
      if (node.kind != NodeKind::Array)
         summary.addSketch(keysOf(column.dictionary.paths, node.path), {sketch.distinct, sketch.valueCount});
   }
   return chunk;
}

} // namespace

EncodedChunk encodeDocuments(const ColumnSlice& slice, JsonExtraction extraction, ColumnSketch& sketch,
                             DocumentSummary& summary) {
   const ShreddedColumn column = shred(slice, ShredLimits::of(extraction));
   summary.merge(column.summary);
   if (!pays(column, slice)) return encodeChunk(slice, sketch);
   EncodedChunk chunk = encodeParts(column, slice, summary);
   if (chunk.header.pages.size() > ChunkHeader::pagesMax) return encodeChunk(slice, sketch);
   ColumnSketch own;
   sketchSlice(slice, own);
   sketch.merge(own);
   chunk.header.nullCount = static_cast<uint32_t>(own.nullCount);
   chunk.header.zone = own.zone;
   return chunk;
}

} // namespace ouzel::storage
