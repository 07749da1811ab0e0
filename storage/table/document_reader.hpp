#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "common/json/jsonb_writer.hpp"
#include "common/memory/arena.hpp"
#include "storage/json/assembler.hpp"
#include "storage/table/chunk_reader.hpp"

namespace ouzel::storage {

/// Reads a chunk of documents that has parts: puts the selected documents together again. Owned by one worker.
///
/// The columns of leaves are dense, so the place of a document's value in them is the number of documents before it
/// whose shape has the leaf. The reader counts as it goes forward, and begins again when it is asked for earlier rows.
class DocumentReader {
public:
   DocumentReader();
   ~DocumentReader();

   /// `place`: of the whole chunk.
   void open(const ChunkPlace& place);
   void close();
   bool isOpen() const { return place_.block != nullptr; }

   /// As ChunkReader's. Documents lie in the reader's memory until the next call.
   Vector read(uint32_t first, uint32_t count, const Selection& rows);

private:
   /// A dense column: of a leaf, or the residues.
   struct DenseColumn {
      explicit DenseColumn(PhysicalType type) : reader(type) {}
      ChunkReader reader;
      uint32_t passed = 0; ///< values of the rows before passedRows_
      // Of the rows that are being read:
      uint32_t inRange = 0;         ///< values of the rows seen so far
      std::vector<RowIndex> wanted; ///< values of selected rows, counted from `passed`
      std::vector<char> values;     ///< these values, as in a flat vector
      uint32_t next = 0;            ///< of `wanted`, while documents are put together
   };

   void load();
   void passTo(uint32_t row);
   void collect(uint32_t first, uint32_t count, const Selection& rows);
   void fetch(DenseColumn& column);
   StringView assemble(uint32_t shape);
   template <typename Visit>
   void forEachColumn(uint32_t shape, Visit visit);

   ChunkPlace place_;
   std::optional<ShapeDictionary> dictionary_;
   std::optional<Assembler> assembler_;
   std::vector<int16_t> shapes_;      ///< of all rows; -1 where the document is NULL
   std::vector<DenseColumn> columns_; ///< of leaves; the last one is that of residues
   uint32_t passedRows_ = 0;
   std::vector<uint32_t> used_; ///< columns with wanted values
   std::vector<const void*> leafValues_;
   json::JsonbWriter writer_;
   Arena documents_;
   std::vector<StringView> out_;
   std::vector<ValidityWord> validity_;
};

} // namespace ouzel::storage
