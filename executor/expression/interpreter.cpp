#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "executor/expression/scratch.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/kernel/gather.hpp"
#include "executor/kernel/select.hpp"
#include "executor/kernel/validity.hpp"

// Evaluates nodes, a batch at a time. Dispatch by the kind of node happens once per node and batch; the loops over rows
// are in kernel/ and function/.

namespace ouzel::executor {

namespace {

using Scratch = ExpressionState::Scratch;

Vector flatResult(const Node& node, const Scratch::Buffer& buffer, bool hasNulls) {
   return Vector::flat(node.repr.physical, buffer.data, hasNulls ? buffer.validity : nullptr);
}

bool allConstant(std::span<const Vector> vectors) {
   for (const Vector& vector : vectors)
      if (vector.encoding != Encoding::Constant) return false;
   return true;
}

Vector evaluateCompare(Scratch& s, const Node& node, const Rows& rows) {
   const std::array<Vector, 2> args = {evaluateNode(s, node.args[0], rows), evaluateNode(s, node.args[1], rows)};
   const bool isConstant = allConstant(args);
   const Selection selection = isConstant ? Selection::dense(1) : rows.selection;
   Scratch::Buffer& buffer = s.buffer(node);
   bool hasNulls = false;
   if (!sql::isNullSafe(node.compare))
      hasNulls = combineValidity(args, selection, isConstant ? 1 : s.rowCount, buffer.validity);
   FlagLoan flags(s);
   compareValues(node.compare, args[0], args[1], selection, flags, static_cast<uint8_t*>(buffer.data));
   Vector result = flatResult(node, buffer, hasNulls);
   if (isConstant) result.encoding = Encoding::Constant;
   return result;
}

Vector evaluateNot(Scratch& s, const Node& node, const Rows& rows) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   const bool isConstant = arg.encoding == Encoding::Constant;
   const Selection selection = isConstant ? Selection::dense(1) : rows.selection;
   Scratch::Buffer& buffer = s.buffer(node);
   const bool hasNulls = combineValidity({&arg, 1}, selection, isConstant ? 1 : s.rowCount, buffer.validity);
   const uint8_t* values = arg.values<uint8_t>();
   uint8_t* out = static_cast<uint8_t*>(buffer.data);
   forEachRow(selection, [&](uint32_t row) { out[row] = values[arg.positionOf(row)] ^ 1; });
   Vector result = flatResult(node, buffer, hasNulls);
   if (isConstant) result.encoding = Encoding::Constant;
   return result;
}

/// IS NULL, IS TRUE and similar tests. Never NULL; evaluated as the selection of rows for which the test is true.
Vector evaluateTest(Scratch& s, uint32_t index, const Node& node, const Rows& rows) {
   ListLoan list(s);
   const Selection passed = filterNode(s, index, rows, list);
   uint8_t* out = static_cast<uint8_t*>(s.buffer(node).data);
   std::memset(out, 0, s.rowCount);
   forEachRow(passed, [=](uint32_t row) { out[row] = 1; });
   return Vector::flat(PhysicalType::Bool, out, nullptr);
}

Vector evaluateInSet(Scratch& s, const Node& node, const Rows& rows) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   const bool isConstant = arg.encoding == Encoding::Constant;
   const Selection selection = isConstant ? Selection::dense(1) : rows.selection;
   Scratch::Buffer& buffer = s.buffer(node);
   bool hasNulls = combineValidity({&arg, 1}, selection, isConstant ? 1 : s.rowCount, buffer.validity);
   FlagLoan flags(s);
   HashLoan hashes(s);
   node.set->contains(arg, selection, hashes, flags);
   uint8_t* out = static_cast<uint8_t*>(buffer.data);
   const uint8_t flip = node.negated ? 1 : 0;
   for (uint32_t i = 0; i < selection.count(); ++i)
      out[selection.row(i)] = flags.data()[i] ^ flip;
   if (node.set->hasNull()) { // a row that equals no other constant: NULL
      if (!hasNulls) fillValid(buffer.validity, s.rowCount);
      hasNulls = true;
      for (uint32_t i = 0; i < selection.count(); ++i)
         if (flags.data()[i] == 0) setValidBit(buffer.validity, selection.row(i), false);
   }
   Vector result = flatResult(node, buffer, hasNulls);
   if (isConstant) result.encoding = Encoding::Constant;
   return result;
}

/// Collects the result of CASE or COALESCE from branches that each cover some rows.
class BranchResult {
public:
   BranchResult(Scratch& s, const Node& node) : node_(node), buffer_(s.buffer(node)) {
      std::memset(buffer_.validity, 0, validityWords(s.rowCount) * sizeof(ValidityWord));
   }
   void take(const Vector& value, Selection rows) {
      DCHECK(value.type == node_.repr.physical);
      copyRows(value, rows, buffer_.data, buffer_.validity);
      hasNulls_ |= value.mayHaveNulls();
   }
   void takeNull(Selection rows) {
      // NULL positions must be readable, so their StringViews are emptied.
      if (isVariableSize(node_.repr.physical)) {
         StringView* values = static_cast<StringView*>(buffer_.data);
         forEachRow(rows, [=](uint32_t row) { values[row] = StringView(); });
      }
      hasNulls_ |= rows.count() > 0;
   }
   Vector vector() const { return flatResult(node_, buffer_, hasNulls_); }

private:
   const Node& node_;
   Scratch::Buffer& buffer_;
   bool hasNulls_ = false;
};

Vector evaluateCase(Scratch& s, const Node& node, const Rows& rows) {
   const size_t pairs = node.args.size() / 2;
   const bool hasElse = node.args.size() % 2 == 1;
   ListLoan restList(s), takenList(s);
   Rows rest = rows;
   std::optional<BranchResult> result;
   for (size_t i = 0; i < pairs && rest.selection.count() > 0; ++i) {
      const Selection taken = filterNode(s, node.args[2 * i], rest, takenList);
      if (taken.count() == 0) continue;
      const Rows branch = s.narrow(rest, taken);
      const Vector value = evaluateNode(s, node.args[2 * i + 1], branch);
      if (!result && taken.count() == rows.selection.count()) return value; // all rows take this branch: no copy
      if (!result) result.emplace(s, node);
      result->take(value, taken);
      const uint32_t left =
          taken.count() == rest.selection.count() ? 0 : selectDifference(rest.selection, taken, restList);
      rest = s.narrow(rest, Selection::list(restList, left));
   }
   if (rest.selection.count() > 0) {
      const Vector value = hasElse ? evaluateNode(s, node.args.back(), rest) : nullVector(node.repr.physical);
      if (!result) return value;
      if (hasElse) {
         result->take(value, rest.selection);
      } else {
         result->takeNull(rest.selection);
      }
   }
   return result->vector();
}

Vector evaluateCoalesce(Scratch& s, const Node& node, const Rows& rows) {
   ListLoan restList(s), takenList(s);
   Rows rest = rows;
   std::optional<BranchResult> result;
   for (const uint32_t arg : node.args) {
      const Vector value = evaluateNode(s, arg, rest);
      const uint32_t takenCount = selectNotNull(value, rest.selection, takenList);
      if (!result && takenCount == rows.selection.count()) return value;
      if (takenCount == 0) continue;
      if (!result) result.emplace(s, node);
      const Selection taken = narrowed(rest.selection, takenList, takenCount);
      result->take(value, taken);
      const uint32_t left = selectDifference(rest.selection, taken, restList);
      if (left == 0) return result->vector();
      rest = s.narrow(rest, Selection::list(restList, left));
   }
   if (!result) return nullVector(node.repr.physical);
   result->takeNull(rest.selection);
   return result->vector();
}

Vector evaluateCall(Scratch& s, const Node& node, const Rows& rows) {
   std::array<Vector, 8> few;
   std::vector<Vector> many;
   if (node.args.size() > few.size()) many.resize(node.args.size());
   const std::span<Vector> args = many.empty() ? std::span(few).first(node.args.size()) : std::span(many);
   for (size_t i = 0; i < node.args.size(); ++i)
      args[i] = evaluateNode(s, node.args[i], rows);

   // With constant arguments the value is computed once, as a constant.
   const bool isConstant = !node.isVolatile && allConstant(args);
   Selection selection = isConstant ? Selection::dense(1) : rows.selection;
   const uint32_t rowCount = isConstant ? 1 : s.rowCount;
   Scratch::Buffer& buffer = s.buffer(node);
   bool hasNulls = false;
   std::optional<ListLoan> list;
   if (node.kernel.strict) {
      hasNulls = combineValidity(args, selection, rowCount, buffer.validity);
      if (hasNulls && !node.kernel.total) {
         // The kernel may fail, so it must not see rows with NULLs.
         list.emplace(s);
         const Vector validRows = Vector::flat(PhysicalType::Bool, nullptr, buffer.validity);
         selection = narrowed(selection, *list, selectNotNull(validRows, selection, *list));
         if (selection.count() == 0) return nullVector(node.repr.physical);
      }
   }
   if (!hasNulls) fillValid(buffer.validity, rowCount);
   // Positions that the kernel does not write must be readable.
   if (isVariableSize(node.repr.physical) && hasNulls) std::memset(buffer.data, 0, rowCount * sizeof(StringView));
   ResultVector result(node.repr.physical, buffer.data, buffer.validity, *s.strings);
   const KernelCall call{args,          selection,     rowCount,  s.context,    node.type,
                         node.argTypes, node.argReprs, node.repr, node.function};
   node.kernel.kernel(call, result);
   Vector vector = flatResult(node, buffer, hasNulls || result.hasNulls());
   if (isConstant) vector.encoding = Encoding::Constant;
   return vector;
}

Vector evaluateColumn(Scratch& s, const Node& node) {
   if (s.dictionaryValues) return *s.dictionaryValues;
   DCHECK(node.slot < s.batch->columns.size());
   DCHECK(s.batch->columns[node.slot].type == node.repr.physical);
   return s.batch->columns[node.slot];
}

Vector evaluateUntraced(Scratch& s, uint32_t index, const Node& node, const Rows& rows) {
   switch (node.op) {
   case Op::Column: return evaluateColumn(s, node);
   case Op::Constant: return node.constantVector();
   case Op::Compare: return evaluateCompare(s, node, rows);
   case Op::And:
   case Op::Or: return evaluateConnective(s, node, rows);
   case Op::Not: return evaluateNot(s, node, rows);
   case Op::IsNull:
   case Op::IsNotNull:
   case Op::IsTrue:
   case Op::IsNotTrue:
   case Op::IsFalse:
   case Op::IsNotFalse: return evaluateTest(s, index, node, rows);
   case Op::Case: return evaluateCase(s, node, rows);
   case Op::Coalesce: return evaluateCoalesce(s, node, rows);
   case Op::InSet: return evaluateInSet(s, node, rows);
   case Op::Call: return evaluateCall(s, node, rows);
   case Op::Relabel: return evaluateNode(s, node.args[0], rows);
   case Op::Convert: return evaluateConvert(s, node, rows);
   case Op::TextCast: return evaluateTextCast(s, node, rows);
   case Op::TypmodCast: return evaluateTypmodCast(s, node, rows);
   case Op::Array: return evaluateArray(s, node, rows);
   case Op::Subscript: return evaluateSubscript(s, node, rows);
   case Op::AnyArray: return evaluateAnyArray(s, node, rows);
   }
   throwInternal("unknown expression node");
}

/// An error that knows its context.
struct TracedError final : SqlError {
   explicit TracedError(const SqlError& error) : SqlError(error) {}
};

/// The error as one of a node gets it: with the statements of programs, the innermost first.
TracedError traced(const SqlError& error, const sql::Origin* origin) {
   TracedError result(error);
   for (; origin; origin = origin->outer.get())
      result.addContext(origin->text);
   return result;
}

Vector evaluateOperation(Scratch& s, uint32_t index, const Node& node, const Rows& rows) {
   if (!node.isTraced) return evaluateUntraced(s, index, node, rows);
   try {
      return evaluateUntraced(s, index, node, rows);
   } catch (const TracedError&) {
      throw;
   } catch (const SqlError& error) {
      throw traced(error, node.origin.get());
   }
}

/// Evaluate an invariant node once per state, on one row, and keep the value.
Vector evaluateInvariant(Scratch& s, uint32_t index) {
   Scratch::NodeState& state = s.nodes[index];
   if (state.invariantReady) return state.invariant;
   const Node& node = *s.code.nodes[index];
   const uint32_t rowCount = s.rowCount;
   s.rowCount = 1;
   // Children are invariant, too, and are evaluated by this function; so one row and a new scope suffice.
   const Rows one{Selection::dense(1), s.newScope(Scratch::noScope)};
   Arena* const strings = s.strings;
   s.strings = &s.permanent;
   const Vector value = evaluateOperation(s, index, node, one);
   s.strings = strings;
   s.rowCount = rowCount;
   void* copy = s.permanent.allocate(16);
   const bool isNull = value.isNull(0);
   std::memset(copy, 0, 16);
   if (!isNull) {
      const uint32_t width = physicalSize(node.repr.physical);
      std::memcpy(copy, static_cast<const std::byte*>(value.data) + size_t{value.positionOf(0)} * width, width);
   }
   ValidityWord* validity = nullptr;
   if (isNull) {
      validity = s.permanent.allocateArray<ValidityWord>(1);
      *validity = 0;
   }
   state.invariant = Vector::constant(node.repr.physical, copy, validity);
   state.invariantReady = true;
   return state.invariant;
}

} // namespace

Vector nullVector(PhysicalType type) {
   alignas(16) static constexpr std::byte zeros[16]{};
   static constexpr ValidityWord nothing = 0;
   return Vector::constant(type, zeros, &nothing);
}

Vector evaluateNode(Scratch& s, uint32_t index, const Rows& rows) {
   const Node& node = *s.code.nodes[index];
   if (rows.selection.count() == 0) return nullVector(node.repr.physical);
   if (node.op == Op::Column) return evaluateColumn(s, node);
   if (node.op == Op::Constant) return node.constantVector();
   checkStack();
   if (node.isInvariant) return evaluateInvariant(s, index);
   if (node.uses > 1) {
      const Scratch::NodeState& state = s.nodes[index];
      if (state.memoEpoch == s.epoch && s.isWithin(rows.scope, state.memoScope)) return state.memo;
   }
   Vector value;
   if (std::optional<Vector> viaDictionary = evaluateByDictionary(s, index, rows)) {
      value = *viaDictionary;
   } else {
      value = evaluateOperation(s, index, node, rows);
   }
   if (node.uses > 1) {
      Scratch::NodeState& state = s.nodes[index];
      state.memoEpoch = s.epoch;
      state.memoScope = rows.scope;
      state.memo = value;
   }
   return value;
}

} // namespace ouzel::executor
