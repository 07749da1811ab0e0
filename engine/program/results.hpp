#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/memory/allocation_meter.hpp"
#include "common/type/row.hpp"
#include "engine/program/variables.hpp"

namespace ouzel::engine {

/// The rows that a program returns, as bytes that the ledger knows of. Each is checked as it comes: it has to fit the
/// function's result.
class Results {
public:
   /// `name`: of a column that is the function's value. `expected`: the types of the columns, for a function that
   /// returns records of any kind; none: they are not known, and any row fits.
   Results(SessionCore& core, const sql::program::Program& program, std::string name,
           const std::optional<std::vector<SqlType>>& expected);

   /// Throws 42804 with `mismatch` for its message if the row does not fit.
   void add(std::vector<TypedValue> row, const char* mismatch);
   /// A row of NULLs.
   void addNulls();
   /// Throws 0A000 if the columns are not known: a set of records needs them.
   void requireKnown() const;
   /// Their memory is the caller's.
   std::vector<std::string> take();

private:
   void push(std::string row);

   Oid type_ = oid::record;
   bool isOfAnyKind_ = false;
   std::vector<RowField> columns_;
   std::vector<std::string> rows_;
   size_t bytes_ = 0;
   MemoryCharge memory_;
};

} // namespace ouzel::engine
