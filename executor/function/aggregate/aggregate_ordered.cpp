#include <optional>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"

// Aggregates that get their rows in order: string_agg and array_agg keep what the result will have, mode two values.
// States are never combined.

namespace ouzel::executor {

namespace {

// ---- string_agg ----

struct StringAgg {
   struct State {
      Pieces text;
      bool isSet = false;
   };
   static void append(State& s, const StringView& part, Arena& arena) {
      if (s.text.size() + part.size() > StringView::lengthMax)
         throw SqlError(sqlstate::programLimitExceeded, "result of string_agg is too long");
      s.text.append(part.view(), arena);
   }
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      const Vector &value = input.args[0], &delimiter = input.args[1];
      if (value.isNull(row)) return;
      if (s.isSet && !delimiter.isNull(row)) append(s, delimiter.value<StringView>(row), input.arena);
      s.isSet = true;
      append(s, value.value<StringView>(row), input.arena);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<StringView>()[row] = StringView();
      if (s.text.size() == 0) return;
      char* bytes = static_cast<char*>(result.strings().allocate(s.text.size(), 1));
      s.text.copyTo(bytes);
      result.values<StringView>()[row] = StringView(bytes, static_cast<uint32_t>(s.text.size()));
   }
};

// ---- array_agg ----

/// Values in order of arrival. The bytes of strings lie in the arena.
struct ValueList {
   Pieces values; ///< physicalSize bytes per value, a string as its view
   Pieces nulls;  ///< one byte per value
   uint64_t count = 0, stringBytes = 0;
   PhysicalType type = PhysicalType::I32;
   Oid elementType = invalidOid;
   int32_t typmod = -1; ///< type modifier of the elements

   void add(const Vector& vector, uint32_t row, Arena& arena) {
      type = vector.type;
      const uint32_t width = physicalSize(type);
      const bool isNull = vector.isNull(row);
      if (resultBytes() > StringView::lengthMax)
         throw SqlError(sqlstate::programLimitExceeded, "out of memory").detail("The array exceeds 1 GB.");
      char* target = values.extend(width, arena);
      *nulls.extend(1, arena) = isNull ? 1 : 0;
      ++count;
      if (isNull) {
         std::memset(target, 0, width);
      } else if (isVariableSize(type)) {
         const StringView string = vector.value<StringView>(row);
         stringBytes += string.size();
         const StringView copy = arena.copyString(string.view());
         std::memcpy(target, &copy, sizeof copy);
      } else {
         std::memcpy(target, static_cast<const char*>(vector.data) + size_t{vector.positionOf(row)} * width, width);
      }
   }
   /// Bytes of the elements of the array, unless NULLs and blanks change them.
   uint64_t resultBytes() const {
      return isVariableSize(type) ? stringBytes + count * sizeof(uint32_t) : count * physicalSize(type);
   }
   /// Calls take(values, index, isNull) for each value in order; the value is at `index` of a flat vector.
   template <typename Take>
   void forEach(Take&& take) const {
      const uint32_t width = physicalSize(type);
      std::vector<std::string_view> flags;
      nulls.forEach([&](std::string_view piece) { flags.push_back(piece); });
      size_t flagPiece = 0, flag = 0;
      values.forEach([&](std::string_view piece) {
         const Vector vector = Vector::flat(type, piece.data(), nullptr);
         for (uint32_t i = 0; i < piece.size() / width; ++i, ++flag) {
            if (flag == flags[flagPiece].size()) {
               ++flagPiece;
               flag = 0;
            }
            take(vector, i, flags[flagPiece][flag] != 0);
         }
      });
   }
};

struct ArrayAgg {
   using State = ValueList;
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      if (input.argTypes.empty()) throwInternal("array_agg needs the type of its argument");
      s.elementType = input.argTypes[0].oid;
      s.typmod = input.argTypes[0].typmod;
      s.add(input.args[0], row, input.arena);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      ArrayBuilder array(result.strings(), s.elementType);
      array.reserve(s.resultBytes());
      s.forEach([&](const Vector& values, uint32_t i, bool isNull) {
         if (isNull)
            array.addNull();
         else if (s.elementType == oid::bpchar)
            array.addPadded(values.value<StringView>(i).view(), s.typmod);
         else
            array.add(values, i);
      });
      result.values<StringView>()[row] = array.finish();
   }
};

/// array_agg(anyarray): the result has one more dimension.
struct ArrayStack {
   using State = ValueList;
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      if (input.args[0].isNull(row)) throw SqlError(sqlstate::nullValueNotAllowed, "cannot accumulate null arrays");
      s.add(input.args[0], row, input.arena);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      std::vector<ArrayDimension> shape;
      std::optional<ArrayBuilder> stacked;
      s.forEach([&](const Vector& values, uint32_t i, bool) {
         const ArrayView next(values.value<StringView>(i).view());
         if (!stacked) {
            shape = next.dimensions();
            if (shape.empty()) throw SqlError(sqlstate::arraySubscriptError, "cannot accumulate empty arrays");
            stacked.emplace(result.strings(), next.elementType());
            stacked->reserve(s.stringBytes);
         }
         if (next.dimensions() != shape)
            throw SqlError(sqlstate::arraySubscriptError, "cannot accumulate arrays of different dimensionality");
         stacked->addAll(next);
      });
      shape.insert(shape.begin(), {static_cast<int32_t>(s.count), 1});
      result.values<StringView>()[row] = stacked->finish(shape);
   }
};

// ---- mode: the value with the longest sequence of equal neighbours ----

/// `keyed`: the order of values that do not compare by their bytes; none for others.
template <StringOrder... keyed>
struct Mode {
   struct alignas(16) State {
      KeptValue values[2]; ///< the best one and the current one; they may be the same
      int64_t currentCount = 0, bestCount = 0;
      PhysicalType type = PhysicalType::I32;
      uint8_t current = 0, best = 0;
   };
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      const Vector& arg = input.args[0];
      if (arg.isNull(row)) return;
      s.type = arg.type;
      const auto* value =
          static_cast<const std::byte*>(arg.data) + size_t{arg.positionOf(row)} * physicalSize(arg.type);
      if (s.currentCount == 0 || !isEqual(arg.type, s.values[s.current].value(), value)) {
         if (s.bestCount > 0) s.current = s.best ^ 1;
         s.values[s.current].keep(arg, row, input.arena);
         s.currentCount = 0;
      }
      if (++s.currentCount <= s.bestCount) return;
      s.bestCount = s.currentCount;
      s.best = s.current;
   }
   static bool isEqual(PhysicalType type, const std::byte* a, const std::byte* b) {
      static_assert(sizeof...(keyed) <= 1);
      if constexpr (sizeof...(keyed) == 0) {
         return valueEquality(type)(a, b);
      } else {
         const auto at = [](const std::byte* place) { return *reinterpret_cast<const StringView*>(place); };
         return ((keyed(at(a), at(b)) == 0) && ...);
      }
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.bestCount == 0) return result.setNull(row);
      putValue(s.type, s.values[s.best].value(), row, result);
   }
};

} // namespace

const AggregateKernel* findOrderedAggregate(const AggregateRequest& request) {
   const std::string_view name = request.name;
   if (request.args.empty()) return nullptr;
   if (name == "string_agg") return orderedKernel<StringAgg>;
   if (name == "array_agg") {
      return catalog::builtins().isArray(request.argTypes[0].oid) ? orderedKernel<ArrayStack> : orderedKernel<ArrayAgg>;
   }
   if (name == "mode") {
      const StringOrder keyed = keyedOrder(request.argTypes[0]);
      return keyed == compareBpchar        ? orderedKernel<Mode<compareBpchar>>
             : keyed == compareCaseless    ? orderedKernel<Mode<compareCaseless>>
             : keyed == compareCubeBytes   ? orderedKernel<Mode<compareCubeBytes>>
             : keyed == compareJsonb       ? orderedKernel<Mode<compareJsonb>>
             : keyed == compareRanges      ? orderedKernel<Mode<compareRanges>>
             : keyed == compareMultiranges ? orderedKernel<Mode<compareMultiranges>>
             : keyed                       ? orderedKernel<Mode<compareArrayBytes>>
                                           : orderedKernel<Mode<>>;
   }
   return nullptr;
}

} // namespace ouzel::executor
