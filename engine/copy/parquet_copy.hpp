#pragma once
#include <memory>
#include <string>

#include "engine/copy/copy_from.hpp"
#include "io/format/parquet/parquet.hpp"

// COPY ... (FORMAT parquet), where it is not like the formats of text.

namespace ouzel::engine {

/// Load the columns of target.columns, which the file has under the same names. `isList`: the statement named columns,
/// so the file may have others. Constraints are checked, defaults and generated columns filled in, as by INSERT, which
/// this is. Returns the rows.
uint64_t copyFromParquet(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target,
                         const std::string& file, bool isList);

/// Writes the rows of a query to a file.
class ParquetSink final : public ResultSink {
public:
   /// `access`: keys to an object; null: the server's own.
   ParquetSink(SessionCore& core, const std::string& file, const io::ObjectAccessPtr& access,
               const io::ParquetOptions& options, CopyProgress& progress);

   void begin(const std::vector<ResultColumn>& columns) override;
   void rows(const Batch& batch) override {
      writer_->write(batch);
      progress_.tuples += batch.liveRows();
   }
   void finish();

private:
   Reservation memory_;
   const io::ParquetOptions options_;
   CopyProgress& progress_;
   std::unique_ptr<io::OutputFile> file_;
   std::unique_ptr<io::ParquetWriter> writer_;
};

} // namespace ouzel::engine
