#include "executor/function/table/table_function.hpp"

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/table/table_function_rows.hpp"

namespace ouzel::executor {

// ---- RowWriter ----

RowWriter::RowWriter(std::vector<Representation> columns, Reservation& memory)
   : columns_(columns.size()), strings_(&memory) {
   for (size_t c = 0; c < columns.size(); ++c) {
      columns_[c].type = columns[c].physical;
      columns_[c].data.resize(batchRowsMax);
      std::memset(columns_[c].validity, 0xff, sizeof columns_[c].validity);
   }
}

void RowWriter::clear() {
   next_ = 0;
   strings_.reset();
   for (Column& column : columns_) {
      if (column.hasNulls) std::memset(column.validity, 0xff, sizeof column.validity);
      column.hasNulls = false;
   }
}

std::byte* RowWriter::target(Column& column) {
   DCHECK(rowCount() < batchRowsMax);
   return reinterpret_cast<std::byte*>(column.data.data()) + size_t{rowCount()} * physicalSize(column.type);
}

void RowWriter::addNull() {
   Column& column = columns_[next_ % columns_.size()];
   std::memset(target(column), 0, physicalSize(column.type));
   setValidBit(column.validity, rowCount(), false);
   column.hasNulls = true;
   ++next_;
}

void RowWriter::add(PhysicalType type, const void* value) {
   Column& column = columns_[next_ % columns_.size()];
   if (type == column.type) {
      std::memcpy(target(column), value, physicalSize(type));
   } else {
      Value converted = Value::fromVector(Vector::flat(type, value, nullptr), 0);
      converted.type = column.type; // integers of all widths use the same member of Value
      converted.store(target(column));
   }
   ++next_;
}

void RowWriter::addText(std::string_view text) {
   const StringView value(text);
   add(PhysicalType::String, &value);
}

void RowWriter::give(std::span<Vector> columns) const {
   DCHECK(next_ % columns_.size() == 0);
   for (size_t c = 0; c < columns_.size(); ++c)
      columns[c] = Vector::flat(columns_[c].type, columns_[c].data.data(),
                                columns_[c].hasNulls ? columns_[c].validity : nullptr);
}

// ---- a scalar function in FROM: one row ----

namespace {

class ScalarAsTable : public TableFunction {
public:
   ScalarAsTable(TableFunctionSignature signature, FunctionContext& context, Reservation& memory, KernelEntry kernel)
      : signature_(std::move(signature)), context_(context), kernel_(kernel), strings_(&memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      strings_.reset();
      isDone_ = false;
      validity_ = ~ValidityWord{0};
      std::vector<Vector> values;
      bool anyNull = false;
      for (const Vector& arg : args) { // the row's values as constant vectors
         const size_t position = arg.positionOf(row);
         static constexpr ValidityWord nothing = 0;
         const bool isNull = arg.isNull(row);
         anyNull |= isNull;
         values.push_back(Vector::constant(arg.type,
                                           static_cast<const std::byte*>(arg.data) + position * physicalSize(arg.type),
                                           isNull ? &nothing : nullptr));
      }
      std::memset(data_, 0, sizeof data_);
      if (kernel_.strict && anyNull) {
         validity_ = 0;
         return;
      }
      ResultVector result(signature_.resultReprs[0].physical, data_, &validity_, strings_);
      kernel_.kernel({values, Selection::dense(1), 1, context_, signature_.resultTypes[0], signature_.argTypes,
                      signature_.argReprs, signature_.resultReprs[0], signature_.function->oid},
                     result);
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      if (isDone_ || rowsMax == 0) return 0;
      isDone_ = true;
      columns[0] = Vector::flat(signature_.resultReprs[0].physical, data_, &validity_);
      return 1;
   }

private:
   TableFunctionSignature signature_;
   FunctionContext& context_;
   KernelEntry kernel_;
   Arena strings_;
   alignas(16) std::byte data_[16];
   ValidityWord validity_ = 0;
   bool isDone_ = true;
};

std::unique_ptr<TableFunction> makeScalar(TableFunctionSignature& signature, FunctionContext& context,
                                          Reservation& memory) {
   if (signature.function->returnsSet || signature.resultReprs.size() != 1) return nullptr;
   constexpr Oid languageSql = 14;
   const std::string key = signature.function->language == languageSql ? "sql:" + std::string(signature.function->name)
                                                                       : std::string(signature.function->source);
   const KernelEntry* kernel = findKernel(key, signature.argReprs);
   if (!kernel) return nullptr;
   return std::make_unique<ScalarAsTable>(std::move(signature), context, memory, *kernel);
}

} // namespace

std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature signature, FunctionContext& context,
                                                 Reservation& memory) {
   const std::string name(signature.function->name);
   for (const auto make : {makeSeries, makeRowFunction, makeJsonRows, makePathRows, makeAclRows, makePartitionRows,
                           makeObjectRows, makeSessionRows, makeExtensionRows, makeTextSearchRows, makePublicationRows,
                           makeFileRows, makeXmlTable, makeScalar})
      if (std::unique_ptr<TableFunction> function = make(signature, context, memory)) return function;
   throwNotSupported("function " + name + " in FROM");
}

} // namespace ouzel::executor
