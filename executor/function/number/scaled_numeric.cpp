#include "executor/function/families.hpp"
#include "executor/function/number/arithmetic_kernel.hpp"

// numeric as integers of a common scale (sql/algebra/representation.hpp). Lowering has proven from bounds that no
// operation overflows, so there are no checks and no errors.

namespace ouzel::executor {

namespace {

struct Unchecked {
   [[noreturn]] static void fail(uint32_t) { throwInternal("scaled arithmetic cannot fail"); }
};
// Computed unsigned, so that an overflow would not be undefined behaviour.
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 16, uint128, uint64_t>;

template <typename T>
struct Add : Unchecked {
   static T apply(T a, T b, uint32_t&) { return static_cast<T>(static_cast<Bits<T>>(a) + static_cast<Bits<T>>(b)); }
};
template <typename T>
struct Subtract : Unchecked {
   static T apply(T a, T b, uint32_t&) { return static_cast<T>(static_cast<Bits<T>>(a) - static_cast<Bits<T>>(b)); }
};
template <typename R>
struct Multiply : Unchecked {
   template <typename A, typename B>
   static R apply(A a, B b, uint32_t&) {
      if constexpr (sizeof(A) == 8 && sizeof(B) == 8 && sizeof(R) == 16) {
         return static_cast<R>(a) * static_cast<R>(b); // one widening multiplication, exact
      } else {
         return static_cast<R>(static_cast<Bits<R>>(a) * static_cast<Bits<R>>(b));
      }
   }
};
template <typename T>
struct Negate : Unchecked {
   static T apply(T a, uint32_t&) { return static_cast<T>(0 - static_cast<Bits<T>>(a)); }
};
template <typename T>
struct Absolute : Unchecked {
   static T apply(T a, uint32_t&) { return a < 0 ? static_cast<T>(0 - static_cast<Bits<T>>(a)) : a; }
};

/// The product of two I64; lowering chooses I64 or I128 for the result.
void multiplyI64(const KernelCall& call, ResultVector& result) {
   if (result.type() == PhysicalType::I64)
      return ArithmeticKernel<Multiply<int64_t>, int64_t, int64_t, int64_t>::run(call, result);
   ArithmeticKernel<Multiply<int128>, int64_t, int64_t, int128>::run(call, result);
}

template <typename T>
void addWidth() {
   addArithmetic<Add<T>, T, T, T>("numeric_add", true);
   addArithmetic<Subtract<T>, T, T, T>("numeric_sub", true);
   addUnaryArithmetic<Negate<T>, T, T>("numeric_uminus", true);
   addUnaryArithmetic<Absolute<T>, T, T>("numeric_abs", true);
}

} // namespace

void registerScaledNumeric() {
   addWidth<int64_t>();
   addWidth<int128>();
   registerKernel("numeric_mul", "ll", {multiplyI64, true, true});
   addArithmetic<Multiply<int128>, int64_t, int128, int128>("numeric_mul", true);
   addArithmetic<Multiply<int128>, int128, int64_t, int128>("numeric_mul", true);
   addArithmetic<Multiply<int128>, int128, int128, int128>("numeric_mul", true);
}

} // namespace ouzel::executor
