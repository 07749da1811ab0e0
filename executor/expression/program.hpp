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

// Scalar expressions as operators run them: compiled once per plan node into a program that workers share, each with a
// state of its own.

namespace ouzel::executor {

/// Where an expression finds its columns: the slot of each column id in the batches it will be given.
class ColumnSlots {
public:
   ColumnSlots() = default;
   /// layout[i] is the column in slot i; of a repeated column the first slot counts.
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
   /// Throws 0A000 for what has no kernel. `columns` gives the representation of the columns read.
   static std::shared_ptr<const ExpressionProgram> compile(const sql::Expr& expr, const ColumnSlots& slots,
                                                           const sql::ColumnTable& columns);
   static std::shared_ptr<const ExpressionProgram> compile(std::span<const sql::Expr* const> exprs,
                                                           const ColumnSlots& slots, const sql::ColumnTable& columns);
   /// The conjunction of `predicates` (none: true), for filter().
   static std::shared_ptr<const ExpressionProgram> compileConjunction(std::span<const sql::ExprPtr> predicates,
                                                                      const ColumnSlots& slots,
                                                                      const sql::ColumnTable& columns);

   /// Value of expression `index` for the rows of `rows`; other rows are unspecified. Raises errors only for these
   /// rows. The vector may be of any encoding, may be a column of the batch itself, and lives until the state's next
   /// evaluate, evaluateAll or filter.
   Vector evaluate(ExpressionState& state, const Batch& batch, Selection rows, uint32_t index = 0) const;
   /// All expressions at once: out[i] is the value of expression i.
   void evaluateAll(ExpressionState& state, const Batch& batch, Selection rows, Vector* out) const;
   /// Rows for which the boolean expression `index` is true. The list goes to `out` (room for rows.count(); it may be
   /// the very list `rows` reads) unless all rows pass, which gives back `rows`.
   Selection filter(ExpressionState& state, const Batch& batch, Selection rows, RowIndex* out,
                    uint32_t index = 0) const;

   uint32_t expressionCount() const;
   /// Set when expression `index` is just this slot: evaluate() passes the column through.
   std::optional<uint32_t> columnSlot(uint32_t index = 0) const;
   Representation representation(uint32_t index = 0) const;

   struct Code;
   const Code& code() const { return *code_; }
   explicit ExpressionProgram(std::unique_ptr<Code> code);
   ~ExpressionProgram();

private:
   std::unique_ptr<Code> code_;
};

/// Scratch of one worker for one program: result vectors, string arena, dictionary results kept between batches,
/// measured selectivities. Memory is charged to the reservation. Not thread-safe; must not outlive the program.
class ExpressionState {
public:
   ExpressionState(std::shared_ptr<const ExpressionProgram> program, FunctionContext& context,
                   Reservation* memory = nullptr);
   ~ExpressionState();
   ExpressionState(ExpressionState&&) noexcept;

   struct Scratch;
   Scratch& scratch() { return *scratch_; }

private:
   std::unique_ptr<Scratch> scratch_;
};

} // namespace ouzel::executor
