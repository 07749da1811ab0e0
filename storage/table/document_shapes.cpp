#include "storage/table/document_shapes.hpp"

#include <algorithm>
#include <cstring>

namespace ouzel::storage {

void DocumentShapes::open(const ChunkPlace& place) {
   close();
   place_ = place;
}

void DocumentShapes::close() {
   place_ = {};
   dictionary_.reset();
   onlyShape_.reset();
   shapes_.clear();
}

ChunkPlace DocumentShapes::partAt(uint32_t part) const {
   ChunkPlace place = place_;
   place.part = part;
   return place;
}

void DocumentShapes::loadDictionary() {
   DCHECK(isOpen());
   if (dictionary_) return;
   dictionary_ = place_.block->knownShapes(place_.column, place_.rowGroup);
   if (dictionary_) return;
   ChunkReader bytes(PhysicalType::String);
   bytes.open(partAt(partShapeDictionary));
   const Vector stored = bytes.read(0, 1, Selection::dense(1));
   dictionary_ = place_.block->shapes(place_.column, place_.rowGroup, stored.value<StringView>(0).view());
}

void DocumentShapes::loadShapes() {
   DCHECK(dictionary_);
   if (areShapesLoaded()) return;
   ChunkReader numbers(PhysicalType::I16);
   numbers.open(partAt(partShapes));
   const uint32_t rows = rowCount();
   const auto shapeCount = static_cast<int16_t>(dictionary_->shapes.size());
   std::vector<int16_t> all;
   for (uint32_t first = 0; first < rows; first += vectorRows) {
      const uint32_t count = std::min(vectorRows, rows - first);
      const Vector read = numbers.read(first, count, Selection::dense(count));
      if (read.encoding == Encoding::Constant && place_.header().parts[partShapes].pageCount == 1) {
         onlyShape_ = read.isNull(0) ? nullDocument : read.value<int16_t>(0);
         if (*onlyShape_ >= shapeCount) ByteReader::corrupted();
         return;
      }
      all.resize(rows);
      int16_t* shapes = all.data() + first;
      if (read.encoding == Encoding::Flat)
         std::memcpy(shapes, read.data, count * sizeof(int16_t));
      else
         std::fill_n(shapes, count, read.value<int16_t>(0));
      for (uint32_t row = 0; read.validity && row < count; ++row)
         if (read.isNull(row)) shapes[row] = nullDocument;
      const auto [least, most] = std::minmax_element(shapes, shapes + count);
      if (*least < nullDocument || *most >= shapeCount) ByteReader::corrupted();
   }
   shapes_ = std::move(all);
}

} // namespace ouzel::storage
