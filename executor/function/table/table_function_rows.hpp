#pragma once
#include <memory>
#include <vector>

#include "common/value/value.hpp"
#include "executor/function/table/table_function.hpp"

// Helpers of table functions.

namespace ouzel::executor {

/// Rows that are computed at once and given in batches. Owns the values that the vectors point to.
class RowList {
public:
   explicit RowList(std::vector<Representation> columns);
   void clear();
   void add(Value value) { values_.push_back(std::move(value)); } ///< add the values of a row, column by column
   uint32_t emit(uint32_t rowsMax, std::span<Vector> columns);

private:
   struct Output {
      std::vector<uint128> data; // has the size and alignment of the widest value
      ValidityWord validity[validityWords(batchRowsMax)];
   };
   std::vector<Representation> columns_;
   std::vector<Value> values_;
   size_t next_ = 0;
   std::vector<Output> outputs_;
};

// Each returns null if it does not implement the function. Otherwise it may move parts out of the signature.
std::unique_ptr<TableFunction> makeSeries(TableFunctionSignature& signature, FunctionContext& context);
std::unique_ptr<TableFunction> makeRowLister(TableFunctionSignature& signature, FunctionContext& context);

} // namespace ouzel::executor
