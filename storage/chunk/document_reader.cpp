#include "storage/chunk/document_reader.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"

namespace ouzel::storage {

DocumentReader::DocumentReader() : out_(vectorRows), validity_(validityWords(vectorRows)) {}
DocumentReader::~DocumentReader() = default;

void DocumentReader::open(DocumentShapes& shapes) {
   close();
   shapes_ = &shapes;
}

void DocumentReader::close() {
   shapes_ = nullptr;
   assembler_.reset();
   columns_.clear();
   passedRows_ = 0;
   documents_.reset();
}

void DocumentReader::load() {
   shapes_->loadDictionary();
   shapes_->loadShapes();
   const ShapeDictionary& dictionary = shapes_->dictionary();
   assembler_.emplace(dictionary);
   columns_.reserve(dictionary.leaves.size() + 1);
   for (uint32_t leaf = 0; leaf < dictionary.leaves.size(); ++leaf)
      columns_.emplace_back(dictionary.leaves[leaf].representation.physical)
          .reader.open(shapes_->partAt(partLeaves + leaf));
   columns_.emplace_back(PhysicalType::String).reader.open(shapes_->partAt(partResidues));
   next_.resize(columns_.size());
}

/// The columns that have a value of each document of the shape, in the order of the shape's nodes, the residue last.
template <typename Visit>
void DocumentReader::forEachColumn(uint32_t shape, Visit visit) {
   for (const uint32_t leaf : assembler_->leavesOf(shape))
      visit(leaf);
   if (shapes_->dictionary().shapes[shape].hasResidue) visit(static_cast<uint32_t>(columns_.size() - 1));
}

/// Counts the values of the rows before `row`.
void DocumentReader::passTo(uint32_t row) {
   if (row < passedRows_) {
      for (DenseColumn& column : columns_)
         column.passed = 0;
      passedRows_ = 0;
   }
   for (; passedRows_ < row; ++passedRows_)
      if (const int16_t shape = shapes_->shapeOf(passedRows_); shape >= 0)
         forEachColumn(static_cast<uint32_t>(shape), [this](uint32_t column) { ++columns_[column].passed; });
}

/// Notes which values the selected rows need.
void DocumentReader::collect(uint32_t first, uint32_t count, const Selection& rows) {
   for (DenseColumn& column : columns_)
      column.begin();
   used_.clear();
   uint32_t selected = 0;
   for (uint32_t row = 0; row < count && selected < rows.count(); ++row) {
      const bool isSelected = rows.row(selected) == row;
      selected += isSelected;
      const int16_t shape = shapes_->shapeOf(first + row);
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

StringView DocumentReader::assemble(uint32_t shape) {
   leafValues_.clear();
   std::optional<json::JsonbView> residue;
   forEachColumn(shape, [&](uint32_t number) {
      DenseColumn& column = columns_[number];
      const void* value = column.value(next_[number]++);
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
   if (!assembler_) load();
   documents_.reset();
   passTo(first);
   collect(first, count, rows);
   for (const uint32_t column : used_) {
      columns_[column].fetch();
      next_[column] = 0;
   }
   std::memset(validity_.data(), 0xff, validityWords(count) * sizeof(ValidityWord));
   std::fill_n(out_.begin(), count, StringView());
   bool hasNulls = false;
   forEachRow(rows, [&](uint32_t row) {
      const int16_t shape = shapes_->shapeOf(first + row);
      if (shape >= 0)
         out_[row] = assemble(static_cast<uint32_t>(shape));
      else
         setValidBit(validity_.data(), row, false);
      hasNulls = hasNulls || shape < 0;
   });
   return Vector::flat(PhysicalType::String, out_.data(), hasNulls ? validity_.data() : nullptr);
}

} // namespace ouzel::storage
