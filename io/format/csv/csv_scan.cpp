#include <algorithm>
#include <deque>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/format/csv/chunk_reader.hpp"
#include "io/format/csv/csv_sniffer.hpp"
#include "io/format/csv/csv_table.hpp"
#include "io/format/sequential_input.hpp"

// Reads CSV files in parallel. A worker takes the next chunk of whole rows under a lock; chunks are cut from the files
// in order. The worker then splits and parses its chunk without a lock, which is nearly all of the work.

namespace ouzel::io {

namespace {

constexpr size_t morselSize = 1 << 20; ///< size of RowSplitter's chunks

/// A chunk of whole rows and the file that it was cut from.
struct FileChunk {
   CopyChunk chunk;
   const std::string* file = nullptr;
};

class CsvScan final : public ExternalScan {
public:
   CsvScan(const CsvTable& table, ExternalScanSpec spec)
      : table_(table), spec_(std::move(spec)), memory_(*spec_.memory), pieces_(memory_) {
      pieces_.grow(SequentialInput::memoryMax(table.files()[0]) + 3 * morselSize);
      shape_.rows = table.rowFormat();
      shape_.format = table.sessionFormat();
      for (const ExternalColumn& column : table.columns())
         shape_.names.push_back(column.name);
      shape_.forceNotNull.resize(shape_.names.size());
      shape_.forceNull.resize(shape_.names.size());
      for (const uint32_t index : spec_.columns)
         shape_.columns.push_back({index, table.columns()[index].type});
   }

   uint32_t readersMax() const override {
      return spec_.keepsOrder ? 1 : static_cast<uint32_t>(std::min<uint64_t>(table_.bytes() / morselSize + 1, 1024));
   }
   std::unique_ptr<ExternalReader> makeReader() override;
   std::vector<std::pair<std::string, std::string>> facts() const override {
      const MutexLock lock(mutex_);
      return {{"Bytes Read", std::to_string(bytesRead_)}};
   }
   /// Takes the next chunk. False: no chunk is left. Thread-safe.
   bool take(FileChunk& out);

   const ExternalScanSpec& spec() const { return spec_; }
   const ChunkReader::Shape& shape() const { return shape_; }

private:
   void openNext() REQUIRES(mutex_);
   void checkHeader(FileChunk& first) REQUIRES(mutex_);

   const CsvTable& table_;
   const ExternalScanSpec spec_;
   ChunkReader::Shape shape_; ///< set once
   Reservation& memory_;
   Reservation pieces_; ///< for bytes that are read but not taken yet
   mutable Mutex mutex_;
   std::deque<FileChunk> waiting_ GUARDED_BY(mutex_);
   size_t nextFile_ GUARDED_BY(mutex_) = 0;
   const std::string* file_ GUARDED_BY(mutex_) = nullptr;
   std::unique_ptr<SequentialInput> input_ GUARDED_BY(mutex_); ///< null between files
   std::unique_ptr<RowSplitter> splitter_ GUARDED_BY(mutex_);
   uint64_t bytesRead_ GUARDED_BY(mutex_) = 0;
   bool isFirstOfFile_ GUARDED_BY(mutex_) = false;
};

void CsvScan::openNext() {
   file_ = &table_.files()[nextFile_++];
   input_ = std::make_unique<SequentialInput>(*file_);
   splitter_ = std::make_unique<RowSplitter>(table_.rowFormat());
   isFirstOfFile_ = true;
}

/// Removes the header from a file's first chunk. Throws when the header differs from the first file's.
void CsvScan::checkHeader(FileChunk& first) {
   if (!std::exchange(isFirstOfFile_, false) || !table_.rowFormat().header) return;
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

bool CsvScan::take(FileChunk& out) {
   const MutexLock lock(mutex_);
   const auto emit = [&](CopyChunk&& chunk) {
      mutex_.assertHeld(); // take() calls this through a template and holds the mutex
      FileChunk made{std::move(chunk), file_};
      checkHeader(made);
      if (made.chunk.size > 0) waiting_.push_back(std::move(made));
   };
   while (waiting_.empty()) {
      if (!input_) {
         if (nextFile_ == table_.files().size()) return false;
         openNext();
      }
      try {
         const std::optional<std::string_view> piece = input_->next();
         if (piece) {
            bytesRead_ += piece->size();
            splitter_->feed(*piece, emit);
         }
         if (!piece || splitter_->ended()) {
            splitter_->finish(emit);
            input_.reset();
         }
      } catch (SqlError& error) {
         if (error.contextText().empty()) error.setContext("CSV file \"" + *file_ + "\"");
         nextFile_ = table_.files().size();
         input_.reset();
         throw;
      }
   }
   out = std::move(waiting_.front());
   waiting_.pop_front();
   return true;
}

class CsvReader final : public ExternalReader {
public:
   explicit CsvReader(CsvScan& scan) : scan_(scan), reader_(scan.shape(), *scan.spec().memory) {}

   bool next(Batch& out, uint32_t rowsMax) override {
      while (!reader_.next(out, rowsMax)) {
         FileChunk chunk;
         if (!scan_.take(chunk)) return false;
         reader_.open(std::move(chunk.chunk), "CSV file \"" + *chunk.file + "\"");
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
