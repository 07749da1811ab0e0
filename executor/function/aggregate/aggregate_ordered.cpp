#include <cmath>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "common/type/date_time_math.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"

// Aggregates that get their rows in order and keep them: string_agg, array_agg, percentile_disc, percentile_cont, mode.
// States are never combined.

namespace ouzel::executor {

namespace {

// ---- string_agg ----

struct StringAgg {
   struct State {
      Growing text;
      bool isSet = false;
   };
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      const Vector &value = input.args[0], &delimiter = input.args[1];
      if (value.isNull(row)) return;
      if (s.isSet && !delimiter.isNull(row)) s.text.append(delimiter.value<StringView>(row).view(), input.arena);
      s.isSet = true;
      s.text.append(value.value<StringView>(row).view(), input.arena);
      if (s.text.size > StringView::lengthMax)
         throw SqlError(sqlstate::programLimitExceeded, "result of string_agg is too long");
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<StringView>()[row] = result.strings().copyString({s.text.data, s.text.size});
   }
};

// ---- a list of values, for array_agg and percentiles ----

struct ValueList {
   Growing values; ///< physicalSize bytes per value; the bytes of strings lie in the arena
   Growing nulls;  ///< one byte per value
   uint32_t count = 0;
   PhysicalType type = PhysicalType::I32;
   Oid elementType = invalidOid;
   int32_t typmod = -1; ///< type modifier of the elements

   void add(const Vector& vector, uint32_t row, Arena& arena) {
      type = vector.type;
      const uint32_t width = physicalSize(type);
      const bool isNull = vector.isNull(row);
      *nulls.extend(1, arena) = isNull ? 1 : 0;
      char* target = values.extend(width, arena);
      ++count;
      if (isNull) {
         std::memset(target, 0, width);
      } else if (isVariableSize(type)) {
         const StringView copy = arena.copyString(vector.value<StringView>(row).view());
         std::memcpy(target, &copy, sizeof copy);
      } else {
         std::memcpy(target, static_cast<const char*>(vector.data) + size_t{vector.positionOf(row)} * width, width);
      }
   }
   bool isNull(uint32_t index) const { return nulls.data[index] != 0; }
   template <typename T>
   T at(uint32_t index) const {
      T value;
      std::memcpy(&value, values.data + size_t{index} * sizeof(T), sizeof(T));
      return value;
   }
   /// As an element of an array, which has the blanks of character(n).
   Value element(uint32_t index) const {
      if (isNull(index)) return Value::null(type);
      Value value = Value::fromVector(Vector::flat(type, values.data, nullptr), index);
      if (elementType != oid::bpchar) return value;
      std::string text;
      appendWithBlanks(text, value.bytes, typmod);
      value.bytes = std::move(text);
      return value;
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
      const Vector values = Vector::flat(s.type, s.values.data, nullptr);
      for (uint32_t i = 0; i < s.count; ++i) {
         if (s.isNull(i))
            array.addNull();
         else if (s.elementType == oid::bpchar)
            array.addPadded(s.at<StringView>(i).view(), s.typmod);
         else
            array.add(values, i);
      }
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
      const ArrayView first(s.at<StringView>(0).view());
      std::vector<ArrayDimension> shape = first.dimensions();
      if (shape.empty()) throw SqlError(sqlstate::arraySubscriptError, "cannot accumulate empty arrays");
      ArrayBuilder stacked(result.strings(), first.elementType());
      for (uint32_t i = 0; i < s.count; ++i) {
         const ArrayView next(s.at<StringView>(i).view());
         if (next.dimensions() != shape)
            throw SqlError(sqlstate::arraySubscriptError, "cannot accumulate arrays of different dimensionality");
         stacked.addAll(next);
      }
      shape.insert(shape.begin(), {static_cast<int32_t>(s.count), 1});
      result.values<StringView>()[row] = stacked.finish(shape);
   }
};

// ---- percentiles ----

/// args[0] the ordered column, args[1] the fraction or an array of fractions (the same in every row).
struct PercentileState {
   ValueList list;
   StringView fractions; ///< bytes of the array, if the fraction is an array
   double fraction = 0;
   bool hasFraction = false, isArray = false, isFractionNull = false;

   void add(const AggregateInput& input, uint32_t row) {
      if (!hasFraction) {
         hasFraction = true;
         const Vector& given = input.args[1];
         isFractionNull = given.isNull(row);
         isArray = given.type == PhysicalType::String;
         if (!isFractionNull && isArray) fractions = input.arena.copyString(given.value<StringView>(row).view());
         if (!isFractionNull && !isArray) fraction = checked(given.value<double>(row));
      }
      if (input.args[0].isNull(row)) return;
      if (!input.argTypes.empty()) {
         list.elementType = input.argTypes[0].oid;
         list.typmod = input.argTypes[0].typmod;
      }
      list.add(input.args[0], row, input.arena);
   }
   static double checked(double fraction) {
      if (std::isnan(fraction) || fraction < 0 || fraction > 1) {
         std::string text = std::to_string(fraction);
         if (text.find('.') != std::string::npos) {
            while (text.back() == '0')
               text.pop_back();
            if (text.back() == '.') text.pop_back();
         }
         throw SqlError(sqlstate::numericValueOutOfRange, "percentile value " + text + " is not between 0 and 1");
      }
      return fraction;
   }
   bool isNullResult() const { return list.count == 0 || isFractionNull; }

   template <typename Pick>
   StringView arrayResult(Oid elementType, Arena& arena, Pick&& pick) const {
      ArrayValue array = readArray(fractions.view());
      array.physical = list.type;
      array.elementType = elementType;
      for (Value& element : array.elements)
         element = element.isNull ? Value::null(list.type) : pick(checked(element.f64));
      return arena.copyString(makeArray(array));
   }
};

struct PercentileDisc {
   using State = PercentileState;
   static void add(State& s, const AggregateInput& input, uint32_t row) { s.add(input, row); }
   static uint32_t indexOf(const State& s, double fraction) {
      const auto rank = static_cast<int64_t>(std::ceil(fraction * s.list.count));
      return static_cast<uint32_t>(rank < 1 ? 0 : rank - 1);
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.isNullResult()) return result.setNull(row);
      if (s.isArray) {
         result.values<StringView>()[row] = s.arrayResult(s.list.elementType, result.strings(), [&](double fraction) {
            return s.list.element(indexOf(s, fraction));
         });
         return;
      }
      const uint32_t index = indexOf(s, s.fraction), width = physicalSize(s.list.type);
      if (isVariableSize(s.list.type)) {
         result.values<StringView>()[row] = result.strings().copyString(s.list.at<StringView>(index).view());
         return;
      }
      std::byte* out = nullptr;
      switch (width) {
      case 1: out = reinterpret_cast<std::byte*>(result.values<uint8_t>()); break;
      case 2: out = reinterpret_cast<std::byte*>(result.values<int16_t>()); break;
      case 4: out = reinterpret_cast<std::byte*>(result.values<int32_t>()); break;
      case 8: out = reinterpret_cast<std::byte*>(result.values<int64_t>()); break;
      default: out = reinterpret_cast<std::byte*>(result.values<int128>()); break;
      }
      std::memcpy(out + size_t{row} * width, s.list.values.data + size_t{index} * width, width);
   }
};

template <typename T>
T interpolate(T low, T high, double fraction) {
   if constexpr (std::is_same_v<T, double>) {
      return low + fraction * (high - low);
   } else {
      return addIntervals(low, multiplyInterval(subtractIntervals(high, low), fraction));
   }
}
template <typename T>
struct PercentileCont {
   using State = PercentileState;
   static void add(State& s, const AggregateInput& input, uint32_t row) { s.add(input, row); }
   static T pick(const State& s, double fraction) {
      const double place = fraction * (s.list.count - 1);
      const auto first = static_cast<uint32_t>(std::floor(place)), second = static_cast<uint32_t>(std::ceil(place));
      const T low = s.list.at<T>(first);
      if (first == second) return low;
      return interpolate(low, s.list.at<T>(second), place - first);
   }
   static Value valueOf(T v) {
      if constexpr (std::is_same_v<T, double>) {
         return Value::real(PhysicalType::F64, v);
      } else {
         return Value::ofInterval(v);
      }
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.isNullResult()) return result.setNull(row);
      if (s.isArray) {
         result.values<StringView>()[row] =
             s.arrayResult(s.list.elementType, result.strings(), [&](double f) { return valueOf(pick(s, f)); });
      } else {
         result.values<T>()[row] = pick(s, s.fraction);
      }
   }
};

// ---- mode: the value with the longest sequence of equal neighbours ----

/// `keyed`: the order of values that do not compare by their bytes; none for others.
template <StringOrder... keyed>
struct Mode {
   struct alignas(16) State {
      std::byte current[16]{}, best[16]{};
      int64_t currentCount = 0, bestCount = 0;
      PhysicalType type = PhysicalType::I32;
   };
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      const Vector& arg = input.args[0];
      if (arg.isNull(row)) return;
      s.type = arg.type;
      const uint32_t width = physicalSize(arg.type);
      const auto* value = static_cast<const std::byte*>(arg.data) + size_t{arg.positionOf(row)} * width;
      if (s.currentCount == 0 || !isCurrent(s, arg.type, value)) {
         std::memcpy(s.current, value, width);
         if (isVariableSize(arg.type)) {
            const StringView copy = input.arena.copyString(arg.value<StringView>(row).view());
            std::memcpy(s.current, &copy, sizeof copy);
         }
         s.currentCount = 0;
      }
      if (++s.currentCount <= s.bestCount) return;
      s.bestCount = s.currentCount;
      std::memcpy(s.best, s.current, 16);
   }
   static bool isCurrent(const State& s, PhysicalType type, const std::byte* value) {
      static_assert(sizeof...(keyed) <= 1);
      if constexpr (sizeof...(keyed) == 0) {
         return valueEquality(type)(s.current, value);
      } else {
         const auto at = [](const std::byte* place) { return *reinterpret_cast<const StringView*>(place); };
         return ((keyed(at(s.current), at(value)) == 0) && ...);
      }
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.bestCount == 0) return result.setNull(row);
      if (isVariableSize(s.type)) {
         StringView value;
         std::memcpy(static_cast<void*>(&value), s.best, sizeof value);
         result.values<StringView>()[row] = result.strings().copyString(value.view());
         return;
      }
      switch (physicalSize(s.type)) {
      case 1: std::memcpy(result.values<uint8_t>() + row, s.best, 1); break;
      case 2: std::memcpy(result.values<int16_t>() + row, s.best, 2); break;
      case 4: std::memcpy(result.values<int32_t>() + row, s.best, 4); break;
      case 8: std::memcpy(result.values<int64_t>() + row, s.best, 8); break;
      default: std::memcpy(result.values<int128>() + row, s.best, 16); break;
      }
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
      return keyed == compareBpchar  ? orderedKernel<Mode<compareBpchar>>
             : keyed == compareJsonb ? orderedKernel<Mode<compareJsonb>>
             : keyed                 ? orderedKernel<Mode<compareArrayBytes>>
                                     : orderedKernel<Mode<>>;
   }
   if (name == "percentile_disc") return orderedKernel<PercentileDisc>;
   if (name == "percentile_cont")
      return request.args[0].physical == PhysicalType::Interval ? orderedKernel<PercentileCont<Interval>>
                                                                : orderedKernel<PercentileCont<double>>;
   return nullptr;
}

} // namespace ouzel::executor
