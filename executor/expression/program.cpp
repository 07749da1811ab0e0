#include "executor/expression/program.hpp"

#include "executor/expression/scratch.hpp"

namespace ouzel::executor {

using Scratch = ExpressionState::Scratch;

ColumnSlots::ColumnSlots(std::span<const sql::ColumnId> layout) {
   for (uint32_t slot = 0; slot < layout.size(); ++slot)
      slots_.emplace(static_cast<uint32_t>(layout[slot]), slot); // keeps the first slot; a CTE may repeat a column
}

std::optional<uint32_t> ColumnSlots::find(sql::ColumnId column) const {
   const auto it = slots_.find(static_cast<uint32_t>(column));
   return it == slots_.end() ? std::nullopt : std::optional(it->second);
}

Scratch::Scratch(std::shared_ptr<const ExpressionProgram> p, FunctionContext& c, Reservation* reservation,
                 uint32_t most)
   : program(std::move(p)), code(program->code()), context(c), memory(reservation), rowsMax(most),
     permanent(reservation), batchStrings(reservation), buffers(code.bufferValueSizes.size()),
     nodes(code.nodes.size()) {}

void Scratch::beginBatch(const Batch& b) {
   DCHECK(b.rowCount <= rowsMax);
   ++epoch;
   batch = &b;
   rowCount = b.rowCount;
   // An error in the previous batch may have left these members changed.
   strings = &batchStrings;
   dictionaryValues = nullptr;
   batchStrings.reset();
   scopeParents.clear();
   newScope(noScope);
}

Scratch::Buffer& Scratch::buffer(const Node& node) {
   DCHECK(node.buffer != noBuffer);
   Buffer& result = buffers[node.buffer];
   if (result.data == nullptr) {
      const size_t bytes = size_t{rowsMax} * code.bufferValueSizes[node.buffer];
      result.data = permanent.allocate(bytes, 64);
      std::memset(result.data, 0, bytes); // rows that are never written must be readable
      result.validity = permanent.allocateArray<ValidityWord>(validityWords(rowsMax));
   }
   return result;
}

ExpressionState::ExpressionState(std::shared_ptr<const ExpressionProgram> program, FunctionContext& context,
                                 Reservation& memory, uint32_t rowsMax)
   : scratch_(std::make_unique<Scratch>(std::move(program), context, &memory, rowsMax)) {}
ExpressionState::~ExpressionState() = default;
ExpressionState::ExpressionState(ExpressionState&&) noexcept = default;

ExpressionProgram::ExpressionProgram(std::unique_ptr<Code> code) : code_(std::move(code)) {}
ExpressionProgram::~ExpressionProgram() = default;

Vector ExpressionProgram::evaluate(ExpressionState& state, const Batch& batch, Selection rows, uint32_t index) const {
   Scratch& s = state.scratch();
   DCHECK(s.program.get() == this);
   DCHECK(index < code_->roots.size());
   DCHECK(rows.count() <= batch.rowCount);
   s.beginBatch(batch);
   return evaluateNode(s, code_->roots[index], {rows, 0});
}

void ExpressionProgram::evaluateAll(ExpressionState& state, const Batch& batch, Selection rows, Vector* out) const {
   Scratch& s = state.scratch();
   DCHECK(s.program.get() == this);
   s.beginBatch(batch);
   for (size_t i = 0; i < code_->roots.size(); ++i)
      out[i] = evaluateNode(s, code_->roots[i], {rows, 0});
}

Selection ExpressionProgram::filter(ExpressionState& state, const Batch& batch, Selection rows, RowIndex* out,
                                    uint32_t index) const {
   Scratch& s = state.scratch();
   DCHECK(s.program.get() == this);
   DCHECK(index < code_->roots.size());
   DCHECK(code_->nodes[code_->roots[index]]->repr.physical == PhysicalType::Bool);
   s.beginBatch(batch);
   return filterNode(s, code_->roots[index], {rows, 0}, out);
}

uint32_t ExpressionProgram::expressionCount() const {
   return static_cast<uint32_t>(code_->roots.size());
}

std::optional<uint32_t> ExpressionProgram::columnSlot(uint32_t index) const {
   DCHECK(index < code_->roots.size());
   const Node* node = code_->nodes[code_->roots[index]].get();
   while (node->op == Op::Relabel)
      node = code_->nodes[node->args[0]].get();
   return node->op == Op::Column ? std::optional(node->slot) : std::nullopt;
}

Representation ExpressionProgram::representation(uint32_t index) const {
   return code_->nodes[code_->roots[index]]->repr;
}

bool ExpressionProgram::isTotal(uint32_t index) const {
   return code_->nodes[code_->roots[index]]->isTotal;
}
bool ExpressionProgram::isVolatile(uint32_t index) const {
   return code_->nodes[code_->roots[index]]->isVolatile;
}

} // namespace ouzel::executor
