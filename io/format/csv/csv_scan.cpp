#include <algorithm>

#include "common/error/sql_error.hpp"
#include "io/format/csv/chunk_reader.hpp"
#include "io/format/csv/csv_sniffer.hpp"
#include "io/format/csv/csv_table.hpp"
#include "io/format/csv/file_chunks.hpp"

// Reads CSV files in parallel: workers take chunks of whole rows (file_chunks.hpp), split and parse them.

namespace ouzel::io {

namespace {

class CsvScan final : public ExternalScan {
public:
   CsvScan(const CsvTable& table, ExternalScanSpec spec)
      : table_(table), spec_(std::move(spec)), shape_(shapeOf(table, spec_)),
        chunks_(
            "CSV file", table, *spec_.memory, [this] { return std::make_unique<RowSplitter>(table_.rowFormat()); },
            [this](FileChunk& first) { checkHeader(first); }) {}

   uint32_t readersMax() const override {
      return spec_.keepsOrder
                 ? 1
                 : static_cast<uint32_t>(std::min<uint64_t>(table_.bytes() / RowSplitter::chunkSize + 1, 1024));
   }
   std::unique_ptr<ExternalReader> makeReader() override;
   std::vector<std::pair<std::string, std::string>> facts() const override {
      return {{"Bytes Read", std::to_string(chunks_.bytesRead())}};
   }

   FileChunks<RowSplitter>& chunks() { return chunks_; }
   const ExternalScanSpec& spec() const { return spec_; }
   const ChunkReader::Shape& shape() const { return shape_; }

private:
   static ChunkReader::Shape shapeOf(const CsvTable& table, const ExternalScanSpec& spec);
   void checkHeader(FileChunk& first) const;

   const CsvTable& table_;
   const ExternalScanSpec spec_;
   const ChunkReader::Shape shape_;
   FileChunks<RowSplitter> chunks_;
};

ChunkReader::Shape CsvScan::shapeOf(const CsvTable& table, const ExternalScanSpec& spec) {
   ChunkReader::Shape shape;
   shape.rows = table.rowFormat();
   shape.format = table.sessionFormat();
   for (const ExternalColumn& column : table.columns())
      shape.names.push_back(column.name);
   shape.forceNotNull.resize(shape.names.size());
   shape.forceNull.resize(shape.names.size());
   for (const uint32_t index : spec.columns)
      shape.columns.push_back({index, table.columns()[index].type});
   return shape;
}

/// Removes the header from a file's first chunk. Throws when the header differs from the first file's.
void CsvScan::checkHeader(FileChunk& first) const {
   if (!table_.rowFormat().header) return;
   CopyChunk& chunk = first.chunk;
   CsvRow row;
   const size_t length = splitCsvRow(chunk.bytes(), table_.rowFormat(), row);
   if (row.size() != table_.columns().size())
      throw SqlError(sqlstate::invalidParameterValue, "file \"" + *first.file + "\" has " + std::to_string(row.size()) +
                                                          " columns where \"" + table_.files()[0] + "\" has " +
                                                          std::to_string(table_.columns().size()));
   const std::vector<std::string>& header = table_.header();
   for (size_t i = 0; i < header.size(); ++i)
      if (row[i].text != header[i])
         throw SqlError(sqlstate::invalidParameterValue, "column " + std::to_string(i + 1) + " of file \"" +
                                                             *first.file + "\" is \"" + row[i].text +
                                                             "\" where others have \"" + header[i] + "\"");
   chunk.firstLine += static_cast<uint64_t>(
       std::count(chunk.memory.begin(), chunk.memory.begin() + static_cast<ptrdiff_t>(length), '\n'));
   chunk.memory.erase(chunk.memory.begin(), chunk.memory.begin() + static_cast<ptrdiff_t>(length));
   chunk.size -= length;
}

class CsvReader final : public ExternalReader {
public:
   explicit CsvReader(CsvScan& scan) : scan_(scan), reader_(scan.shape(), *scan.spec().memory) {}

   bool next(Batch& out, uint32_t rowsMax) override {
      while (!reader_.next(out, rowsMax)) {
         FileChunk chunk;
         if (!scan_.chunks().take(chunk)) return false;
         reader_.open(std::move(chunk.chunk), scan_.chunks().contextOf(*chunk.file));
      }
      return true;
   }

private:
   CsvScan& scan_;
   ChunkReader reader_;
};

std::unique_ptr<ExternalReader> CsvScan::makeReader() {
   return std::make_unique<CsvReader>(*this);
}

} // namespace

std::unique_ptr<ExternalScan> CsvTable::scan(ExternalScanSpec spec) const {
   return std::make_unique<CsvScan>(*this, std::move(spec));
}

} // namespace ouzel::io
