#pragma once
#include <deque>
#include <string>
#include <vector>

#include "common/value/string_view.hpp"
#include "storage/base/column_slice.hpp"
#include "storage/base/document_columns.hpp"
#include "storage/json/document_summary.hpp"

namespace ouzel::storage {

/// What pays. A leaf costs an entry in the dictionary and a page; a shape costs its nodes.
struct ShredLimits {
   uint32_t leafCountMin = 32; ///< values that a path and kind need in a row group to be part of a shape
   double leafShareMin = 0;    ///< of the documents; above 1: nothing is kept
   uint32_t leavesMax = 2048;  ///< the most frequent ones
   uint32_t shapesMax = 4096;  ///< further documents stay whole, as residues
   uint32_t pathsMax = 65'536; ///< that are counted; members of further ones are residues

   static ShredLimits of(JsonExtraction extraction);
};

/// The documents of one row group taken apart: dense columns of what they are made of. Strings point into the
/// documents, which must outlive this, or into `owned`.
struct ShreddedColumn {
   ShapeDictionary dictionary;
   DocumentSummary summary;
   std::vector<int16_t> shapes; ///< of each row; 0 where the document is NULL
   /// The values of a leaf; which of the three depends on its representation.
   struct Values {
      std::vector<StringView> strings; ///< texts, arrays, decimals
      std::vector<int64_t> integers;
      std::vector<int32_t> dates;
      std::vector<uint8_t> booleans;
   };
   std::vector<Values> values;       ///< by leaf
   std::vector<StringView> residues; ///< of the rows whose shape has one
   std::deque<std::string> owned;

   ColumnSlice leafSlice(uint32_t leaf) const;
   ColumnSlice residueSlice() const;
   /// `validity`: that of the documents.
   ColumnSlice shapeSlice(const ValidityWord* validity) const;
};

/// Takes the documents apart in two passes: the first counts paths and kinds, the second keeps what is frequent enough.
/// The time is linear in the documents' bytes. Throws XX001 where a document is damaged.
ShreddedColumn shred(const ColumnSlice& documents, const ShredLimits& limits = {});

} // namespace ouzel::storage
