#include "io/format/parquet/parquet_table.hpp"

#include <algorithm>
#include <arrow/api.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "common/error/sql_error.hpp"
#include "io/format/csv/csv_options.hpp"
#include "io/format/parquet/arrow_columns.hpp"

namespace ouzel::io {

namespace {

/// A top-level column of one file and the leaf that stores it.
struct FileColumn {
   ExternalColumn column;
   int leaf;
};

/// Sets the types that only Parquet's logical types tell and Arrow's schema lacks.
void applyLogicalType(const parquet::ColumnDescriptor& leaf, ExternalColumn& column) {
   const auto& logical = leaf.logical_type();
   if (!logical) return;
   if (logical->is_UUID()) column.type = {oid::uuid, -1, invalidOid};
   if (logical->is_JSON()) column.type = {oid::json, -1, invalidOid};
}

std::vector<FileColumn> columnsOf(const ParquetFile& file) {
   std::vector<FileColumn> columns;
   runArrow(file.path, nullptr, [&] {
      parquet::arrow::SchemaManifest manifest;
      ARROW_RETURN_NOT_OK(parquet::arrow::SchemaManifest::Make(
          file.metadata->schema(), file.metadata->key_value_metadata(), parquet::ArrowReaderProperties(), &manifest));
      for (const parquet::arrow::SchemaField& field : manifest.schema_fields) {
         FileColumn made{mapColumn(field.field->name(), *field.field->type()), field.column_index};
         if (!field.is_leaf()) made.column.problem = field.field->type()->ToString();
         if (field.is_leaf() && made.column.problem.empty())
            applyLogicalType(*file.metadata->schema()->Column(field.column_index), made.column);
         columns.push_back(std::move(made));
      }
      return arrow::Status::OK();
   });
   return columns;
}

[[noreturn]] void throwMismatch(const std::string& path, const std::string& what, const std::string& first) {
   throw SqlError(sqlstate::invalidParameterValue,
                  "columns of file \"" + path + "\" are not those of \"" + first + "\": " + what);
}

} // namespace

ParquetTable::ParquetTable(const ExternalRequest& request) {
   for (const ExternalOption& option : request.options)
      throwUnknownOption("read_parquet", option);
   access_ = request.access;
   for (const InputFile& file : findFiles(request.patterns, access_))
      addFile(file);
   if (!request.types.empty())
      throw SqlError(sqlstate::featureNotSupported, "types cannot be given to read_parquet")
          .hint("The file has them; cast its columns.");
   if (!request.names.empty() && request.names.size() != columns_.size())
      throw SqlError(sqlstate::invalidParameterValue, "the files have " + std::to_string(columns_.size()) +
                                                          " columns, but " + std::to_string(request.names.size()) +
                                                          " were named");
   for (size_t i = 0; i < request.names.size(); ++i)
      columns_[i].name = request.names[i];
}

void ParquetTable::addFile(const InputFile& input) {
   ParquetFile file;
   file.path = input.path;
   std::shared_ptr<const ObjectReader> object = openInput(input.path, access_);
   file.size = object->size();
   if (isObjectUrl(file.path)) file.object = object;
   const auto source = std::make_shared<ArrowInput>(std::move(object), arrow::default_memory_pool(), nullptr);
   runArrow(file.path, source.get(), [&] {
      file.metadata = parquet::ParquetFileReader::Open(source)->metadata();
      return arrow::Status::OK();
   });
   std::vector<FileColumn> columns = columnsOf(file);
   if (files_.empty()) {
      for (FileColumn& column : columns) {
         file.leaves.push_back(column.leaf);
         columns_.push_back(std::move(column.column));
      }
   } else {
      if (columns.size() != columns_.size())
         throwMismatch(file.path, std::to_string(columns.size()) + " instead of " + std::to_string(columns_.size()),
                       files_[0]);
      for (const ExternalColumn& wanted : columns_) {
         const auto found = std::find_if(columns.begin(), columns.end(),
                                         [&](const FileColumn& column) { return column.column.name == wanted.name; });
         if (found == columns.end()) throwMismatch(file.path, "there is no \"" + wanted.name + "\"", files_[0]);
         if (found->column.type != wanted.type)
            throwMismatch(file.path,
                          "\"" + wanted.name + "\" is " + formatType(found->column.type) + " instead of " +
                              formatType(wanted.type),
                          files_[0]);
         file.leaves.push_back(found->leaf);
      }
   }
   files_.push_back(file.path);
   estimatedRows_ += static_cast<double>(std::max<int64_t>(0, file.metadata->num_rows()));
   parquetFiles_.push_back(std::move(file));
}

std::unique_ptr<parquet::arrow::FileReader> makeFileReader(const ParquetFile& file,
                                                           const std::shared_ptr<ArrowInput>& input,
                                                           arrow::MemoryPool* pool, int64_t batchRows,
                                                           const std::vector<int>& coded) {
   std::unique_ptr<parquet::arrow::FileReader> reader;
   runArrow(file.path, input.get(), [&] {
      parquet::ReaderProperties properties(pool);
      if (!isObjectUrl(file.path)) {
         // Local files are read through small buffers. Over a network a column chunk is one request.
         properties.enable_buffered_stream();
         properties.set_buffer_size(256 << 10);
      }
      parquet::ArrowReaderProperties arrowProperties(false);
      arrowProperties.set_batch_size(batchRows);
      arrowProperties.set_pre_buffer(false);
      for (const int leaf : coded)
         arrowProperties.set_read_dictionary(leaf, true);
      ARROW_ASSIGN_OR_RAISE(
          reader, parquet::arrow::FileReader::Make(
                      pool, parquet::ParquetFileReader::Open(input, properties, file.metadata), arrowProperties));
      return arrow::Status::OK();
   });
   return reader;
}

bool isCodedText(const parquet::ColumnChunkMetaData& chunk) {
   if (chunk.type() != parquet::Type::BYTE_ARRAY || !chunk.has_dictionary_page()) return false;
   bool hasPages = false;
   for (const parquet::PageEncodingStats& pages : chunk.encoding_stats()) {
      if (pages.page_type != parquet::PageType::DATA_PAGE && pages.page_type != parquet::PageType::DATA_PAGE_V2)
         continue;
      hasPages = true;
      if (pages.count > 0 && pages.encoding != parquet::Encoding::RLE_DICTIONARY &&
          pages.encoding != parquet::Encoding::PLAIN_DICTIONARY)
         return false;
   }
   return hasPages;
}

bool chunkRange(const parquet::ColumnChunkMetaData& chunk, uint64_t fileSize, uint64_t& offset, uint64_t& size) {
   int64_t begin = chunk.data_page_offset();
   if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0 && chunk.dictionary_page_offset() < begin)
      begin = chunk.dictionary_page_offset();
   const int64_t length = chunk.total_compressed_size();
   if (begin < 0 || length < 0 || static_cast<uint64_t>(begin) > fileSize ||
       static_cast<uint64_t>(length) > fileSize - static_cast<uint64_t>(begin))
      return false;
   offset = static_cast<uint64_t>(begin);
   size = static_cast<uint64_t>(length);
   return true;
}

ChunkBounds boundsOf(const ParquetFile& file, const ExternalColumn& column, int rowGroup, int leaf) {
   ChunkBounds bounds;
   try {
      const auto group = file.metadata->RowGroup(rowGroup);
      const std::shared_ptr<parquet::Statistics> statistics = group->ColumnChunk(leaf)->statistics();
      if (!statistics) return bounds;
      bounds.allNull = statistics->HasNullCount() && statistics->null_count() == group->num_rows();
      if (!statistics->HasMinMax()) return bounds;
      std::shared_ptr<arrow::Scalar> min, max;
      if (!parquet::arrow::StatisticsAsScalars(*statistics, &min, &max).ok() || !min || !max) return bounds;
      ColumnConverter converter(column, file.path);
      const auto valueOf = [&](const arrow::Scalar& scalar) {
         const auto array = arrow::MakeArrayFromScalar(scalar, 1);
         if (!array.ok() || mapColumn("", *(*array)->type()).type.oid != column.type.oid) return Value();
         return Value::fromVector(converter.convert(**array, 0, 1), 0);
      };
      bounds.min = valueOf(*min);
      bounds.max = valueOf(*max);
   } catch (const std::exception&) { // bounds stay unknown; a scan that decodes the chunk reports the error
      bounds.min = bounds.max = Value();
   }
   return bounds;
}

ExternalTablePtr openParquet(const ExternalRequest& request) {
   return std::make_shared<const ParquetTable>(request);
}

} // namespace ouzel::io
