#include <algorithm>

#include "io/format/csv/file_chunks.hpp"
#include "io/format/json/json_rows.hpp"
#include "io/format/json/json_splitter.hpp"
#include "io/format/json/json_table.hpp"

// Reads JSON files in parallel: workers take chunks of whole rows (file_chunks.hpp) and parse them.

namespace ouzel::io {

namespace {

class JsonScan final : public ExternalScan {
public:
   JsonScan(const JsonTable& table, ExternalScanSpec spec)
      : table_(table), spec_(std::move(spec)), shape_(shapeOf(table, spec_)),
        chunks_(
            "JSON file", table, *spec_.memory,
            [this] { return std::make_unique<JsonSplitter>(table_.rowFormat().layout); }, nullptr) {}

   uint32_t readersMax() const override {
      const uint64_t chunks = table_.bytes() / JsonSplitter::chunkSize + 1;
      return spec_.keepsOrder ? 1 : static_cast<uint32_t>(std::min<uint64_t>(chunks, 1024));
   }
   std::unique_ptr<ExternalReader> makeReader() override;
   std::vector<std::pair<std::string, std::string>> facts() const override {
      return {{"Bytes Read", std::to_string(chunks_.bytesRead())}};
   }

   FileChunks<JsonSplitter>& chunks() { return chunks_; }
   const ExternalScanSpec& spec() const { return spec_; }
   const ChunkReader::Shape& shape() const { return shape_; }

private:
   static ChunkReader::Shape shapeOf(const JsonTable& table, const ExternalScanSpec& spec) {
      ChunkReader::Shape shape;
      shape.rows = table.rowFormat();
      shape.format = table.sessionFormat();
      shape.names = table.keys();
      shape.hint = table.hint();
      for (const uint32_t index : spec.columns)
         shape.columns.push_back({index, table.columns()[index].type});
      return shape;
   }

   const JsonTable& table_;
   const ExternalScanSpec spec_;
   const ChunkReader::Shape shape_;
   FileChunks<JsonSplitter> chunks_;
};

class JsonReader final : public ExternalReader {
public:
   explicit JsonReader(JsonScan& scan) : scan_(scan), rows_(scan.shape(), *scan.spec().memory) {}

   bool next(Batch& out, uint32_t rowsMax) override {
      while (!rows_.next(out, rowsMax)) {
         FileChunk chunk;
         if (!scan_.chunks().take(chunk)) return false;
         rows_.open(std::move(chunk.chunk), scan_.chunks().contextOf(*chunk.file));
      }
      return true;
   }

private:
   JsonScan& scan_;
   JsonRows rows_;
};

std::unique_ptr<ExternalReader> JsonScan::makeReader() {
   return std::make_unique<JsonReader>(*this);
}

} // namespace

std::unique_ptr<ExternalScan> JsonTable::scan(ExternalScanSpec spec) const {
   return std::make_unique<JsonScan>(*this, std::move(spec));
}

} // namespace ouzel::io
