#include <cmath>
#include <optional>

#include "common/error/sql_error.hpp"
#include "common/number/decimal_spread.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"
#include "executor/function/aggregate/decimal_accumulator.hpp"
#include "executor/function/float_overflow.hpp"

// stddev, variance, corr, covar, regr. Floats use Youngs-Cramer updates as in PostgreSQL; integers and numerics are
// exact.

namespace ouzel::executor {

namespace {

using decimal::fewestValues, decimal::isDeviation, decimal::isSample, decimal::Spread;

// ---- floats ----

/// Youngs & Cramer 1971: the sum and the sum of squared differences from the mean, without cancellation.
struct FloatMoments {
   double n = 0, sx = 0, sxx = 0;

   void add(double x) {
      const double before = sx;
      n += 1;
      sx += x;
      if (n > 1) {
         const double t = x * n - sx;
         sxx += t * t / (n * (n - 1));
         if (std::isinf(sx) || std::isinf(sxx)) {
            if (!std::isinf(before) && !std::isinf(x)) throwOverflow();
            sxx = std::nan("");
         }
      } else if (std::isnan(x) || std::isinf(x)) {
         sxx = std::nan("");
      }
   }
   void merge(const FloatMoments& other) {
      if (n == 0) {
         *this = other;
      } else if (other.n != 0) {
         const double t = sx / n - other.sx / other.n, total = n + other.n;
         const double sum = sx + other.sx;
         if (std::isinf(sum) && !std::isinf(sx) && !std::isinf(other.sx)) throwOverflow();
         const double squares = sxx + other.sxx + n * other.n * t * t / total;
         if (std::isinf(squares) && !std::isinf(sxx) && !std::isinf(other.sxx)) throwOverflow();
         *this = {total, sum, squares};
      }
   }
};

template <typename T, Spread spread>
struct FloatSpread {
   using State = FloatMoments;
   using Input = T;
   static void add(State& s, T value, Arena&) { s.add(static_cast<double>(value)); }
   static void merge(State& into, const State& from, Arena&) { into.merge(from); }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.n < static_cast<double>(fewestValues(spread))) return result.setNull(row);
      const double variance = s.sxx / (isSample(spread) ? s.n - 1 : s.n);
      result.values<double>()[row] = isDeviation(spread) ? std::sqrt(variance) : variance;
   }
};

// ---- integers and numerics ----

/// The sums of integers and of scaled numerics.
template <typename T>
struct ScaledMoments {
   using State = decimal::Moments;
   using Input = T;
   static void add(State& s, T value, Arena&) {
      if constexpr (sizeof(T) == 16)
         s.add(value);
      else
         s.add(static_cast<int64_t>(value));
   }
   static void merge(State& into, const State& from, Arena&) { into.merge(from); }
   static void finish(const State&, uint32_t, FunctionContext&, ResultVector&) {}
};
template <Spread spread, int32_t scale>
void finalizeMoments(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
   for (uint32_t i = 0; i < count; ++i) {
      const auto& moments = stateAt<decimal::Moments>(states[i]);
      if (moments.count < fewestValues(spread))
         result.setNull(i);
      else
         result.values<StringView>()[i] = decimal::spreadOf(moments, scale, spread, result.strings());
   }
}
/// All spreads of all scales share the functions that add.
template <typename T, Spread spread, int32_t scale>
constexpr AggregateKernel scaledSpread = [] {
   AggregateKernel kernel = AggregateLoops<ScaledMoments<T>>::kernel;
   kernel.finalize = finalizeMoments<spread, scale>;
   kernel.accumulation = &accumulationTag<ScaledMoments<T>>;
   return kernel;
}();

template <typename T, Spread spread, size_t... scale>
const AggregateKernel* spreadByScale(uint32_t wanted, std::index_sequence<scale...>) {
   static constexpr const AggregateKernel* kernels[] = {&scaledSpread<T, spread, static_cast<int32_t>(scale)>...};
   return wanted < std::size(kernels) ? kernels[wanted] : nullptr;
}

struct DecimalMoments {
   DecimalAccumulator sum, squares;
};
template <Spread spread>
struct DecimalSpread {
   using State = DecimalMoments;
   using Input = StringView;
   static constexpr uint32_t strings[] = {offsetof(DecimalMoments, sum.big), offsetof(DecimalMoments, squares.big)};
   static void add(State& s, const StringView& value, Arena& arena) {
      s.sum.add(value, arena);
      if (!decimal::isFinite(value)) return;
      Arena scratch;
      s.squares.add(decimal::multiply(value, value, scratch), arena);
   }
   static void merge(State& into, const State& from, Arena& arena) {
      into.sum.merge(from.sum, arena);
      into.squares.merge(from.squares, arena);
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.sum.count < fewestValues(spread)) return result.setNull(row);
      if (s.sum.hasSpecial()) {
         result.values<StringView>()[row] = decimal::nan();
         return;
      }
      Arena scratch;
      result.values<StringView>()[row] =
          decimal::spreadOf(s.sum.total(scratch), s.squares.total(scratch), s.sum.count, spread, result.strings());
   }
};

template <Spread spread>
const AggregateKernel* numericSpread(Representation arg) {
   const auto scales = std::make_index_sequence<decimal::powersOfTen>{};
   const auto scale = static_cast<uint32_t>(arg.scale);
   switch (arg.physical) {
   case PhysicalType::I64: return spreadByScale<int64_t, spread>(scale, scales);
   case PhysicalType::I128: return spreadByScale<int128, spread>(scale, scales);
   default: return aggregateOf<DecimalSpread<spread>>;
   }
}

template <Spread spread>
const AggregateKernel* spreadKernel(const AggregateRequest& request) {
   switch (request.argTypes[0].oid) {
   case oid::int2: return &scaledSpread<int16_t, spread, 0>;
   case oid::int4: return &scaledSpread<int32_t, spread, 0>;
   case oid::int8: return &scaledSpread<int64_t, spread, 0>;
   case oid::float4: return aggregateOf<FloatSpread<float, spread>>;
   case oid::float8: return aggregateOf<FloatSpread<double, spread>>;
   case oid::numeric: return numericSpread<spread>(request.args[0]);
   default: return nullptr;
   }
}

// ---- two variables ----

struct PairMoments {
   double n = 0, sx = 0, sxx = 0, sy = 0, syy = 0, sxy = 0;

   void add(double y, double x) {
      const double sxBefore = sx, syBefore = sy;
      n += 1;
      sx += x;
      sy += y;
      if (n > 1) {
         const double tx = x * n - sx, ty = y * n - sy, factor = 1.0 / (n * (n - 1));
         sxx += tx * tx * factor;
         syy += ty * ty * factor;
         sxy += tx * ty * factor;
         if (std::isinf(sx) || std::isinf(sxx) || std::isinf(sy) || std::isinf(syy) || std::isinf(sxy))
            checkOverflow(sxBefore, syBefore, x, y);
      } else {
         if (std::isnan(x) || std::isinf(x)) sxx = sxy = std::nan("");
         if (std::isnan(y) || std::isinf(y)) syy = sxy = std::nan("");
      }
   }
   void checkOverflow(double sxBefore, double syBefore, double x, double y) {
      const bool xFinite = !std::isinf(sxBefore) && !std::isinf(x), yFinite = !std::isinf(syBefore) && !std::isinf(y);
      if (((std::isinf(sx) || std::isinf(sxx)) && xFinite) || ((std::isinf(sy) || std::isinf(syy)) && yFinite) ||
          (std::isinf(sxy) && xFinite && yFinite))
         throwOverflow();
      if (std::isinf(sxx)) sxx = std::nan("");
      if (std::isinf(syy)) syy = std::nan("");
      if (std::isinf(sxy)) sxy = std::nan("");
   }
   void merge(const PairMoments& other) {
      if (n == 0) {
         *this = other;
      } else if (other.n != 0) {
         const double total = n + other.n, tx = sx / n - other.sx / other.n, ty = sy / n - other.sy / other.n;
         const double weight = n * other.n;
         sx += other.sx;
         sy += other.sy;
         sxx += other.sxx + weight * tx * tx / total;
         syy += other.syy + weight * ty * ty / total;
         sxy += other.sxy + weight * tx * ty / total;
         n = total;
      }
   }
};

void initializePair(std::byte* state) {
   new (state) PairMoments();
}
template <typename StateOf>
void eachPair(const AggregateInput& input, StateOf&& stateOf) {
   const Vector &y = input.args[0], &x = input.args[1];
   for (uint32_t i = 0; i < input.rows.count(); ++i) {
      const uint32_t row = input.rows.row(i);
      if (y.isNull(row) || x.isNull(row)) continue;
      stateOf(i).add(y.value<double>(row), x.value<double>(row));
   }
}
void updatePair(const AggregateInput& input, std::byte* const* states) {
   eachPair(input, [&](uint32_t i) -> PairMoments& { return stateAt<PairMoments>(states[i]); });
}
void updatePairOne(const AggregateInput& input, std::byte* state) {
   eachPair(input, [&](uint32_t) -> PairMoments& { return stateAt<PairMoments>(state); });
}
void combinePair(std::byte* const* into, const std::byte* const* from, uint32_t count, Arena&) {
   for (uint32_t i = 0; i < count; ++i)
      stateAt<PairMoments>(into[i]).merge(stateAt<PairMoments>(from[i]));
}

/// Computes the result from the state; nullopt is NULL.
using PairResult = std::optional<double> (*)(const PairMoments&);
template <PairResult function>
void finalizePair(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
   double* out = result.values<double>();
   for (uint32_t i = 0; i < count; ++i) {
      const std::optional<double> value = function(stateAt<PairMoments>(states[i]));
      if (value) {
         out[i] = *value;
      } else {
         result.setNull(i);
      }
   }
}
void finalizePairCount(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
   for (uint32_t i = 0; i < count; ++i)
      result.values<int64_t>()[i] = static_cast<int64_t>(stateAt<PairMoments>(states[i]).n);
}
template <PairResult function>
constexpr AggregateKernel pairKernel{sizeof(PairMoments), initializePair,         updatePair, updatePairOne,
                                     combinePair,         finalizePair<function>, false};
constexpr AggregateKernel pairCountKernel{sizeof(PairMoments), initializePair,    updatePair, updatePairOne,
                                          combinePair,         finalizePairCount, false};

using Maybe = std::optional<double>;
Maybe covarPop(const PairMoments& m) {
   return m.n < 1 ? Maybe() : m.sxy / m.n;
}
Maybe covarSamp(const PairMoments& m) {
   return m.n < 2 ? Maybe() : m.sxy / (m.n - 1);
}
Maybe corr(const PairMoments& m) {
   return m.n < 1 || m.sxx == 0 || m.syy == 0 ? Maybe() : m.sxy / std::sqrt(m.sxx * m.syy);
}
Maybe regrSxx(const PairMoments& m) {
   return m.n < 1 ? Maybe() : m.sxx;
}
Maybe regrSyy(const PairMoments& m) {
   return m.n < 1 ? Maybe() : m.syy;
}
Maybe regrSxy(const PairMoments& m) {
   return m.n < 1 ? Maybe() : m.sxy;
}
Maybe regrAvgx(const PairMoments& m) {
   return m.n < 1 ? Maybe() : m.sx / m.n;
}
Maybe regrAvgy(const PairMoments& m) {
   return m.n < 1 ? Maybe() : m.sy / m.n;
}
Maybe regrR2(const PairMoments& m) {
   if (m.n < 1 || m.sxx == 0) return Maybe();
   return m.syy == 0 ? 1.0 : (m.sxy * m.sxy) / (m.sxx * m.syy);
}
Maybe regrSlope(const PairMoments& m) {
   return m.n < 1 || m.sxx == 0 ? Maybe() : m.sxy / m.sxx;
}
Maybe regrIntercept(const PairMoments& m) {
   return m.n < 1 || m.sxx == 0 ? Maybe() : (m.sy - m.sx * m.sxy / m.sxx) / m.n;
}

const AggregateKernel* findPair(std::string_view name) {
   if (name == "covar_pop") return &pairKernel<covarPop>;
   if (name == "covar_samp") return &pairKernel<covarSamp>;
   if (name == "corr") return &pairKernel<corr>;
   if (name == "regr_sxx") return &pairKernel<regrSxx>;
   if (name == "regr_syy") return &pairKernel<regrSyy>;
   if (name == "regr_sxy") return &pairKernel<regrSxy>;
   if (name == "regr_avgx") return &pairKernel<regrAvgx>;
   if (name == "regr_avgy") return &pairKernel<regrAvgy>;
   if (name == "regr_r2") return &pairKernel<regrR2>;
   if (name == "regr_slope") return &pairKernel<regrSlope>;
   if (name == "regr_intercept") return &pairKernel<regrIntercept>;
   if (name == "regr_count") return &pairCountKernel;
   return nullptr;
}

} // namespace

const AggregateKernel* findStatisticalAggregate(const AggregateRequest& request) {
   const std::string_view name = request.name;
   if (request.args.size() == 2) return findPair(name);
   if (request.args.size() != 1) return nullptr;
   if (name == "var_pop") return spreadKernel<Spread::VarPop>(request);
   if (name == "var_samp" || name == "variance") return spreadKernel<Spread::VarSamp>(request);
   if (name == "stddev_pop") return spreadKernel<Spread::StddevPop>(request);
   if (name == "stddev_samp" || name == "stddev") return spreadKernel<Spread::StddevSamp>(request);
   return nullptr;
}

} // namespace ouzel::executor
