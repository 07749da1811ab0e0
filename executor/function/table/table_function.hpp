#pragma once
#include <memory>
#include <span>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"
#include "executor/function/context.hpp"

// Set-returning functions: generate_series, unnest, regexp_split_to_table, ...

namespace ouzel {
class Reservation;
}
namespace ouzel::catalog {
struct FunctionInfo;
}

namespace ouzel::executor {

/// The function of a call and the types of its arguments and columns.
struct TableFunctionSignature {
   const catalog::FunctionInfo* function = nullptr;
   std::vector<SqlType> argTypes;
   std::vector<Representation> argReprs;
   std::vector<SqlType> resultTypes; ///< one per column of the result
   std::vector<Representation> resultReprs;
};

/// A set-returning function, called by one worker. For each input row: begin() with the row's arguments, then next()
/// until it gives no more rows. Not thread-safe.
class TableFunction {
public:
   virtual ~TableFunction() = default;
   /// Arguments are the values of `args` at `row`; the vectors must stay readable until the last next(). A strict
   /// function with a NULL argument gives no rows.
   virtual void begin(std::span<const Vector> args, uint32_t row) = 0;
   /// Give up to `rowsMax` (≤ batchRowsMax) further rows and return their number; 0: there are no more rows. columns[i]
   /// becomes a vector of these rows, valid until the next call of begin() or next().
   virtual uint32_t next(uint32_t rowsMax, std::span<Vector> columns) = 0;
};

/// Throws 0A000 when the function has no implementation. Texts that the function makes are charged to `memory`.
std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature signature, FunctionContext& context,
                                                 Reservation& memory);

} // namespace ouzel::executor
