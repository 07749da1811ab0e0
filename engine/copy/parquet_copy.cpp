#include "engine/copy/parquet_copy.hpp"

#include <algorithm>

#include "engine/query/external_files.hpp"
#include "engine/query/statement_runner.hpp"

namespace ouzel::engine {

namespace {

/// Whether the file has the columns that are to be loaded, and no others unless they were named.
void checkColumns(const CopyTarget& target, const io::ExternalTable& table, const std::string& file, bool isList) {
   for (const int16_t attribute : target.columns) {
      const std::string& name = target.relation->column(attribute)->name;
      if (std::none_of(table.columns().begin(), table.columns().end(),
                       [&](const io::ExternalColumn& column) { return column.name == name; }))
         throw SqlError(sqlstate::badCopyFileFormat, "file \"" + file + "\" has no column \"" + name + "\"")
             .hint("Name the columns that it has: COPY " + target.relation->name + " (...) FROM ...");
   }
   for (const io::ExternalColumn& column : table.columns())
      if (!isList && std::none_of(target.columns.begin(), target.columns.end(), [&](int16_t attribute) {
             return target.relation->column(attribute)->name == column.name;
          }))
         throw SqlError(sqlstate::badCopyFileFormat,
                        "file \"" + file + "\" has a column \"" + column.name + "\" that is not loaded")
             .hint("Name the columns to load: COPY " + target.relation->name + " (...) FROM ...");
}

} // namespace

uint64_t copyFromParquet(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target,
                         const std::string& file, bool isList) {
   io::ExternalRequest request;
   request.patterns = {file};
   const io::ExternalTablePtr table = openExternalTable(core, "read_parquet", request);
   checkColumns(target, *table, file, isList);
   const auto execution = planCopy(core, bind, target, table);
   execution->run(0, nullptr);
   finishQuery(core, *execution);
   return execution->rowCount();
}

ParquetSink::ParquetSink(SessionCore& core, const std::string& file, const io::ObjectAccessPtr& access,
                         const io::ParquetOptions& options, CopyProgress& progress)
   : memory_(core.database.governor->ledger()), options_(options), progress_(progress),
     file_(io::openOutput(file, access, memory_)) {}

void ParquetSink::begin(const std::vector<ResultColumn>& columns) {
   if (writer_) return;
   std::vector<io::ExternalColumn> described;
   std::vector<Representation> representations;
   for (const ResultColumn& column : columns) {
      described.push_back({column.name, column.type});
      representations.push_back(column.representation);
   }
   writer_ = io::makeParquetWriter(*file_, described, representations, options_, memory_);
}

void ParquetSink::finish() {
   writer_->finish();
   file_->finish();
}

} // namespace ouzel::engine
