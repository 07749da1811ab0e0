#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/value/batch.hpp"
#include "executor/function/context.hpp"
#include "sql/algebra/columns.hpp"

// Scalar expressions of operators. Expressions are compiled once per plan node into an ExpressionProgram, which workers
// share. Each worker has an ExpressionState of its own.

namespace ouzel::executor {

/// Maps column ids to slots of the batches over which an expression is evaluated.
class ColumnSlots {
public:
   ColumnSlots() = default;
   /// layout[i] is the column in slot i. If a column occurs twice, the first slot counts.
   explicit ColumnSlots(std::span<const sql::ColumnId> layout);
   std::optional<uint32_t> find(sql::ColumnId column) const;

private:
   std::unordered_map<uint32_t, uint32_t> slots_;
};

class ExpressionState;

/// One or more expressions compiled together. Immutable and shared by workers; refers to the catalog's FunctionInfo
/// but not to the Expr trees. Equal subexpressions are evaluated once per batch, constant ones once per state.
class ExpressionProgram {
public:
   /// Throws 0A000 for a function without a kernel. `columns` gives the representations of columns.
   static std::shared_ptr<const ExpressionProgram> compile(const sql::Expr& expr, const ColumnSlots& slots,
                                                           const sql::ColumnTable& columns);
   static std::shared_ptr<const ExpressionProgram> compile(std::span<const sql::Expr* const> exprs,
                                                           const ColumnSlots& slots, const sql::ColumnTable& columns);
   /// The conjunction of `predicates` (none: true), for filter().
   static std::shared_ptr<const ExpressionProgram> compileConjunction(std::span<const sql::ExprPtr> predicates,
                                                                      const ColumnSlots& slots,
                                                                      const sql::ColumnTable& columns);

   /// The value of expression `index` for the rows of `rows`; other rows are unspecified. Raises errors only for rows
   /// of `rows`. The vector may have any encoding and may be a column of the batch. It is valid until the state's next
   /// evaluate(), evaluateAll() or filter().
   Vector evaluate(ExpressionState& state, const Batch& batch, Selection rows, uint32_t index = 0) const;
   /// All expressions at once: out[i] is the value of expression i.
   void evaluateAll(ExpressionState& state, const Batch& batch, Selection rows, Vector* out) const;
   /// The rows for which the boolean expression `index` is true. They are listed in `out`, which has room for
   /// rows.count() rows and may be the list that `rows` refers to. If all rows pass, returns `rows`.
   Selection filter(ExpressionState& state, const Batch& batch, Selection rows, RowIndex* out,
                    uint32_t index = 0) const;

   uint32_t expressionCount() const;
   /// Set if expression `index` is just a column: its slot. evaluate() then returns the batch's vector.
   std::optional<uint32_t> columnSlot(uint32_t index = 0) const;
   Representation representation(uint32_t index = 0) const;
   /// Whether expression `index` cannot fail and has no effect.
   bool isTotal(uint32_t index = 0) const;
   bool isVolatile(uint32_t index = 0) const;

   struct Code;
   const Code& code() const { return *code_; }
   explicit ExpressionProgram(std::unique_ptr<Code> code);
   ~ExpressionProgram();

private:
   std::unique_ptr<Code> code_;
};

/// One worker's memory for one program: result vectors, string arena, dictionary results kept between batches, measured
/// selectivities. Charged to the reservation. Shares ownership of the program. Not thread-safe.
class ExpressionState {
public:
   /// `rowsMax`: of the batches, a multiple of 64.
   ExpressionState(std::shared_ptr<const ExpressionProgram> program, FunctionContext& context, Reservation& memory,
                   uint32_t rowsMax = batchRowsMax);
   ~ExpressionState();
   ExpressionState(ExpressionState&&) noexcept;

   struct Scratch;
   Scratch& scratch() { return *scratch_; }

private:
   std::unique_ptr<Scratch> scratch_;
};

} // namespace ouzel::executor
