#include <algorithm>
#include <arrow/api.h>
#include <arrow/extension/uuid.h>
#include <arrow/util/compression.h>
#include <cstring>
#include <functional>
#include <parquet/arrow/writer.h>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/text_codec.hpp"
#include "io/format/parquet/arrow_bridge.hpp"
#include "io/format/parquet/parquet.hpp"

// Writes Parquet files. Each batch becomes an Arrow record batch, which Arrow encodes into the open row group. A full
// row group is written out.

namespace ouzel::io {

namespace {

constexpr int32_t daysToEpoch = 10'957; // from 1970-01-01 to 2000-01-01
constexpr int64_t microsToEpoch = daysToEpoch * 86'400'000'000LL;

/// Lets Arrow write to an OutputFile. Keeps the file's error for rethrow().
class ArrowOutput final : public arrow::io::OutputStream {
public:
   explicit ArrowOutput(OutputFile& file) : file_(file) {}
   arrow::Status Write(const void* data, int64_t size) override {
      try {
         file_.write({static_cast<const char*>(data), static_cast<size_t>(size)});
      } catch (...) {
         error_ = std::current_exception();
         return arrow::Status::IOError("could not write");
      }
      written_ += size;
      return arrow::Status::OK();
   }
   arrow::Status Close() override {
      isClosed_ = true;
      return arrow::Status::OK();
   }
   arrow::Result<int64_t> Tell() const override { return written_; }
   bool closed() const override { return isClosed_; }
   /// Throws the file's error if it has had one.
   void rethrow() const {
      if (error_) std::rethrow_exception(error_);
   }

private:
   OutputFile& file_;
   std::exception_ptr error_;
   int64_t written_ = 0;
   bool isClosed_ = false;
};

/// Arrow's type of a column and the function that appends the column's values.
struct Encoding {
   std::shared_ptr<arrow::DataType> type;
   /// Appends the rows. Throws 22008 and 22003 for values outside the Arrow type's range.
   std::function<void(arrow::ArrayBuilder&, const Vector&, const Selection&)> append;
};

void check(const arrow::Status& status) {
   if (status.ok()) return;
   if (status.IsOutOfMemory())
      throw SqlError(sqlstate::outOfMemory, "out of memory")
          .detail("Failed while writing Parquet: memory_limit is reached.");
   throw SqlError(sqlstate::ioError, "could not write Parquet: " + status.message());
}

/// An encoding that appends make(value) for each row to a `Builder`.
template <typename Builder, typename Source, typename Make>
Encoding encodeAs(std::shared_ptr<arrow::DataType> type, Make make) {
   return {std::move(type), [make](arrow::ArrayBuilder& base, const Vector& vector, const Selection& rows) {
              auto& builder = static_cast<Builder&>(base);
              check(builder.Reserve(rows.count()));
              for (uint32_t i = 0; i < rows.count(); ++i) {
                 const uint32_t row = rows.row(i);
                 if (vector.isNull(row))
                    check(builder.AppendNull());
                 else
                    check(builder.Append(make(vector.value<Source>(row))));
              }
           }};
}

template <typename Builder, typename Source>
Encoding encodeSame(std::shared_ptr<arrow::DataType> type) {
   return encodeAs<Builder, Source>(std::move(type), [](Source value) { return value; });
}

arrow::Decimal128 decimalOf(int128 value) {
   return arrow::Decimal128(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value));
}

Encoding encodeNumeric(const ExternalColumn& column, Representation representation) {
   const bool isDeclared = column.type.typmod >= 0;
   const NumericModifier declared = numericModifier(column.type.typmod);
   const bool isScaled = representation.physical != PhysicalType::Decimal;
   if (isScaled) {
      // Computed decimals such as sums have no declared precision: 38 digits, with the representation's scale.
      const int32_t scale = representation.scale;
      const int32_t precision = isDeclared && declared.scale == scale ? std::min(declared.precision, 38) : 38;
      if (representation.physical == PhysicalType::I64)
         return encodeAs<arrow::Decimal128Builder, int64_t>(arrow::decimal128(precision, scale),
                                                            [](int64_t value) { return decimalOf(value); });
      return encodeAs<arrow::Decimal128Builder, int128>(arrow::decimal128(precision, scale),
                                                        [](int128 value) { return decimalOf(value); });
   }
   if (!isDeclared || declared.precision > 38 || declared.scale < 0 || declared.scale > declared.precision)
      throw SqlError(sqlstate::featureNotSupported, "column \"" + column.name + "\" of type " +
                                                        formatType(column.type) + " cannot be written to Parquet")
          .hint("Cast it to numeric(p, s) with p <= 38, to double precision or to text.");
   return encodeAs<arrow::Decimal128Builder, StringView>(
       arrow::decimal128(declared.precision, declared.scale), [scale = declared.scale](const StringView& value) {
          const std::optional<int128> scaled = decimal::toInt128(value, scale);
          if (!scaled) throw SqlError(sqlstate::numericValueOutOfRange, "numeric value out of range for Parquet");
          return decimalOf(*scaled);
       });
}

[[noreturn]] void throwInfinite(const char* type) {
   throw SqlError(sqlstate::datetimeFieldOverflow, std::string(type) + " out of range for Parquet");
}

int64_t microsSince1970(int64_t value) {
   int64_t out = 0;
   if (value == INT64_MIN || value == INT64_MAX || __builtin_add_overflow(value, microsToEpoch, &out))
      throwInfinite("timestamp");
   return out;
}

/// Other types are written as their text output.
Encoding encodeText(const SqlType& type, Representation representation) {
   return {
       arrow::utf8(), [type, representation](arrow::ArrayBuilder& base, const Vector& vector, const Selection& rows) {
          auto& builder = static_cast<arrow::StringBuilder&>(base);
          std::string bytes;
          std::vector<uint32_t> ends(rows.count());
          appendTextColumn(bytes, ends.data(), type, representation, vector, rows, SessionFormat());
          uint32_t begin = 0;
          for (uint32_t i = 0; i < rows.count(); begin = ends[i++])
             check(vector.isNull(rows.row(i)) ? builder.AppendNull()
                                              : builder.Append(std::string_view(bytes).substr(begin, ends[i] - begin)));
       }};
}

std::string_view viewOf(const StringView& value) {
   return value.view();
}

Encoding encodingOf(const ExternalColumn& column, Representation representation) {
   const auto unchanged = [](auto value) { return value; };
   switch (column.type.oid) {
   case oid::boolean:
      return encodeAs<arrow::BooleanBuilder, uint8_t>(arrow::boolean(), [](uint8_t value) { return value != 0; });
   case oid::int2: return encodeSame<arrow::Int16Builder, int16_t>(arrow::int16());
   case oid::int4: return encodeSame<arrow::Int32Builder, int32_t>(arrow::int32());
   case oid::int8: return encodeSame<arrow::Int64Builder, int64_t>(arrow::int64());
   case oid::float4: return encodeSame<arrow::FloatBuilder, float>(arrow::float32());
   case oid::float8: return encodeSame<arrow::DoubleBuilder, double>(arrow::float64());
   case oid::numeric: return encodeNumeric(column, representation);
   case oid::date:
      return encodeAs<arrow::Date32Builder, int32_t>(arrow::date32(), [](int32_t day) {
         int32_t out = 0;
         if (day == INT32_MIN || day == INT32_MAX || __builtin_add_overflow(day, daysToEpoch, &out))
            throwInfinite("date");
         return out;
      });
   case oid::time: return encodeAs<arrow::Time64Builder, int64_t>(arrow::time64(arrow::TimeUnit::MICRO), unchanged);
   case oid::timestamp:
      return encodeAs<arrow::TimestampBuilder, int64_t>(arrow::timestamp(arrow::TimeUnit::MICRO), microsSince1970);
   case oid::timestamptz:
      return encodeAs<arrow::TimestampBuilder, int64_t>(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
                                                        microsSince1970);
   case oid::bytea: return encodeAs<arrow::BinaryBuilder, StringView>(arrow::binary(), viewOf);
   case oid::text:
   case oid::varchar:
   case oid::name:
   case oid::json: return encodeAs<arrow::StringBuilder, StringView>(arrow::utf8(), viewOf);
   case oid::uuid:
      return encodeAs<arrow::FixedSizeBinaryBuilder, int128>(arrow::extension::uuid(), [](int128 value) {
         uint128 bits = static_cast<uint128>(value) ^ (static_cast<uint128>(1) << 127);
         std::array<uint8_t, 16> bytes;
         for (size_t i = 16; i-- > 0; bits >>= 8)
            bytes[i] = static_cast<uint8_t>(bits);
         return bytes;
      });
   default: return encodeText(column.type, representation);
   }
}

arrow::Compression::type compressionOf(const std::string& name) {
   if (name == "none" || name == "uncompressed") return arrow::Compression::UNCOMPRESSED;
   if (name == "snappy") return arrow::Compression::SNAPPY;
   if (name == "gzip") return arrow::Compression::GZIP;
   if (name == "zstd") return arrow::Compression::ZSTD;
   if (name == "lz4") return arrow::Compression::LZ4;
   throw SqlError(sqlstate::invalidParameterValue, "compression \"" + name + "\" not recognized")
       .hint("Parquet knows none, snappy, gzip, zstd and lz4.");
}

class ArrowParquetWriter final : public ParquetWriter {
public:
   ArrowParquetWriter(OutputFile& file, const std::vector<ExternalColumn>& columns,
                      const std::vector<Representation>& representations, const ParquetOptions& options,
                      Reservation& memory)
      : pool_(memory), output_(std::make_shared<ArrowOutput>(file)) {
      arrow::FieldVector fields;
      for (size_t i = 0; i < columns.size(); ++i) {
         encodings_.push_back(encodingOf(columns[i], representations[i]));
         fields.push_back(arrow::field(columns[i].name, encodings_.back().type));
      }
      schema_ = arrow::schema(fields);
      run([&] {
         parquet::WriterProperties::Builder properties;
         properties.memory_pool(&pool_);
         properties.created_by("Ouzel");
         properties.compression(compressionOf(options.compression));
         properties.max_row_group_length(options.rowGroupRows);
         ARROW_ASSIGN_OR_RAISE(writer_,
                               parquet::arrow::FileWriter::Open(*schema_, &pool_, output_, properties.build()));
         return arrow::Status::OK();
      });
   }

   void write(const Batch& batch) override {
      if (batch.liveRows() == 0) return;
      arrow::ArrayVector arrays;
      run([&] {
         for (size_t i = 0; i < encodings_.size(); ++i) {
            // An extension type's builder builds its storage type.
            const auto& type = encodings_[i].type;
            const bool isExtension = type->id() == arrow::Type::EXTENSION;
            ARROW_ASSIGN_OR_RAISE(
                const auto builder,
                arrow::MakeBuilder(isExtension ? static_cast<const arrow::ExtensionType&>(*type).storage_type() : type,
                                   &pool_));
            encodings_[i].append(*builder, batch.columns[i], batch.selection);
            ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array, builder->Finish());
            arrays.push_back(isExtension ? arrow::ExtensionType::WrapArray(type, array) : array);
         }
         return writer_->WriteRecordBatch(*arrow::RecordBatch::Make(schema_, batch.liveRows(), std::move(arrays)));
      });
   }
   void finish() override {
      run([&] { return writer_->Close(); });
   }

private:
   void run(const std::function<arrow::Status()>& action) {
      arrow::Status status;
      try {
         status = action();
      } catch (const SqlError&) {
         throw;
      } catch (const std::exception& error) {
         status = arrow::Status::IOError(error.what());
      }
      if (!status.ok()) output_->rethrow();
      check(status);
   }

   LedgerPool pool_;
   std::shared_ptr<ArrowOutput> output_;
   std::vector<Encoding> encodings_;
   std::shared_ptr<arrow::Schema> schema_;
   std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

} // namespace

std::unique_ptr<ParquetWriter> makeParquetWriter(OutputFile& file, const std::vector<ExternalColumn>& columns,
                                                 const std::vector<Representation>& representations,
                                                 const ParquetOptions& options, Reservation& memory) {
   return std::make_unique<ArrowParquetWriter>(file, columns, representations, options, memory);
}

} // namespace ouzel::io
