#include <algorithm>
#include <cstring>
#include <deque>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "common/text/utf8.hpp"
#include "common/type/text_codec.hpp"
#include "io/format/csv/csv_sniffer.hpp"
#include "io/format/csv/csv_table.hpp"
#include "io/format/csv/field_splitter.hpp"
#include "io/format/sequential_input.hpp"

// Reading CSV files: whoever needs rows takes the next chunk, which is cut from the files in their order under a lock;
// taking it apart and parsing, nearly all of the work, is done by each worker for itself.

namespace ouzel::io {

namespace {

constexpr size_t morselSize = 1 << 20; ///< what RowSplitter cuts

/// A chunk and the file it is from.
struct FileChunk {
   CopyChunk chunk;
   const std::string* file = nullptr;
};

class CsvScan final : public ExternalScan {
public:
   CsvScan(const CsvTable& table, ExternalScanSpec spec)
      : table_(table), spec_(std::move(spec)), memory_(*spec_.memory), pieces_(memory_) {
      pieces_.grow(SequentialInput::memoryMax(table.files()[0]) + 3 * morselSize);
   }

   uint32_t readersMax() const override {
      return spec_.keepsOrder ? 1 : static_cast<uint32_t>(std::min<uint64_t>(table_.bytes() / morselSize + 1, 1024));
   }
   std::unique_ptr<ExternalReader> makeReader() override;
   std::vector<std::pair<std::string, std::string>> facts() const override {
      const MutexLock lock(mutex_);
      return {{"Bytes Read", std::to_string(bytesRead_)}};
   }
   /// False when all has been given away. Thread-safe.
   bool take(FileChunk& out);

   const CsvTable& table() const { return table_; }
   const ExternalScanSpec& spec() const { return spec_; }

private:
   void openNext() REQUIRES(mutex_);
   void checkHeader(FileChunk& first) REQUIRES(mutex_);

   const CsvTable& table_;
   const ExternalScanSpec spec_;
   Reservation& memory_;
   Reservation pieces_; ///< for what is read and cut but not taken
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

/// Takes the header off the first chunk of a file; it has to be the first file's.
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
      mutex_.assertHeld(); // called below, through a template
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

/// Parses the columns that the query reads.
class CsvReader final : public ExternalReader {
public:
   explicit CsvReader(CsvScan& scan)
      : scan_(scan), memory_(*scan.spec().memory), arena_(&memory_),
        fields_(static_cast<uint32_t>(scan.table().columns().size())) {
      for (const uint32_t index : scan.spec().columns) {
         const SqlType type = scan.table().columns()[index].type;
         Column column{index, type, storedRepresentation(type).physical, fieldParser(type), {}, {}};
         column.data.reset(new std::byte[size_t{physicalSize(column.physical)} * batchRowsMax + 16]);
         column.validity.resize(validityWords(batchRowsMax));
         columns_.push_back(std::move(column));
      }
      for (const ExternalColumn& column : scan.table().columns())
         names_.push_back(column.name);
   }

   bool next(Batch& out, uint32_t rowsMax) override {
      while (nextRow_ == fields_.rows) {
         nextRow_ = fields_.rows = 0;
         if (splitter_ && splitter_->next(fields_)) break;
         if (!takeChunk()) return false;
      }
      const uint32_t count = std::min(rowsMax, fields_.rows - nextRow_);
      arena_.reset();
      out.columns.clear();
      for (Column& column : columns_) {
         parse(column, count);
         out.columns.push_back(Vector::flat(column.physical, column.aligned(), column.validity.data()));
      }
      out.setDense(count);
      nextRow_ += count;
      return true;
   }

private:
   struct Column {
      uint32_t index; ///< in the file
      SqlType type;
      PhysicalType physical;
      FieldParser parser;
      std::unique_ptr<std::byte[]> data;
      std::vector<ValidityWord> validity;
      std::byte* aligned() const {
         return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(data.get()) + 15) & ~uintptr_t{15});
      }
   };

   bool takeChunk() {
      splitter_.reset();
      memory_.shrink(charged_);
      charged_ = 0;
      if (!scan_.take(chunk_)) return false;
      memory_.grow(chunk_.chunk.memory.size());
      charged_ = chunk_.chunk.memory.size();
      const std::vector<uint8_t> never(names_.size());
      splitter_ = std::make_unique<FieldSplitter>(scan_.table().rowFormat(), "CSV file \"" + *chunk_.file + "\"",
                                                  names_, never, never);
      splitter_->open(chunk_.chunk);
      return true;
   }
   void parse(Column& column, uint32_t count);
   [[noreturn]] void badField(const SqlError& error, const Column& column, uint32_t row, std::string_view text) const;

   CsvScan& scan_;
   Reservation memory_;
   Arena arena_;
   FieldTable fields_;
   std::vector<Column> columns_;
   std::vector<std::string> names_;
   FileChunk chunk_;
   size_t charged_ = 0;
   std::unique_ptr<FieldSplitter> splitter_;
   uint32_t nextRow_ = 0; ///< of fields_
};

void CsvReader::parse(Column& column, uint32_t count) {
   const std::string_view* texts = fields_.column(column.index) + nextRow_;
   const uint32_t size = physicalSize(column.physical);
   ValidityWord* validity = column.validity.data();
   std::memset(validity, 0xff, validityWords(count) * sizeof(ValidityWord));
   std::byte* out = column.aligned();
   for (uint32_t row = 0; row < count; ++row, out += size) {
      const std::string_view text = texts[row];
      if (text.data() == nullptr) {
         setValidBit(validity, row, false);
         std::memset(out, 0, size);
         continue;
      }
      try {
         if (column.physical == PhysicalType::String && findInvalidUtf8(text) != text.size()) checkUtf8(text);
         if (column.parser && column.parser(out, text, column.type.typmod, arena_)) continue;
         parseTextInto(out, column.type, text, scan_.table().sessionFormat(), arena_);
      } catch (const SqlError& error) {
         badField(error, column, row, text);
      }
   }
}

void CsvReader::badField(const SqlError& error, const Column& column, uint32_t row, std::string_view text) const {
   SqlError withContext = error;
   std::string shown(text.substr(0, 100));
   if (text.size() > 100) shown += "...";
   withContext.setContext("CSV file \"" + *chunk_.file + "\", line " + std::to_string(fields_.lines[nextRow_ + row]) +
                          ", column " + names_[column.index] + ": \"" + shown + "\"");
   throw withContext;
}

std::unique_ptr<ExternalReader> CsvScan::makeReader() {
   return std::make_unique<CsvReader>(*this);
}

} // namespace

std::unique_ptr<ExternalScan> CsvTable::scan(ExternalScanSpec spec) const {
   return std::make_unique<CsvScan>(*this, std::move(spec));
}

} // namespace ouzel::io
