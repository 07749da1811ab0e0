#include "executor/operator/join/hash_join_built_rows.hpp"

#include <algorithm>

#include "executor/materialize/row_batch.hpp"

namespace ouzel::executor {

using sql::JoinKind;
using Column = HashJoinShape::Column;

bool givesBuiltRowsLast(JoinKind kind) {
   return kind == JoinKind::Right || kind == JoinKind::Full || kind == JoinKind::RightSemi ||
          kind == JoinKind::RightAnti;
}

BuiltRowGiver::BuiltRowGiver(const HashJoinShape& shape, const HashJoinRows& rows, QueryContext& context)
   : shape_(shape), rows_(rows), rowsMax_(std::clamp(context.settings().batchRows, 1u, batchRowsMax)),
     arena_(&context.memory()), buffers_(shape.outputCount) {
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      if (shape_.columns[c].from != Column::From::Build) continue;
      buffers_[c].data = arena_.allocate(size_t{physicalSize(shape_.columns[c].type)} * batchRowsMax, 16);
      buffers_[c].validity = arena_.allocateArray<ValidityWord>(validityWords(batchRowsMax));
   }
}

void BuiltRowGiver::next(Batch& out) {
   const RowLayout& layout = rows_.layout();
   const bool wanted = shape_.kind == JoinKind::RightSemi;
   const uint32_t read = reader_.next(rowsMax_, found_);
   DCHECK(read <= rowsMax_);
   uint32_t count = 0;
   for (uint32_t i = 0; i < read; ++i) {
      found_[count] = found_[i];
      count += rows_.isMatched(found_[i]) == wanted;
   }
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      const Column& column = shape_.columns[c];
      if (column.from != Column::From::Build) {
         out.columns[c] = absentVector(column.type);
         continue;
      }
      const Buffer& buffer = buffers_[c];
      const bool hasNulls = gatherColumn(layout, column.source, found_, count, false, {buffer.data, buffer.validity});
      out.columns[c] = Vector::flat(column.type, buffer.data, hasNulls ? buffer.validity : nullptr);
   }
   out.setDense(count);
}

namespace {

struct Local final : LocalState {
   Local(const HashJoinShape& shape, const HashJoinRows& rows, QueryContext& context) : giver(shape, rows, context) {}
   BuiltRowGiver giver;
};

} // namespace

uint32_t BuiltRows::workersMax() const {
   return static_cast<uint32_t>(std::min<size_t>(table_.pages().size() + table_.unjoinablePages().size(), 1024));
}

LocalStatePtr BuiltRows::makeLocal(QueryContext& context) {
   return std::make_unique<Local>(shape_, table_.rows(), context);
}

SourceStatus BuiltRows::next(QueryContext&, LocalState& state, Batch& out) {
   auto& local = static_cast<Local&>(state);
   if (local.giver.isAtEnd()) {
      const size_t index = nextPage_.fetch_add(1), joinable = table_.pages().size();
      if (index >= joinable + table_.unjoinablePages().size()) {
         out.setDense(0);
         return SourceStatus::Done;
      }
      local.giver.open(index < joinable ? *table_.pages()[index] : *table_.unjoinablePages()[index - joinable]);
   }
   local.giver.next(out);
   return SourceStatus::HaveOutput;
}

} // namespace ouzel::executor
