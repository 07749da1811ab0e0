#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/thread/interruption.hpp"
#include "common/value/value.hpp"
#include "executor/function/table/table_function.hpp"

// Helpers of table functions.

namespace ouzel::executor {

/// One batch of rows of a table function, written value by value: the columns of the first row, then those of the
/// second. Owns the vectors.
class RowWriter {
public:
   RowWriter(std::vector<Representation> columns, Reservation& memory);
   void clear();
   uint32_t rowCount() const { return next_ / static_cast<uint32_t>(columns_.size()); }

   void addNull();
   /// A value as it lies in a flat vector of `type`. An integer of another width than the column's is converted.
   void add(PhysicalType type, const void* value);
   void add(int32_t value) { add(PhysicalType::I32, &value); }
   void add(bool value) { add(PhysicalType::Bool, &value); }
   /// The text must stay readable until the next clear().
   void addText(std::string_view text);
   /// For texts made for a row; forgotten by clear().
   Arena& strings() { return strings_; }
   /// REQUIRES: the last row is complete. The vectors are valid until the next clear().
   void give(std::span<Vector> columns) const;

private:
   struct Column {
      PhysicalType type;
      bool hasNulls = false;
      std::vector<uint128> data; // has the size and alignment of the widest value
      ValidityWord validity[validityWords(batchRowsMax)];
   };
   std::byte* target(Column& column);

   std::vector<Column> columns_;
   Arena strings_;
   uint32_t next_ = 0; ///< number of values written
};

/// What a set-returning function knows of its call. The arguments are readable until its last row.
struct RowCall {
   std::span<const Vector> args;
   uint32_t row;

   size_t size() const { return args.size(); }
   bool isNull(size_t i) const { return args[i].isNull(row); }
   std::string_view text(size_t i) const { return args[i].value<StringView>(row).view(); }
   template <typename T>
   T value(size_t i) const {
      return args[i].value<T>(row);
   }
};

/// A table function made of `Rows`, which is constructed from a RowCall and whose `bool next(RowWriter&)` adds one row,
/// or returns false if there are no more. `void resume()`, when there is one, is called before the rows of each batch:
/// batches of one call may be made by different threads.
template <typename Rows, bool isStrict = true>
class RowFunction final : public TableFunction {
public:
   RowFunction(std::vector<Representation> columns, Reservation& memory) : out_(std::move(columns), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      rows_.reset();
      if (isStrict)
         for (const Vector& arg : args)
            if (arg.isNull(row)) return;
      rows_.emplace(RowCall{args, row});
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      if (rows_) {
         if constexpr (requires { rows_->resume(); }) rows_->resume();
         while (out_.rowCount() < rowsMax && rows_->next(out_)) {
         }
      }
      out_.give(columns);
      return out_.rowCount();
   }

private:
   std::optional<Rows> rows_;
   RowWriter out_;
};

// Each returns null if it does not implement the function. Otherwise it may move parts out of the signature.
std::unique_ptr<TableFunction> makeSeries(TableFunctionSignature& signature, FunctionContext& context,
                                          Reservation& memory);
std::unique_ptr<TableFunction> makeJsonRows(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory);
std::unique_ptr<TableFunction> makePathRows(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory);
std::unique_ptr<TableFunction> makeAclRows(TableFunctionSignature& signature, FunctionContext& context,
                                           Reservation& memory);
std::unique_ptr<TableFunction> makePartitionRows(TableFunctionSignature& signature, FunctionContext& context,
                                                 Reservation& memory);
std::unique_ptr<TableFunction> makePublicationRows(TableFunctionSignature& signature, FunctionContext& context,
                                                   Reservation& memory);
std::unique_ptr<TableFunction> makeObjectRows(TableFunctionSignature& signature, FunctionContext& context,
                                              Reservation& memory);
std::unique_ptr<TableFunction> makeExtensionRows(TableFunctionSignature& signature, FunctionContext& context,
                                                 Reservation& memory);
std::unique_ptr<TableFunction> makeTextSearchRows(TableFunctionSignature& signature, FunctionContext& context,
                                                  Reservation& memory);
std::unique_ptr<TableFunction> makeSessionRows(TableFunctionSignature& signature, FunctionContext& context,
                                               Reservation& memory);
std::unique_ptr<TableFunction> makeXmlTable(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory);
std::unique_ptr<TableFunction> makeFileRows(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory);
std::unique_ptr<TableFunction> makeRowFunction(TableFunctionSignature& signature, FunctionContext& context,
                                               Reservation& memory);

} // namespace ouzel::executor
