#include <limits>

#include "executor/function/families.hpp"
#include "executor/function/number/arithmetic_kernel.hpp"

// smallint, integer, bigint: arithmetic of every mixed width, bits, mod, gcd.

namespace ouzel::executor {

namespace {

template <typename T>
constexpr const char* outOfRange() {
   if constexpr (sizeof(T) == 2) return "smallint out of range";
   if constexpr (sizeof(T) == 4) return "integer out of range";
   return "bigint out of range";
}
template <typename T>
[[noreturn, gnu::cold]] void throwOutOfRange() {
   throw SqlError(sqlstate::numericValueOutOfRange, outOfRange<T>());
}
[[noreturn, gnu::cold]] void throwDivisionByZero() {
   throw SqlError(sqlstate::divisionByZero, "division by zero");
}

template <typename R>
struct Checked {
   [[noreturn]] static void fail(uint32_t failures) {
      if (failures & dividedByZero) throwDivisionByZero();
      throwOutOfRange<R>();
   }
};

template <typename R>
struct Add : Checked<R> {
   static R apply(R a, R b, uint32_t& failures) {
      if constexpr (sizeof(R) < 8) {
         const auto wide = static_cast<int64_t>(a) + b;
         failures |= static_cast<uint32_t>(wide != static_cast<R>(wide));
         return static_cast<R>(wide);
      } else {
         const R sum = static_cast<R>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
         failures |= static_cast<uint32_t>(static_cast<uint64_t>((a ^ sum) & (b ^ sum)) >> 63);
         return sum;
      }
   }
};
template <typename R>
struct Subtract : Checked<R> {
   static R apply(R a, R b, uint32_t& failures) {
      if constexpr (sizeof(R) < 8) {
         const auto wide = static_cast<int64_t>(a) - b;
         failures |= static_cast<uint32_t>(wide != static_cast<R>(wide));
         return static_cast<R>(wide);
      } else {
         const R difference = static_cast<R>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
         failures |= static_cast<uint32_t>(static_cast<uint64_t>((a ^ b) & (a ^ difference)) >> 63);
         return difference;
      }
   }
};
template <typename R>
struct Multiply : Checked<R> {
   static R apply(R a, R b, uint32_t& failures) {
      if constexpr (sizeof(R) < 8) {
         const auto wide = static_cast<int64_t>(a) * b;
         failures |= static_cast<uint32_t>(wide != static_cast<R>(wide));
         return static_cast<R>(wide);
      } else {
         R product;
         failures |= static_cast<uint32_t>(__builtin_mul_overflow(a, b, &product));
         return product;
      }
   }
};
template <typename R>
struct Divide : Checked<R> {
   static R apply(R a, R b, uint32_t& failures) {
      if (b == 0) {
         failures |= dividedByZero;
         return 0;
      }
      if (b == -1) {
         failures |= static_cast<uint32_t>(a == std::numeric_limits<R>::min());
         return static_cast<R>(0 - static_cast<std::make_unsigned_t<R>>(a));
      }
      return static_cast<R>(a / b);
   }
};
template <typename R>
struct Modulo : Checked<R> {
   static R apply(R a, R b, uint32_t& failures) {
      if (b == 0) failures |= dividedByZero;
      return b == 0 || b == -1 ? R{0} : static_cast<R>(a % b);
   }
};
template <typename R>
struct Negate : Checked<R> {
   static R apply(R a, uint32_t& failures) {
      failures |= static_cast<uint32_t>(a == std::numeric_limits<R>::min());
      return static_cast<R>(0 - static_cast<std::make_unsigned_t<R>>(a));
   }
};
template <typename R>
struct Absolute : Checked<R> {
   static R apply(R a, uint32_t& failures) {
      failures |= static_cast<uint32_t>(a == std::numeric_limits<R>::min());
      return a < 0 ? static_cast<R>(0 - static_cast<std::make_unsigned_t<R>>(a)) : a;
   }
};

template <typename T>
T bitAnd(T a, T b) {
   return static_cast<T>(a & b);
}
template <typename T>
T bitOr(T a, T b) {
   return static_cast<T>(a | b);
}
template <typename T>
T bitXor(T a, T b) {
   return static_cast<T>(a ^ b);
}
template <typename T>
T bitNot(T a) {
   return static_cast<T>(~a);
}
/// Shift counts are taken modulo the width of the register, as on the machines on which PostgreSQL runs.
template <typename T>
T shiftLeft(T a, int32_t n) {
   using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
   return static_cast<T>(static_cast<Wide>(a) << (n & (sizeof(Wide) * 8 - 1)));
}
template <typename T>
T shiftRight(T a, int32_t n) {
   using Wide = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
   return static_cast<T>(static_cast<Wide>(a) >> (n & (static_cast<int32_t>(sizeof(Wide)) * 8 - 1)));
}
template <typename T>
T same(T a) {
   return a;
}
template <typename T>
T larger(T a, T b) {
   return a > b ? a : b;
}
template <typename T>
T smaller(T a, T b) {
   return a < b ? a : b;
}

template <typename T>
std::make_unsigned_t<T> magnitude(T v) {
   using U = std::make_unsigned_t<T>;
   return v < 0 ? static_cast<U>(0 - static_cast<U>(v)) : static_cast<U>(v);
}
template <typename T>
T gcd(T a, T b) {
   auto x = magnitude(a), y = magnitude(b);
   while (y != 0) {
      const auto rest = x % y;
      x = y;
      y = rest;
   }
   if (x > static_cast<std::make_unsigned_t<T>>(std::numeric_limits<T>::max())) throwOutOfRange<T>();
   return static_cast<T>(x);
}
template <typename T>
T lcm(T a, T b) {
   if (a == 0 || b == 0) return 0;
   const T divisor = gcd(a, b);
   T result;
   if (__builtin_mul_overflow(static_cast<T>(a / divisor), b, &result) || result == std::numeric_limits<T>::min())
      throwOutOfRange<T>();
   return result < 0 ? -result : result;
}

template <typename T>
void addSame(const std::string& prefix) {
   addMixed<Add, Subtract, Multiply, Divide, T, T>(prefix);
   addArithmetic<Modulo<T>, T, T, T>(prefix + "mod");
   addUnaryArithmetic<Negate<T>, T, T>(prefix + "um");
   addUnaryArithmetic<Absolute<T>, T, T>(prefix + "abs");
   addKernel<bitAnd<T>>(prefix + "and", totalKernel);
   addKernel<bitOr<T>>(prefix + "or", totalKernel);
   addKernel<bitXor<T>>(prefix + "xor", totalKernel);
   addKernel<bitNot<T>>(prefix + "not", totalKernel);
   addKernel<shiftLeft<T>>(prefix + "shl", totalKernel);
   addKernel<shiftRight<T>>(prefix + "shr", totalKernel);
   addKernel<same<T>>(prefix + "up", totalKernel);
   addKernel<larger<T>>(prefix + "larger", totalKernel);
   addKernel<smaller<T>>(prefix + "smaller", totalKernel);
}

template <typename T>
T increment(T a) {
   if (a == std::numeric_limits<T>::max()) throwOutOfRange<T>();
   return a + 1;
}
int64_t decrement(int64_t a) {
   if (a == std::numeric_limits<int64_t>::min()) throwOutOfRange<int64_t>();
   return a - 1;
}

/// ouzel_row_count(count, isOffset): the rewrite of correlated LIMITs asks it for the error of a negative count.
int64_t rowCount(int64_t count, bool isOffset) {
   if (count >= 0) return count;
   if (isOffset) throw SqlError(sqlstate::invalidRowCountInResultOffsetClause, "OFFSET must not be negative");
   throw SqlError(sqlstate::invalidRowCountInLimitClause, "LIMIT must not be negative");
}

} // namespace

void registerInteger() {
   addSame<int16_t>("int2");
   addSame<int32_t>("int4");
   addSame<int64_t>("int8");
   addMixed<Add, Subtract, Multiply, Divide, int16_t, int32_t>("int24");
   addMixed<Add, Subtract, Multiply, Divide, int32_t, int16_t>("int42");
   addMixed<Add, Subtract, Multiply, Divide, int16_t, int64_t>("int28");
   addMixed<Add, Subtract, Multiply, Divide, int64_t, int16_t>("int82");
   addMixed<Add, Subtract, Multiply, Divide, int32_t, int64_t>("int48");
   addMixed<Add, Subtract, Multiply, Divide, int64_t, int32_t>("int84");
   addKernel<gcd<int32_t>>("int4gcd");
   addKernel<gcd<int64_t>>("int8gcd");
   addKernel<lcm<int32_t>>("int4lcm");
   addKernel<lcm<int64_t>>("int8lcm");
   addKernel<increment<int32_t>>("int4inc");
   addKernel<increment<int64_t>>("int8inc");
   addKernel<decrement>("int8dec");
   addKernel<rowCount>("ouzel_row_count");
   addKernel<larger<int64_t>>("oidlarger", totalKernel);
   addKernel<smaller<int64_t>>("oidsmaller", totalKernel);
}

} // namespace ouzel::executor
