#pragma once
#include <optional>
#include <vector>

#include "storage/json/shape.hpp"
#include "storage/table/chunk_reader.hpp"

namespace ouzel::storage {

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
   /// The shape of all rows, if they have the same one.
   std::optional<int16_t> onlyShape() const { return onlyShape_; }
   /// Of each row; nullDocument where the document is NULL. Empty if there is only one shape.
   const std::vector<int16_t>& shapes() const { return shapes_; }
   int16_t shapeOf(uint32_t row) const { return onlyShape_ ? *onlyShape_ : shapes_[row]; }

   ChunkPlace partAt(uint32_t part) const;
   uint32_t rowCount() const { return place_.block->header().rowGroupRows[place_.rowGroup]; }

private:
   bool areShapesLoaded() const { return onlyShape_ || !shapes_.empty(); }

   ChunkPlace place_;
   std::shared_ptr<const ShapeDictionary> dictionary_;
   std::optional<int16_t> onlyShape_;
   std::vector<int16_t> shapes_;
};

} // namespace ouzel::storage
