#pragma once
#include <vector>

#include "storage/chunk/chunk_reader.hpp"

namespace ouzel::storage {

/// A part of a chunk that has a value of only some of the chunk's rows: of those whose documents have a leaf, or a
/// residue. Its reader counts these rows as it goes forward, so that it knows where the values of the next rows lie.
struct DenseColumn {
   explicit DenseColumn(PhysicalType type) : reader(type) {}

   ChunkReader reader;
   uint32_t passed = 0; ///< values of the rows before those that are being read
   // Of the rows that are being read:
   uint32_t inRange = 0;         ///< values of the rows seen so far
   std::vector<RowIndex> wanted; ///< values of selected rows, counted from `passed`
   std::vector<char> values;     ///< the wanted values, as in a flat vector

   /// Forgets the rows that were read.
   void begin() {
      inRange = 0;
      wanted.clear();
   }
   /// Copies the wanted values. Strings point into pinned pages.
   void fetch();
   /// Copies `count` values from `from` on to the front of `values`, and leaves room for one more behind them.
   void fetchRange(uint32_t from, uint32_t count);
   /// As fetch(), for a part with a dictionary: copies the codes of the values to `codes`, and returns a vector of the
   /// dictionary. REQUIRES: a value is wanted.
   Vector fetchCodes(uint16_t* codes);
   const char* value(size_t i) const { return values.data() + i * physicalSize(reader.type()); }

private:
   /// Reads the wanted values, which may lie in two aligned vectors of the part: `take(vector, first, list)` gets those
   /// of `wanted` from `first` on, at the rows `list` of the vector.
   template <typename Take>
   void readPieces(Take take);
};

} // namespace ouzel::storage
