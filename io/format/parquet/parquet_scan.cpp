#include <algorithm>
#include <arrow/api.h>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/format/parquet/arrow_columns.hpp"
#include "io/format/parquet/parquet_table.hpp"
#include "io/format/range_test.hpp"

// Reads Parquet files in parallel. Row groups that statistics exclude are dropped when the scan begins. A worker takes
// the next row group and decodes its columns batch by batch, so that only the pages being decoded are in memory.

namespace ouzel::io {

namespace {

constexpr int64_t batchRowsWanted = 16'384; ///< decoded at a time; fewer when rows are wide
constexpr int64_t batchBytesWanted = 4 << 20;

struct RowGroup {
   uint32_t file;
   int index;
   int64_t rows;
};

class ParquetScan final : public ExternalScan {
public:
   ParquetScan(const ParquetTable& table, ExternalScanSpec spec) : table_(table), spec_(std::move(spec)) {
      for (const uint32_t column : spec_.columns)
         if (!table.columns()[column].problem.empty())
            throw SqlError(sqlstate::featureNotSupported, "column \"" + table.columns()[column].name + "\" of file \"" +
                                                              table.files()[0] + "\" has type " +
                                                              table.columns()[column].problem +
                                                              ", which read_parquet does not support");
      for (uint32_t f = 0; f < table.parquetFiles().size(); ++f) {
         const ParquetFile& file = table.parquetFiles()[f];
         for (int g = 0; g < file.metadata->num_row_groups(); ++g) {
            const int64_t rows = file.metadata->RowGroup(g)->num_rows();
            if (isExcluded(file, g))
               ++skipped_;
            else if (rows > 0)
               groups_.push_back({f, g, rows});
         }
      }
      inputs_.resize(table.parquetFiles().size());
   }

   uint32_t readersMax() const override {
      return static_cast<uint32_t>(std::min<size_t>(groups_.size(), spec_.keepsOrder ? 1 : 1024));
   }
   std::unique_ptr<ExternalReader> makeReader() override;
   std::vector<std::pair<std::string, std::string>> facts() const override {
      return {{"Row Groups", std::to_string(groups_.size())},
              {"Row Groups Skipped", std::to_string(skipped_)},
              {"Bytes Read", std::to_string(bytesRead_)}};
   }

   const ParquetTable& table() const { return table_; }
   const ExternalScanSpec& spec() const { return spec_; }
   /// Takes the next row group; null when none is left.
   const RowGroup* take() {
      const size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      return index < groups_.size() ? &groups_[index] : nullptr;
   }
   /// The reader of a file's bytes, opened once and shared by the workers.
   std::shared_ptr<const ObjectReader> open(uint32_t file);
   std::atomic<uint64_t>& bytesRead() { return bytesRead_; }

private:
   bool isExcluded(const ParquetFile& file, int group) const {
      return std::any_of(spec_.ranges.begin(), spec_.ranges.end(), [&](const ExternalRange& range) {
         const int leaf = file.leaves[range.column];
         if (leaf < 0) return false;
         const ChunkBounds bounds = boundsOf(file, table_.columns()[range.column], group, leaf);
         return bounds.allNull || excludes(range, bounds.min, bounds.max);
      });
   }

   const ParquetTable& table_;
   const ExternalScanSpec spec_;
   std::vector<RowGroup> groups_;
   size_t skipped_ = 0;
   std::atomic<size_t> next_{0};
   std::atomic<uint64_t> bytesRead_{0};
   Mutex mutex_;
   std::vector<std::weak_ptr<const ObjectReader>> inputs_ GUARDED_BY(mutex_); ///< files that a worker is reading
};

std::shared_ptr<const ObjectReader> ParquetScan::open(uint32_t index) {
   const MutexLock lock(mutex_);
   if (auto known = inputs_[index].lock()) return known;
   const ParquetFile& file = table_.parquetFiles()[index];
   if (file.object) return file.object;
   std::shared_ptr<const ObjectReader> opened = openInput(file.path, table_.access());
   if (opened->size() != file.size)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "file \"" + file.path + "\" changed while it was read");
   inputs_[index] = opened;
   return opened;
}

class ParquetReader final : public ExternalReader {
public:
   explicit ParquetReader(ParquetScan& scan) : scan_(scan), pool_(*scan.spec().memory) {}

   bool next(Batch& out, uint32_t rowsMax) override;

private:
   bool openNext();
   /// Reads the next batch of the row group; false at the group's end.
   bool readBatch();

   ParquetScan& scan_;
   LedgerPool pool_;
   // The row group being read; later members refer to earlier ones.
   const RowGroup* group_ = nullptr;
   const ParquetFile* file_ = nullptr;
   std::shared_ptr<ArrowInput> input_;
   std::unique_ptr<parquet::arrow::FileReader> reader_;
   std::unique_ptr<arrow::RecordBatchReader> batches_;
   std::shared_ptr<arrow::RecordBatch> batch_;
   std::vector<int> positions_; ///< by column of the scan: position in batch_
   std::vector<ColumnConverter> converters_;
   int64_t nextRow_ = 0, rows_ = 0; ///< of batch_, or of the row group when no column is read
   int64_t rowsGiven_ = 0;          ///< of the row group
};

bool ParquetReader::openNext() {
   batch_.reset();
   batches_.reset();
   reader_.reset();
   input_.reset();
   group_ = scan_.take();
   if (!group_) return false;
   file_ = &scan_.table().parquetFiles()[group_->file];
   rowsGiven_ = nextRow_ = rows_ = 0;
   const std::vector<uint32_t>& columns = scan_.spec().columns;
   if (columns.empty()) {
      rows_ = group_->rows;
      return true;
   }
   std::vector<int> leaves;
   for (const uint32_t column : columns)
      leaves.push_back(file_->leaves[column]);
   std::sort(leaves.begin(), leaves.end());
   leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
   positions_.clear();
   converters_.clear();
   for (const uint32_t column : columns) {
      positions_.push_back(
          static_cast<int>(std::lower_bound(leaves.begin(), leaves.end(), file_->leaves[column]) - leaves.begin()));
      converters_.emplace_back(scan_.table().columns()[column], file_->path);
   }
   const std::shared_ptr<const ObjectReader> object = scan_.open(group_->file);
   input_ = std::make_shared<ArrowInput>(object, &pool_, &scan_.bytesRead());
   int64_t batchRows = batchRowsWanted;
   std::vector<int> coded;
   runArrow(file_->path, nullptr, [&] {
      const auto group = file_->metadata->RowGroup(group_->index);
      int64_t bytes = 0;
      std::vector<ByteRange> ranges;
      for (const int leaf : leaves) {
         const auto chunk = group->ColumnChunk(leaf);
         bytes += std::max<int64_t>(0, chunk->total_uncompressed_size());
         if (isCodedText(*chunk)) coded.push_back(leaf);
         uint64_t offset, size;
         if (chunkRange(*chunk, file_->size, offset, size)) ranges.push_back({offset, size});
      }
      input_->prefetch(std::move(ranges), file_->object != nullptr);
      const int64_t rowBytes = std::max<int64_t>(1, bytes / group_->rows);
      batchRows = std::clamp<int64_t>(batchBytesWanted / rowBytes, 64, batchRowsWanted);
      return arrow::Status::OK();
   });
   reader_ = makeFileReader(*file_, input_, &pool_, batchRows, coded);
   runArrow(file_->path, input_.get(), [&] {
      ARROW_ASSIGN_OR_RAISE(batches_, reader_->GetRecordBatchReader({group_->index}, leaves));
      return arrow::Status::OK();
   });
   return true;
}

bool ParquetReader::readBatch() {
   batch_.reset();
   runArrow(file_->path, input_.get(), [&] { return batches_->ReadNext(&batch_); });
   if (!batch_) {
      if (rowsGiven_ != group_->rows)
         throw SqlError(sqlstate::badCopyFileFormat,
                        "file \"" + file_->path + "\" is not valid Parquet: a row group has fewer rows than it says");
      return false;
   }
   nextRow_ = 0;
   rows_ = batch_->num_rows();
   return true;
}

bool ParquetReader::next(Batch& out, uint32_t rowsMax) {
   while (nextRow_ == rows_) {
      if (group_ && batches_ && readBatch()) continue;
      if (!openNext()) return false;
   }
   const uint32_t count = static_cast<uint32_t>(std::min<int64_t>(rowsMax, rows_ - nextRow_));
   out.columns.clear();
   for (size_t i = 0; i < converters_.size() && batch_; ++i)
      out.columns.push_back(converters_[i].convert(*batch_->column(positions_[i]), nextRow_, count));
   out.setDense(count);
   nextRow_ += count;
   rowsGiven_ += count;
   return true;
}

std::unique_ptr<ExternalReader> ParquetScan::makeReader() {
   return std::make_unique<ParquetReader>(*this);
}

} // namespace

std::unique_ptr<ExternalScan> ParquetTable::scan(ExternalScanSpec spec) const {
   return std::make_unique<ParquetScan>(*this, std::move(spec));
}

} // namespace ouzel::io
