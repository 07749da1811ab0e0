#include "storage/chunk/document_shapes.hpp"

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
   areLoaded_ = false;
   onlyShapes_.clear();
   shapes_.clear();
   rowsOfShapes_.clear();
   sets_.clear();
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
   onlyShapes_.clear(); // of an attempt that has failed
   rowsOfShapes_.clear();
   ChunkReader numbers(PhysicalType::I16);
   numbers.open(partAt(partShapes));
   const uint32_t rows = rowCount();
   if (numbers.rowCount() != rows) ByteReader::corrupted();
   for (uint32_t first = 0; first < rows; first += vectorRows)
      loadVector(numbers, first, std::min(vectorRows, rows - first));
   areLoaded_ = true;
}

void DocumentShapes::loadVector(ChunkReader& numbers, uint32_t first, uint32_t count) {
   const auto shapeCount = static_cast<int64_t>(dictionary_->shapes.size());
   if (const auto only = numbers.onlyValue(first)) {
      if (*only < 0 || *only >= shapeCount) ByteReader::corrupted();
      onlyShapes_.push_back(static_cast<int16_t>(*only));
      return;
   }
   onlyShapes_.push_back(mixedShapes);
   const size_t kinds = dictionary_->shapes.size() + 1;
   shapes_.resize(rowCount());
   rowsOfShapes_.resize((rowCount() + vectorRows - 1) / vectorRows * kinds);
   int16_t* shapes = shapes_.data() + first;
   uint16_t* counts = rowsOfShapes_.data() + first / vectorRows * kinds;
   const Vector read = numbers.read(first, count, Selection::dense(count));
   if (read.encoding == Encoding::Flat)
      std::memcpy(shapes, read.data, count * sizeof(int16_t));
   else
      std::fill_n(shapes, count, read.value<int16_t>(0));
   for (uint32_t row = 0; read.validity && row < count; ++row)
      if (read.isNull(row)) shapes[row] = nullDocument;
   int16_t least = shapes[0], most = shapes[0];
   for (uint32_t row = 1; row < count; ++row) { // vectorises, which std::minmax_element does not
      least = std::min(least, shapes[row]);
      most = std::max(most, shapes[row]);
   }
   if (least < nullDocument || most >= shapeCount) ByteReader::corrupted();
   for (uint32_t row = 0, end; row < count; row = end) { // mostly there are few runs
      for (end = row + 1; end < count && shapes[end] == shapes[row];)
         ++end;
      counts[shapes[row] + 1] = static_cast<uint16_t>(counts[shapes[row] + 1] + end - row);
   }
}

// ---- rows of shapes ----

uint32_t DocumentShapes::setOf(std::vector<uint8_t> isMember) {
   for (uint32_t number = 0; number < sets_.size(); ++number)
      if (sets_[number]->isMember == isMember) return number;
   sets_.push_back(std::make_unique<ShapeSet>());
   sets_.back()->isMember = std::move(isMember);
   return static_cast<uint32_t>(sets_.size() - 1);
}

/// Of a piece of a vector.
uint32_t DocumentShapes::membersIn(const ShapeSet& set, uint32_t first, uint32_t count) const {
   if (count == 0) return 0;
   if (const auto only = onlyShapeAt(first)) return set.isMember[static_cast<size_t>(*only + 1)] ? count : 0;
   const size_t kinds = set.isMember.size();
   uint32_t members = 0;
   if (first % vectorRows == 0 && count == std::min(vectorRows, rowCount() - first)) {
      const uint16_t* counts = rowsOfShapes_.data() + first / vectorRows * kinds;
      for (size_t kind = 0; kind < kinds; ++kind)
         members += set.isMember[kind] * counts[kind];
   } else {
      for (uint32_t row = first; row < first + count; ++row)
         members += set.isMember[static_cast<size_t>(shapes_[row] + 1)];
   }
   return members;
}

MemberCount DocumentShapes::countOf(uint32_t number, uint32_t first, uint32_t count) {
   DCHECK(areShapesLoaded());
   DCHECK(first / vectorRows == (first + count - 1) / vectorRows);
   ShapeSet& set = *sets_[number];
   if (set.before.empty()) {
      uint32_t before = 0;
      for (uint32_t start = 0; start < rowCount(); start += vectorRows) {
         set.before.push_back(before);
         before += membersIn(set, start, std::min(vectorRows, rowCount() - start));
      }
   }
   const uint32_t start = first / vectorRows * vectorRows;
   return {set.before[first / vectorRows] + membersIn(set, start, first - start), membersIn(set, first, count)};
}

void DocumentShapes::findRows(ShapeSet& set) const {
   MemberRows& out = set.rows;
   if (out.members == set.count) { // the most frequent case: documents of one kind lie together
      for (uint32_t row = 0; row < set.count; ++row)
         out.rows[row] = out.rank[row] = static_cast<RowIndex>(row);
      std::fill_n(out.validity, validityWords(set.count), ~ValidityWord{0});
      return;
   }
   const auto only = onlyShapeAt(set.first);
   const int16_t* shapes = only ? nullptr : shapes_.data() + set.first;
   uint32_t members = 0;
   for (uint32_t start = 0; start < set.count; start += 64) {
      const uint32_t end = std::min(start + 64, set.count);
      ValidityWord bits = 0;
      for (uint32_t row = start; row < end; ++row) {
         const uint8_t isMember = set.isMember[static_cast<size_t>((only ? *only : shapes[row]) + 1)];
         out.rows[members] = static_cast<RowIndex>(row);
         out.rank[row] = static_cast<RowIndex>(members);
         members += isMember;
         bits |= ValidityWord{isMember} << (row - start);
      }
      out.validity[start / 64] = bits;
   }
}

const MemberRows& DocumentShapes::rowsOf(uint32_t number, uint32_t first, uint32_t count) {
   ShapeSet& set = *sets_[number];
   if (set.first == first && set.count == count) return set.rows;
   static_cast<MemberCount&>(set.rows) = countOf(number, first, count);
   set.first = first;
   set.count = count;
   findRows(set);
   return set.rows;
}

} // namespace ouzel::storage
