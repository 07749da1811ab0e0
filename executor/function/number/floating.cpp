#include <cmath>

#include "executor/function/families.hpp"
#include "executor/function/number/arithmetic_kernel.hpp"

// real and double precision: arithmetic with PostgreSQL's overflow, underflow and division rules.

namespace ouzel::executor {

namespace {

struct Checked {
   [[noreturn, gnu::cold]] static void fail(uint32_t failures) {
      if (failures & dividedByZero) throw SqlError(sqlstate::divisionByZero, "division by zero");
      if (failures & overflowed) throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: overflow");
      throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: underflow");
   }
};

/// 1 if v is an infinity.
template <typename T>
uint32_t infinite(T v) {
   return static_cast<uint32_t>(std::fabs(v) == std::numeric_limits<T>::infinity());
}

template <typename R>
struct Add : Checked {
   static R apply(R a, R b, uint32_t& failures) {
      const R sum = a + b;
      failures |= infinite(sum) & ~infinite(a) & ~infinite(b) & 1;
      return sum;
   }
};
template <typename R>
struct Subtract : Checked {
   static R apply(R a, R b, uint32_t& failures) {
      const R difference = a - b;
      failures |= infinite(difference) & ~infinite(a) & ~infinite(b) & 1;
      return difference;
   }
};
template <typename R>
struct Multiply : Checked {
   static R apply(R a, R b, uint32_t& failures) {
      const R product = a * b;
      failures |= infinite(product) & ~infinite(a) & ~infinite(b) & 1;
      failures |= static_cast<uint32_t>((product == 0) & (a != 0) & (b != 0)) << 1;
      return product;
   }
};
template <typename R>
struct Divide : Checked {
   static R apply(R a, R b, uint32_t& failures) {
      const R quotient = a / b;
      failures |= static_cast<uint32_t>((b == 0) & (a == a)) << 2;
      failures |= infinite(quotient) & ~infinite(a) & 1;
      failures |= static_cast<uint32_t>((quotient == 0) & (a != 0) & (infinite(b) == 0)) << 1;
      return quotient;
   }
};

template <typename T>
T negate(T a) {
   return -a;
}
template <typename T>
T absolute(T a) {
   return std::fabs(a);
}
template <typename T>
T same(T a) {
   return a;
}
template <typename T>
bool isLess(T a, T b) {
   return (a < b) | ((b != b) & (a == a));
}
template <typename T>
T larger(T a, T b) {
   return isLess(b, a) ? a : b;
}
template <typename T>
T smaller(T a, T b) {
   return isLess(a, b) ? a : b;
}

template <typename T>
void addSame(const std::string& prefix) {
   addMixed<Add, Subtract, Multiply, Divide, T, T>(prefix);
   addKernel<negate<T>>(prefix + "um", totalKernel);
   addKernel<absolute<T>>(prefix + "abs", totalKernel);
   addKernel<same<T>>(prefix + "up", totalKernel);
   addKernel<larger<T>>(prefix + "larger", totalKernel);
   addKernel<smaller<T>>(prefix + "smaller", totalKernel);
}

} // namespace

void registerFloating() {
   addSame<float>("float4");
   addSame<double>("float8");
   addMixed<Add, Subtract, Multiply, Divide, float, double>("float48");
   addMixed<Add, Subtract, Multiply, Divide, double, float>("float84");
}

} // namespace ouzel::executor
