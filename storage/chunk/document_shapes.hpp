#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "storage/chunk/chunk_reader.hpp"
#include "storage/json/shape.hpp"

namespace ouzel::storage {

/// Which rows of a vector, or of a piece of one, have a shape of a set. A column that only documents of these shapes
/// have a value of is dense: it has the values of these rows, in row order.
struct MemberCount {
   uint32_t before = 0;  ///< members among the earlier rows of the row group
   uint32_t members = 0; ///< in the piece
};
struct MemberRows : MemberCount {
   RowIndex rows[vectorRows];              ///< the members, counted from the piece's first row
   RowIndex rank[vectorRows];              ///< of each row: the members of the piece before it
   ValidityWord validity[vectorRows / 64]; ///< a bit of each row
};

/// The dictionary of a chunk of documents that has parts, and the shape of each of its rows. Owned by one worker; what
/// reads the documents and what reads single paths share it.
class DocumentShapes {
public:
   static constexpr int16_t nullDocument = -1;

   /// `place`: of the whole chunk. Reads nothing yet.
   void open(const ChunkPlace& place);
   void close();
   bool isOpen() const { return place_.block != nullptr; }
   /// Reads the dictionary if that has not happened. Throws XX001.
   void loadDictionary();
   /// Reads the shapes of all rows if that has not happened. REQUIRES: loadDictionary() was called. Throws XX001.
   void loadShapes();

   // REQUIRES: they were loaded.
   const ShapeDictionary& dictionary() const { return *dictionary_; }
   /// The shape of all rows of the vector that has the row, if they have the same one.
   std::optional<int16_t> onlyShapeAt(uint32_t row) const {
      const int16_t only = onlyShapes_[row / vectorRows];
      return only == mixedShapes ? std::nullopt : std::optional(only);
   }
   /// nullDocument where the document is NULL.
   int16_t shapeOf(uint32_t row) const {
      const int16_t only = onlyShapes_[row / vectorRows];
      return only == mixedShapes ? shapes_[row] : only;
   }

   /// The number of a set of shapes; equal sets have one number, so that readers of different paths share their rows.
   /// The set has a byte for each shape, behind one for NULL documents.
   uint32_t setOf(std::vector<uint8_t> isMember);
   /// The rows of a set in [first, first + count), which lies in one vector. Valid until the set is asked for other
   /// rows.
   const MemberRows& rowsOf(uint32_t set, uint32_t first, uint32_t count);
   /// The same without the lists of rows.
   MemberCount countOf(uint32_t set, uint32_t first, uint32_t count);

   ChunkPlace partAt(uint32_t part) const;
   uint32_t rowCount() const { return place_.block->header().rowGroupRows[place_.rowGroup]; }

private:
   struct ShapeSet {
      std::vector<uint8_t> isMember;
      std::vector<uint32_t> before;  ///< members before each vector; empty: not counted yet
      uint32_t first = 0, count = 0; ///< what `rows` is of
      MemberRows rows;
   };
   static constexpr int16_t mixedShapes = -2;
   bool areShapesLoaded() const { return areLoaded_; }
   void loadVector(ChunkReader& numbers, uint32_t first, uint32_t count);
   uint32_t membersIn(const ShapeSet& set, uint32_t first, uint32_t count) const;
   void findRows(ShapeSet& set) const;

   ChunkPlace place_;
   std::shared_ptr<const ShapeDictionary> dictionary_;
   bool areLoaded_ = false;
   std::vector<int16_t> onlyShapes_;    ///< of each vector; or mixedShapes
   std::vector<int16_t> shapes_;        ///< of each row in mixed vectors; empty: there are none
   std::vector<uint16_t> rowsOfShapes_; ///< of each mixed vector, the rows of NULL documents and of each shape
   std::vector<std::unique_ptr<ShapeSet>> sets_;
};

} // namespace ouzel::storage
