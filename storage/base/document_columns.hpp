#pragma once
#include <cstdint>
#include <vector>

#include "storage/base/ids.hpp"

namespace ouzel::storage {

/// Which paths of documents become columns. Shapes is what pays; the others make the alternatives of Durner
/// ("Efficient Query Processing on Modern Hardware", JSON Tiles) measurable on the same data and executor.
enum class JsonExtraction : uint8_t {
   None,   ///< documents stay whole
   Global, ///< what 60 % of the documents have
   Tiles,  ///< what 60 % of a tile of 1,024 documents have, once eight tiles are sorted by what they have
   Shapes, ///< what 32 documents of a row group have
};

/// The columns of jsonb of a table, or of some of its rows.
struct DocumentColumns {
   std::vector<uint32_t> columns;
   JsonExtraction extraction = JsonExtraction::Shapes;
   bool operator==(const DocumentColumns&) const = default;

   static DocumentColumns of(const std::vector<ColumnDefinition>& columns,
                             JsonExtraction extraction = JsonExtraction::Shapes) {
      DocumentColumns found{{}, extraction};
      for (uint32_t column = 0; column < columns.size(); ++column)
         if (columns[column].type.oid == oid::jsonb) found.columns.push_back(column);
      return found;
   }
};

} // namespace ouzel::storage
