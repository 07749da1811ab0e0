#include "executor/function/table/table_function.hpp"

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/table/table_function_rows.hpp"

namespace ouzel::executor {

// ---- RowList ----

RowList::RowList(std::vector<Representation> columns) : columns_(std::move(columns)), outputs_(columns_.size()) {
   for (Output& output : outputs_)
      output.data.resize(batchRowsMax);
}

void RowList::clear() {
   values_.clear();
   next_ = 0;
}

uint32_t RowList::emit(uint32_t rowsMax, std::span<Vector> columns) {
   const size_t width = columns_.size();
   const size_t total = values_.size() / width;
   const auto count = static_cast<uint32_t>(std::min<size_t>(rowsMax, total - next_));
   for (size_t c = 0; c < width; ++c) {
      Output& output = outputs_[c];
      const PhysicalType type = columns_[c].physical;
      const uint32_t bytes = physicalSize(type);
      bool hasNulls = false;
      std::memset(output.validity, 0xff, sizeof output.validity);
      for (uint32_t i = 0; i < count; ++i) {
         const Value& value = values_[(next_ + i) * width + c];
         std::byte* target = reinterpret_cast<std::byte*>(output.data.data()) + size_t{i} * bytes;
         if (value.isNull) {
            std::memset(target, 0, bytes);
            setValidBit(output.validity, i, false);
            hasNulls = true;
         } else {
            DCHECK(value.type == type);
            value.store(target);
         }
      }
      columns[c] = Vector::flat(type, output.data.data(), hasNulls ? output.validity : nullptr);
   }
   next_ += count;
   return count;
}

// ---- a scalar function in FROM: one row ----

namespace {

class ScalarAsTable : public TableFunction {
public:
   ScalarAsTable(TableFunctionSignature signature, FunctionContext& context, KernelEntry kernel)
      : signature_(std::move(signature)), context_(context), kernel_(kernel) {}

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

std::unique_ptr<TableFunction> makeScalar(TableFunctionSignature& signature, FunctionContext& context) {
   if (signature.function->returnsSet || signature.resultReprs.size() != 1) return nullptr;
   constexpr Oid languageSql = 14;
   const std::string key = signature.function->language == languageSql ? "sql:" + std::string(signature.function->name)
                                                                       : std::string(signature.function->source);
   const KernelEntry* kernel = findKernel(key, signature.argReprs);
   if (!kernel) return nullptr;
   return std::make_unique<ScalarAsTable>(std::move(signature), context, *kernel);
}

} // namespace

std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature signature, FunctionContext& context) {
   const std::string name(signature.function->name);
   for (const auto make : {makeSeries, makeRowLister, makeScalar})
      if (std::unique_ptr<TableFunction> function = make(signature, context)) return function;
   throwNotSupported("function " + name + " in FROM");
}

} // namespace ouzel::executor
