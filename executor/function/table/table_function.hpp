#pragma once
#include <memory>
#include <span>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"
#include "executor/function/context.hpp"

// Set-returning functions: generate_series, unnest, regexp_split_to_table and their like.

namespace ouzel::catalog {
struct FunctionInfo;
}

namespace ouzel::executor {

/// What a call knows before the first row.
struct TableFunctionSignature {
   const catalog::FunctionInfo* function = nullptr;
   std::vector<SqlType> argTypes;
   std::vector<Representation> argReprs;
   std::vector<SqlType> resultTypes; ///< one per column given
   std::vector<Representation> resultReprs;
};

/// One worker's use of a set-returning function: begin() with the arguments of an input row, then next() until it
/// gives no more rows; then begin() for the next input row. Not thread-safe.
class TableFunction {
public:
   virtual ~TableFunction() = default;
   /// Arguments are the values of `args` at `row`; they stay readable until the last next(). A strict function with a
   /// NULL argument gives no rows.
   virtual void begin(std::span<const Vector> args, uint32_t row) = 0;
   /// Up to `rowsMax` (≤ batchRowsMax) more rows: columns[i] becomes a vector of that many rows, valid until the next
   /// call of begin() or next(). 0: no more.
   virtual uint32_t next(uint32_t rowsMax, std::span<Vector> columns) = 0;
};

/// Throws 0A000 when the function has no implementation.
std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature signature, FunctionContext& context);

} // namespace ouzel::executor
