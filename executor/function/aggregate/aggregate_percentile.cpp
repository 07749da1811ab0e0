#include <algorithm>
#include <cmath>

#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "common/type/date_time_math.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"

// percentile_disc and percentile_cont. The number of values of a group is known before they come in order (expect()),
// so that the state keeps only the values at the ranks that the fractions ask for. States are never combined.

namespace ouzel::executor {

namespace {

/// A value to keep: its rank among those that are not NULL, from 0.
struct Wanted {
   uint64_t rank = 0;
   KeptValue kept;
};

/// args[0] the ordered column, args[1] the fraction or an array of fractions (the same in every row).
struct PercentileState {
   uint64_t expected = 0, seen = 0; ///< values that are not NULL
   Wanted* wanted = nullptr;        ///< by rank
   uint32_t wantedCount = 0;
   uint32_t next = 0; ///< the first of `wanted` that was not seen yet
   PhysicalType type = PhysicalType::I32;
   Oid elementType = invalidOid;
   int32_t typmod = -1;
   StringView fractions; ///< bytes of the array, if the fraction is an array
   double fraction = 0;
   bool hasFraction = false, isArray = false, isFractionNull = false;

   bool isNullResult() const { return expected == 0 || isFractionNull; }
   const std::byte* at(uint64_t rank) const {
      const Wanted* found = std::lower_bound(wanted, wanted + wantedCount, rank,
                                             [](const Wanted& one, uint64_t value) { return one.rank < value; });
      DCHECK(found != wanted + wantedCount);
      return found->kept.value();
   }
   /// As an element of an array, which has the blanks of character(n).
   Value element(uint64_t rank) const {
      Value value = Value::fromVector(Vector::flat(type, at(rank), nullptr), 0);
      if (elementType != oid::bpchar) return value;
      std::string text;
      appendWithBlanks(text, value.bytes, typmod);
      value.bytes = std::move(text);
      return value;
   }
};

double checked(double fraction) {
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

/// `P` has the ranks between which a fraction lies, and the value there.
template <typename P>
struct Percentile {
   using State = PercentileState;

   static void expect(State& s, const AggregateInput& input, uint32_t row) {
      if (!s.hasFraction) {
         s.hasFraction = true;
         const Vector& given = input.args[1];
         s.isFractionNull = given.isNull(row);
         s.isArray = given.type == PhysicalType::String;
         if (!s.isFractionNull && s.isArray) s.fractions = input.arena.copyString(given.value<StringView>(row).view());
         if (!s.isFractionNull && !s.isArray) s.fraction = checked(given.value<double>(row));
      }
      s.expected += !input.args[0].isNull(row);
   }

   static void add(State& s, const AggregateInput& input, uint32_t row) {
      const Vector& values = input.args[0];
      if (values.isNull(row) || s.isFractionNull) return;
      if (s.seen == 0) begin(s, input);
      if (s.next < s.wantedCount && s.wanted[s.next].rank == s.seen)
         s.wanted[s.next++].kept.keep(values, row, input.arena);
      ++s.seen;
      DCHECK(s.seen <= s.expected);
   }

   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.isNullResult()) return result.setNull(row);
      if (!s.isArray) return P::put(s, s.fraction, row, result);
      ArrayValue array = readArray(s.fractions.view());
      array.physical = s.type;
      array.elementType = s.elementType;
      for (Value& element : array.elements)
         element = element.isNull ? Value::null(s.type) : P::valueAt(s, element.f64);
      result.values<StringView>()[row] = result.strings().copyString(makeArray(array));
   }

private:
   /// Notes the ranks of all fractions.
   static void begin(State& s, const AggregateInput& input) {
      s.type = input.args[0].type;
      if (!input.argTypes.empty()) {
         s.elementType = input.argTypes[0].oid;
         s.typmod = input.argTypes[0].typmod;
      }
      std::vector<uint64_t> ranks;
      const auto want = [&](double fraction) {
         for (const uint64_t rank : P::ranksOf(fraction, s.expected))
            ranks.push_back(rank);
      };
      if (!s.isArray) {
         want(s.fraction);
      } else {
         for (const Value& element : readArray(s.fractions.view()).elements)
            if (!element.isNull) want(checked(element.f64));
      }
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      s.wantedCount = static_cast<uint32_t>(ranks.size());
      s.wanted = static_cast<Wanted*>(input.arena.allocate(sizeof(Wanted) * ranks.size(), alignof(Wanted)));
      for (size_t i = 0; i < ranks.size(); ++i)
         new (s.wanted + i) Wanted{ranks[i], {}};
   }
};

struct Discrete {
   static std::array<uint64_t, 1> ranksOf(double fraction, uint64_t count) {
      const auto rank = static_cast<int64_t>(std::ceil(fraction * static_cast<double>(count)));
      return {static_cast<uint64_t>(rank < 1 ? 0 : rank - 1)};
   }
   static Value valueAt(const PercentileState& s, double fraction) {
      return s.element(ranksOf(fraction, s.expected)[0]);
   }
   static void put(const PercentileState& s, double fraction, uint32_t row, ResultVector& result) {
      putValue(s.type, s.at(ranksOf(fraction, s.expected)[0]), row, result);
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
struct Continuous {
   static double placeOf(double fraction, uint64_t count) { return fraction * static_cast<double>(count - 1); }
   static std::array<uint64_t, 2> ranksOf(double fraction, uint64_t count) {
      const double place = placeOf(fraction, count);
      return {static_cast<uint64_t>(std::floor(place)), static_cast<uint64_t>(std::ceil(place))};
   }
   static T at(const PercentileState& s, uint64_t rank) {
      T value;
      std::memcpy(&value, s.at(rank), sizeof value);
      return value;
   }
   static T pick(const PercentileState& s, double fraction) {
      const auto [first, second] = ranksOf(fraction, s.expected);
      const T low = at(s, first);
      if (first == second) return low;
      return interpolate(low, at(s, second), placeOf(fraction, s.expected) - static_cast<double>(first));
   }
   static Value valueAt(const PercentileState& s, double fraction) {
      if constexpr (std::is_same_v<T, double>) {
         return Value::real(PhysicalType::F64, pick(s, fraction));
      } else {
         return Value::ofInterval(pick(s, fraction));
      }
   }
   static void put(const PercentileState& s, double fraction, uint32_t row, ResultVector& result) {
      result.values<T>()[row] = pick(s, fraction);
   }
};

} // namespace

const AggregateKernel* findPercentileAggregate(const AggregateRequest& request) {
   if (request.name == "percentile_disc") return orderedKernel<Percentile<Discrete>>;
   if (request.name != "percentile_cont") return nullptr;
   return request.args[0].physical == PhysicalType::Interval ? orderedKernel<Percentile<Continuous<Interval>>>
                                                             : orderedKernel<Percentile<Continuous<double>>>;
}

} // namespace ouzel::executor
