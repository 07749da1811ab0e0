#include "executor/expression/scratch.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/kernel/select.hpp"
#include "executor/kernel/validity.hpp"

// Predicates as selections: a comparison gives the rows that pass, without an intermediate vector of booleans.

namespace ouzel::executor {

namespace {

using Scratch = ExpressionState::Scratch;

Selection filterAnd(Scratch& s, uint32_t index, const Node& node, const Rows& rows, RowIndex* out) {
   Scratch::NodeState& state = s.nodes[index];
   if (!state.order) {
      state.order = std::make_unique<ConjunctOrder>();
      for (const uint32_t arg : node.args)
         state.order->add(s.code.nodes[arg]->isTotal, s.code.nodes[arg]->isVolatile);
   }
   Rows rest = rows;
   return state.order->apply(rows.selection, [&](uint32_t number, const Selection&) {
      const Selection passed = filterNode(s, node.args[number], rest, out);
      rest = s.narrow(rest, passed);
      return passed;
   });
}

Selection filterOr(Scratch& s, const Node& node, const Rows& rows, RowIndex* out) {
   FlagLoan marks(s);
   ListLoan restList(s), passedList(s);
   std::memset(marks, 0, s.rowCount);
   Rows rest = rows;
   uint32_t passedCount = 0;
   for (const uint32_t arg : node.args) {
      const Selection passed = filterNode(s, arg, rest, passedList);
      if (passed.count() == rows.selection.count()) return rows.selection;
      if (passed.count() == 0) continue;
      forEachRow(passed, [&](uint32_t row) { marks.data()[row] = 1; });
      passedCount += passed.count();
      if (passedCount == rows.selection.count()) return rows.selection;
      if (passed.count() == rest.selection.count()) break;
      const uint32_t left = selectDifference(rest.selection, passed, restList);
      rest = s.narrow(rest, Selection::list(restList, left));
   }
   const Vector marked = Vector::flat(PhysicalType::Bool, marks, nullptr);
   return narrowed(rows.selection, out, selectTrue(marked, rows.selection, out));
}

Selection filterInSet(Scratch& s, const Node& node, const Rows& rows, RowIndex* out) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   if (node.negated && node.set->hasNull()) return Selection::list(out, 0); // x NOT IN (..., NULL) is never true
   Selection selection = narrowed(rows.selection, out, selectNotNull(arg, rows.selection, out));
   if (selection.count() == 0) return selection;
   FlagLoan flags(s);
   HashLoan hashes(s);
   node.set->contains(arg, selection, hashes, flags);
   if (node.negated)
      for (uint32_t i = 0; i < selection.count(); ++i)
         flags.data()[i] ^= 1;
   return narrowed(selection, out, selectFlagged(flags, nullptr, selection, out));
}

/// The rows for which node `index` is false (and not NULL).
Selection filterFalse(Scratch& s, uint32_t index, const Rows& rows, RowIndex* out) {
   const Vector value = evaluateNode(s, index, rows);
   return narrowed(rows.selection, out, selectFalse(value, rows.selection, out));
}

/// The rows that are not in `passed`, whose list is not `out`.
Selection complement(const Rows& rows, Selection passed, RowIndex* out) {
   if (passed.count() == rows.selection.count()) return Selection::list(out, 0);
   return narrowed(rows.selection, out, selectDifference(rows.selection, passed, out));
}

} // namespace

Selection filterNode(Scratch& s, uint32_t index, const Rows& rows, RowIndex* out) {
   const Node& node = *s.code.nodes[index];
   if (rows.selection.count() == 0) return rows.selection;
   const bool isKept = node.uses > 1 && s.nodes[index].memoEpoch == s.epoch;
   if (!isKept && !node.isInvariant) {
      if (std::optional<Vector> flags = evaluateByDictionary(s, index, rows))
         return narrowed(rows.selection, out, selectTrue(*flags, rows.selection, out));
      switch (node.op) {
      case Op::And: return filterAnd(s, index, node, rows, out);
      case Op::Or: return filterOr(s, node, rows, out);
      case Op::Compare: {
         const Vector a = evaluateNode(s, node.args[0], rows), b = evaluateNode(s, node.args[1], rows);
         FlagLoan flags(s);
         return narrowed(rows.selection, out, compareSelect(node.compare, a, b, rows.selection, flags, out));
      }
      case Op::InSet: return filterInSet(s, node, rows, out);
      case Op::Not: return filterFalse(s, node.args[0], rows, out);
      case Op::IsTrue: return filterNode(s, node.args[0], rows, out);
      case Op::IsFalse: return filterFalse(s, node.args[0], rows, out);
      default: break;
      }
   }
   switch (node.op) { // for these tests evaluateNode() calls this function, too
   case Op::IsNull: {
      const Vector value = evaluateNode(s, node.args[0], rows);
      return narrowed(rows.selection, out, selectNull(value, rows.selection, out));
   }
   case Op::IsNotNull: {
      const Vector value = evaluateNode(s, node.args[0], rows);
      return narrowed(rows.selection, out, selectNotNull(value, rows.selection, out));
   }
   case Op::IsTrue: return filterNode(s, node.args[0], rows, out);
   case Op::IsFalse: return filterFalse(s, node.args[0], rows, out);
   case Op::IsNotTrue: {
      ListLoan list(s);
      return complement(rows, filterNode(s, node.args[0], rows, list), out);
   }
   case Op::IsNotFalse: {
      ListLoan list(s);
      return complement(rows, filterFalse(s, node.args[0], rows, list), out);
   }
   default: break;
   }
   const Vector value = evaluateNode(s, index, rows);
   return narrowed(rows.selection, out, selectTrue(value, rows.selection, out));
}

Vector evaluateConnective(Scratch& s, const Node& node, const Rows& rows) {
   // Each argument is evaluated for the rows that are still undecided: false decides AND, true decides OR.
   const uint8_t deciding = node.op == Op::Or ? 1 : 0;
   Scratch::Buffer& buffer = s.buffer(node);
   uint8_t* out = static_cast<uint8_t*>(buffer.data);
   std::memset(out, 1 - deciding, s.rowCount);
   fillValid(buffer.validity, s.rowCount);
   bool hasNulls = false;
   ListLoan restList(s), decidedList(s);
   Rows rest = rows;
   for (const uint32_t arg : node.args) {
      const Vector value = evaluateNode(s, arg, rest);
      const uint32_t decidedCount =
          deciding ? selectTrue(value, rest.selection, decidedList) : selectFalse(value, rest.selection, decidedList);
      if (value.mayHaveNulls()) {
         forEachRow(rest.selection, [&](uint32_t row) {
            if (!value.isNull(row)) return;
            setValidBit(buffer.validity, row, false);
            hasNulls = true;
         });
      }
      if (decidedCount == 0) continue;
      const Selection decided = Selection::list(decidedList, decidedCount);
      forEachRow(decided, [&](uint32_t row) {
         out[row] = deciding;
         setValidBit(buffer.validity, row, true); // the row is decided, despite an earlier NULL
      });
      if (decidedCount == rest.selection.count()) break;
      const uint32_t left = selectDifference(rest.selection, decided, restList);
      rest = s.narrow(rest, Selection::list(restList, left));
   }
   return Vector::flat(PhysicalType::Bool, out, hasNulls ? buffer.validity : nullptr);
}

} // namespace ouzel::executor
