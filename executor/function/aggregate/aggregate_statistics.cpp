#include <cmath>
#include <gmp.h>
#include <optional>

#include "common/error/sql_error.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"
#include "executor/function/aggregate/decimal_accumulator.hpp"
#include "executor/function/float_overflow.hpp"

// stddev, variance, corr, covar, regr. Floats use Youngs-Cramer updates as in PostgreSQL; integers and numerics are
// exact.

namespace ouzel::executor {

namespace {

enum class Spread : uint8_t { VarPop, VarSamp, StddevPop, StddevSamp };
constexpr bool isSample(Spread spread) {
   return spread == Spread::VarSamp || spread == Spread::StddevSamp;
}
constexpr bool isDeviation(Spread spread) {
   return spread == Spread::StddevPop || spread == Spread::StddevSamp;
}

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
      if (s.n <= (isSample(spread) ? 1 : 0)) return result.setNull(row);
      const double variance = s.sxx / (isSample(spread) ? s.n - 1 : s.n);
      result.values<double>()[row] = isDeviation(spread) ? std::sqrt(variance) : variance;
   }
};

// ---- integers and numerics ----

/// The square root of a finite, positive decimal, rounded to `scale` digits.
StringView squareRoot(StringView value, int32_t scale, Arena& arena) {
   // Integer root of value * 10^(2 * (scale + 1)), then drop the extra digit.
   mpz_t z, power;
   mpz_inits(z, power, nullptr);
   mpz_import(z, value.size() - decimal::headerBytes, -1, 1, -1, 0, value.data() + decimal::headerBytes);
   const int32_t shift = 2 * (scale + 1) - decimal::scale(value);
   mpz_ui_pow_ui(power, 10, static_cast<unsigned long>(shift < 0 ? -shift : shift));
   if (shift >= 0) {
      mpz_mul(z, z, power);
   } else {
      mpz_tdiv_q(z, z, power);
   }
   mpz_sqrt(z, z);
   mpz_add_ui(z, z, 5);
   mpz_tdiv_q_ui(z, z, 10);
   char* digits = mpz_get_str(nullptr, 10, z);
   std::string text = digits;
   void (*release)(void*, size_t);
   mp_get_memory_functions(nullptr, nullptr, &release);
   release(digits, text.size() + 1);
   mpz_clears(z, power, nullptr);
   if (text.size() <= static_cast<size_t>(scale)) text.insert(0, static_cast<size_t>(scale) + 1 - text.size(), '0');
   if (scale > 0) text.insert(text.size() - static_cast<size_t>(scale), ".");
   return decimal::parse(text, arena);
}

/// PostgreSQL's numeric_stddev_internal: (n * sum(x^2) - sum(x)^2) / (n * (n - 1)).
void finishExact(StringView sum, StringView squares, int64_t count, Spread spread, uint32_t row, ResultVector& result) {
   Arena scratch;
   const StringView n = decimal::fromInt64(count);
   const StringView numerator =
       decimal::subtract(decimal::multiply(n, squares, scratch), decimal::multiply(sum, sum, scratch), scratch);
   StringView* out = result.values<StringView>();
   if (decimal::sign(numerator) <= 0) {
      out[row] = decimal::fromInt64(0);
      return;
   }
   const StringView denominator = decimal::multiply(n, isSample(spread) ? decimal::fromInt64(count - 1) : n, scratch);
   const StringView variance = decimal::divide(numerator, denominator, result.strings());
   out[row] = isDeviation(spread) && decimal::sign(variance) > 0
                  ? squareRoot(variance, decimal::scale(variance), result.strings())
                  : variance;
}

struct alignas(16) IntegerMoments {
   int128 sum = 0, squares = 0;
   int64_t count = 0;
};
template <typename T, Spread spread>
struct IntegerSpread {
   using State = IntegerMoments;
   using Input = T;
   static void add(State& s, T value, Arena&) {
      s.sum += value;
      s.squares += static_cast<int64_t>(value) * value;
      ++s.count;
   }
   static void merge(State& into, const State& from, Arena&) {
      into.sum += from.sum;
      into.squares += from.squares;
      into.count += from.count;
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count <= (isSample(spread) ? 1 : 0)) return result.setNull(row);
      Arena scratch;
      finishExact(decimal::fromInt128(s.sum, 0, scratch), decimal::fromInt128(s.squares, 0, scratch), s.count, spread,
                  row, result);
   }
};

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
      if (s.sum.count <= (isSample(spread) ? 1 : 0)) return result.setNull(row);
      if (s.sum.hasSpecial()) {
         result.values<StringView>()[row] = decimal::nan();
         return;
      }
      Arena scratch;
      finishExact(s.sum.total(scratch), s.squares.total(scratch), s.sum.count, spread, row, result);
   }
};
/// bigint and scaled numerics: added to decimal accumulators.
template <typename T, int32_t scale, Spread spread>
struct WideSpread : DecimalSpread<spread> {
   using Input = T;
   static void add(DecimalMoments& s, T value, Arena& arena) {
      Arena scratch;
      DecimalSpread<spread>::add(s, decimal::fromInt128(value, scale, scratch), arena);
   }
};

template <Spread spread>
const AggregateKernel* spreadKernel(const AggregateRequest& request) {
   switch (request.argTypes[0].oid) {
   case oid::int2: return aggregateOf<IntegerSpread<int16_t, spread>>;
   case oid::int4: return aggregateOf<IntegerSpread<int32_t, spread>>;
   case oid::int8: return aggregateOf<WideSpread<int64_t, 0, spread>>;
   case oid::float4: return aggregateOf<FloatSpread<float, spread>>;
   case oid::float8: return aggregateOf<FloatSpread<double, spread>>;
   case oid::numeric: // lowering converts to Decimal for all aggregates but sum, avg, min, max
      return request.args[0].physical == PhysicalType::Decimal ? aggregateOf<DecimalSpread<spread>> : nullptr;
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
