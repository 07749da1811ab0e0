#include "storage/table/document_reader.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"

namespace ouzel::storage {

DocumentReader::DocumentReader() : out_(vectorRows), validity_(validityWords(vectorRows)) {}
DocumentReader::~DocumentReader() = default;

void DocumentReader::open(const ChunkPlace& place) {
   close();
   place_ = place;
}

void DocumentReader::close() {
   place_ = {};
   assembler_.reset();
   dictionary_.reset();
   shapes_.clear();
   columns_.clear();
   passedRows_ = 0;
   documents_.reset();
}

/// Reads the dictionary and the shapes of all rows.
void DocumentReader::load() {
   const auto partAt = [this](uint32_t part) {
      ChunkPlace place = place_;
      place.part = part;
      return place;
   };
   ChunkReader bytes(PhysicalType::String);
   bytes.open(partAt(partShapeDictionary));
   const Vector dictionary = bytes.read(0, 1, Selection::dense(1));
   dictionary_.emplace(ShapeDictionary::deserialize(dictionary.value<StringView>(0).view()));
   assembler_.emplace(*dictionary_);
   if (place_.header().parts.size() != partLeaves + dictionary_->leaves.size()) ByteReader::corrupted();

   ChunkReader shapes(PhysicalType::I16);
   shapes.open(partAt(partShapes));
   const uint32_t rows = place_.block->header().rowGroupRows[place_.rowGroup];
   shapes_.resize(rows);
   for (uint32_t first = 0; first < rows; first += vectorRows) {
      const uint32_t count = std::min(vectorRows, rows - first);
      const Vector numbers = shapes.read(first, count, Selection::dense(count));
      for (uint32_t row = 0; row < count; ++row) {
         const bool isNull = numbers.isNull(row);
         const int16_t shape = isNull ? int16_t{-1} : numbers.value<int16_t>(row);
         if (!isNull && static_cast<size_t>(shape) >= dictionary_->shapes.size()) ByteReader::corrupted();
         shapes_[first + row] = shape;
      }
   }
   columns_.reserve(dictionary_->leaves.size() + 1);
   for (uint32_t leaf = 0; leaf < dictionary_->leaves.size(); ++leaf)
      columns_.emplace_back(dictionary_->leaves[leaf].representation.physical).reader.open(partAt(partLeaves + leaf));
   columns_.emplace_back(PhysicalType::String).reader.open(partAt(partResidues));
}

/// The columns that have a value of each document of the shape, in the order of the shape's nodes, the residue last.
template <typename Visit>
void DocumentReader::forEachColumn(uint32_t shape, Visit visit) {
   for (const uint32_t leaf : assembler_->leavesOf(shape))
      visit(leaf);
   if (dictionary_->shapes[shape].hasResidue) visit(static_cast<uint32_t>(columns_.size() - 1));
}

/// Counts the values of the rows before `row`.
void DocumentReader::passTo(uint32_t row) {
   if (row < passedRows_) {
      for (DenseColumn& column : columns_)
         column.passed = 0;
      passedRows_ = 0;
   }
   for (; passedRows_ < row; ++passedRows_)
      if (const int16_t shape = shapes_[passedRows_]; shape >= 0)
         forEachColumn(static_cast<uint32_t>(shape), [this](uint32_t column) { ++columns_[column].passed; });
}

/// Notes which values the selected rows need.
void DocumentReader::collect(uint32_t first, uint32_t count, const Selection& rows) {
   for (DenseColumn& column : columns_) {
      column.inRange = column.next = 0;
      column.wanted.clear();
   }
   used_.clear();
   uint32_t selected = 0;
   for (uint32_t row = 0; row < count && selected < rows.count(); ++row) {
      const bool isSelected = rows.row(selected) == row;
      selected += isSelected;
      const int16_t shape = shapes_[first + row];
      if (shape < 0) continue;
      forEachColumn(static_cast<uint32_t>(shape), [&](uint32_t number) {
         DenseColumn& column = columns_[number];
         if (isSelected) {
            if (column.wanted.empty()) used_.push_back(number);
            column.wanted.push_back(static_cast<RowIndex>(column.inRange));
         }
         ++column.inRange;
      });
   }
}

/// Copies the wanted values. They may lie in two aligned vectors of the column.
void DocumentReader::fetch(DenseColumn& column) {
   const uint32_t size = physicalSize(column.reader.type());
   column.values.resize(column.wanted.size() * size);
   RowIndex list[vectorRows];
   for (size_t i = 0; i < column.wanted.size();) {
      const uint32_t from = column.passed + column.wanted[i], begin = from / vectorRows * vectorRows;
      const uint32_t skipped = std::max(begin, column.passed) - column.passed, start = column.passed + skipped;
      uint32_t wanted = 0;
      for (size_t k = i; k < column.wanted.size() && column.passed + column.wanted[k] < begin + vectorRows; ++k)
         list[wanted++] = static_cast<RowIndex>(column.wanted[k] - skipped);
      const uint32_t count = list[wanted - 1] + 1u;
      const Vector values = column.reader.read(start, count, Selection::list(list, wanted));
      for (uint32_t k = 0; k < wanted; ++k)
         std::memcpy(column.values.data() + (i + k) * size,
                     static_cast<const char*>(values.data) + size_t{values.positionOf(list[k])} * size, size);
      i += wanted;
   }
}

StringView DocumentReader::assemble(uint32_t shape) {
   leafValues_.clear();
   std::optional<json::JsonbView> residue;
   forEachColumn(shape, [&](uint32_t number) {
      DenseColumn& column = columns_[number];
      const void* value = column.values.data() + size_t{column.next++} * physicalSize(column.reader.type());
      if (number + 1 < columns_.size())
         leafValues_.push_back(value);
      else
         residue.emplace(static_cast<const StringView*>(value)->view());
   });
   assembler_->assemble(shape, leafValues_, residue, writer_);
   const size_t size = writer_.finishedSize();
   char* target = static_cast<char*>(documents_.allocate(size, 1));
   writer_.finishInto(target);
   return StringView(target, static_cast<uint32_t>(size));
}

Vector DocumentReader::read(uint32_t first, uint32_t count, const Selection& rows) {
   DCHECK(isOpen());
   if (!dictionary_) load();
   documents_.reset();
   passTo(first);
   collect(first, count, rows);
   for (const uint32_t column : used_)
      fetch(columns_[column]);
   std::memset(validity_.data(), 0xff, validityWords(count) * sizeof(ValidityWord));
   std::fill_n(out_.begin(), count, StringView());
   bool hasNulls = false;
   forEachRow(rows, [&](uint32_t row) {
      const int16_t shape = shapes_[first + row];
      if (shape >= 0)
         out_[row] = assemble(static_cast<uint32_t>(shape));
      else
         setValidBit(validity_.data(), row, false);
      hasNulls = hasNulls || shape < 0;
   });
   return Vector::flat(PhysicalType::String, out_.data(), hasNulls ? validity_.data() : nullptr);
}

} // namespace ouzel::storage
