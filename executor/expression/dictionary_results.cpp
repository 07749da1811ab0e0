#include <algorithm>

#include "executor/expression/scratch.hpp"
#include "executor/kernel/gather.hpp"
#include "executor/kernel/validity.hpp"

// A total expression over one dictionary-coded column is evaluated once per dictionary entry. Rows then look up the
// value by their code.

namespace ouzel::executor {

namespace {

using Scratch = ExpressionState::Scratch;

constexpr size_t dictionariesKept = 2; ///< results kept per node: a worker reads one or two row groups at a time

/// Whether to use the slot's dictionary. Decided once per batch and slot, so that all nodes agree. The dictionary pays
/// once it has no more entries than rows were looked up so far, those of this batch included.
bool usesDictionary(Scratch& s, uint32_t slot, const Vector& column, uint32_t rows) {
   Scratch::DictionarySeen& seen = s.dictionariesSeen[slot];
   if (seen.dictionaryId != column.dictionaryId) seen = {column.dictionaryId, 0, 0, false};
   if (seen.epoch == s.epoch) return seen.use;
   seen.epoch = s.epoch;
   seen.rowsSeen += rows;
   seen.use = seen.use || column.dictionarySize <= 2 * seen.rowsSeen;
   return seen.use;
}

void reserve(Scratch& s, DictionaryResult& result, const Node& node, uint32_t size) {
   if (result.capacity >= size) return;
   const uint32_t capacity = (std::max(size, result.capacity * 2) + batchRowsMax - 1) / batchRowsMax * batchRowsMax;
   result.data = s.permanent.allocate(size_t{capacity} * physicalSize(node.repr.physical));
   result.validity = s.permanent.allocateArray<ValidityWord>(validityWords(capacity));
   result.capacity = capacity;
}

void fill(Scratch& s, uint32_t index, const Vector& column, DictionaryResult& result) {
   const Node& node = *s.code.nodes[index];
   const uint32_t width = physicalSize(node.repr.physical);
   reserve(s, result, node, column.dictionarySize);
   if (!result.strings) result.strings = std::make_unique<Arena>(s.memory);
   result.strings->reset();
   result.hasNulls = false;
   result.dictionaryId = 0; // the result is valid only when complete

   const uint32_t rowCount = s.rowCount;
   Arena* const strings = s.strings;
   s.strings = result.strings.get();
   for (uint32_t begin = 0; begin < column.dictionarySize; begin += batchRowsMax) {
      const uint32_t count = std::min(batchRowsMax, column.dictionarySize - begin);
      const Vector entries = Vector::flat(
          column.type, static_cast<const std::byte*>(column.data) + size_t{begin} * physicalSize(column.type),
          column.validity ? column.validity + begin / 64 : nullptr);
      s.dictionaryValues = &entries;
      s.rowCount = count;
      const Rows rows{Selection::dense(count), s.newScope(Scratch::noScope)};
      const Vector values = evaluateNode(s, index, rows);
      s.dictionaryValues = nullptr;
      void* data = static_cast<std::byte*>(result.data) + size_t{begin} * width;
      ValidityWord* validity = result.validity + begin / 64;
      if (gatherDense(values, rows.selection, data, validity)) {
         result.hasNulls = true;
      } else {
         fillValid(validity, count);
      }
      // The stored result outlives the batch, so strings in the batch's memory are copied.
      if (isVariableSize(node.repr.physical))
         copyStrings(static_cast<StringView*>(data), validity, count, *result.strings);
   }
   s.strings = strings;
   s.rowCount = rowCount;
   result.size = column.dictionarySize;
   result.dictionaryId = column.dictionaryId;
}

} // namespace

std::optional<Vector> evaluateByDictionary(Scratch& s, uint32_t index, const Rows& rows) {
   const Node& node = *s.code.nodes[index];
   if (!node.dictionarySlot || s.dictionaryValues) return std::nullopt;
   const Vector& column = s.batch->columns[*node.dictionarySlot];
   if (column.encoding != Encoding::Dictionary || column.dictionaryId == 0) return std::nullopt;
   if (!usesDictionary(s, *node.dictionarySlot, column, rows.selection.count())) return std::nullopt;

   std::vector<DictionaryResult>& kept = s.nodes[index].dictionaries;
   auto found = std::find_if(kept.begin(), kept.end(),
                             [&](const DictionaryResult& r) { return r.dictionaryId == column.dictionaryId; });
   if (found == kept.end()) {
      if (kept.size() < dictionariesKept) kept.emplace_back();
      found = kept.begin() + s.nodes[index].nextDictionary++ % kept.size();
      fill(s, index, column, *found);
   }
   DCHECK(found->size == column.dictionarySize);
   Vector result;
   result.type = node.repr.physical;
   result.encoding = Encoding::Dictionary;
   result.data = found->data;
   result.validity = found->hasNulls ? found->validity : nullptr;
   result.codes = column.codes;
   result.dictionarySize = column.dictionarySize;
   return result;
}

} // namespace ouzel::executor
