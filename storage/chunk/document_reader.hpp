#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "common/json/jsonb_writer.hpp"
#include "common/memory/arena.hpp"
#include "storage/chunk/dense_column.hpp"
#include "storage/chunk/document_shapes.hpp"
#include "storage/json/assembler.hpp"

namespace ouzel::storage {

/// Reads a chunk of documents that has parts: puts the selected documents together again. Owned by one worker.
///
/// The columns of leaves are dense, so the place of a document's value in them is the number of documents before it
/// whose shape has the leaf. The reader counts as it goes forward, and begins again when it is asked for earlier rows.
class DocumentReader {
public:
   DocumentReader();
   ~DocumentReader();

   /// `shapes` is open, and stays so until close().
   void open(DocumentShapes& shapes);
   void close();
   bool isOpen() const { return shapes_ != nullptr; }

   /// As ChunkReader's. Documents lie in the reader's memory until the next call.
   Vector read(uint32_t first, uint32_t count, const Selection& rows);

private:
   void load();
   void passTo(uint32_t row);
   void collect(uint32_t first, uint32_t count, const Selection& rows);
   StringView assemble(uint32_t shape);
   template <typename Visit>
   void forEachColumn(uint32_t shape, Visit visit);

   DocumentShapes* shapes_ = nullptr;
   std::optional<Assembler> assembler_;
   std::vector<DenseColumn> columns_; ///< of leaves; the last one is that of residues
   std::vector<uint32_t> next_;       ///< by column, of its wanted values, while documents are put together
   uint32_t passedRows_ = 0;          ///< rows whose values are counted in `passed` of the columns
   std::vector<uint32_t> used_;       ///< columns with wanted values
   std::vector<const void*> leafValues_;
   json::JsonbWriter writer_;
   Arena documents_;
   std::vector<StringView> out_;
   std::vector<ValidityWord> validity_;
};

} // namespace ouzel::storage
