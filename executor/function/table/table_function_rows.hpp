#pragma once
#include <memory>
#include <vector>

#include "common/value/value.hpp"
#include "executor/function/table/table_function.hpp"

// What the implementations of table functions share.

namespace ouzel::executor {

/// Rows computed at once and given out in batches. Owns the values that the vectors point into.
class RowList {
public:
   explicit RowList(std::vector<Representation> columns);
   void clear();
   void add(Value value) { values_.push_back(std::move(value)); } ///< row by row, column by column
   uint32_t emit(uint32_t rowsMax, std::span<Vector> columns);

private:
   struct Output {
      std::vector<uint128> data; // aligned, and as wide as the widest value
      ValidityWord validity[validityWords(batchRowsMax)];
   };
   std::vector<Representation> columns_;
   std::vector<Value> values_;
   size_t next_ = 0;
   std::vector<Output> outputs_;
};

// Each gives nothing when the function is not its own; it may take the signature's parts when it is.
std::unique_ptr<TableFunction> makeSeries(TableFunctionSignature& signature, FunctionContext& context);
std::unique_ptr<TableFunction> makeRowLister(TableFunctionSignature& signature, FunctionContext& context);

} // namespace ouzel::executor
