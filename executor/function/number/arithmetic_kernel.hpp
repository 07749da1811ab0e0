#pragma once
#include "executor/function/kernel_helpers.hpp"

// Loops for arithmetic that may fail. Failures are collected as bits over the whole batch, and the error is raised
// after the loop. So the loop has no branch and vectorises. Include in .cpp files only.

namespace ouzel::executor {

enum Failure : uint32_t { noFailure = 0, overflowed = 1, underflowed = 2, dividedByZero = 4 };

/// Op: `static Out apply(A, B, uint32_t& failures)` and `[[noreturn]] static void fail(uint32_t failures)`.
template <typename Op, typename A, typename B, typename Out>
struct ArithmeticKernel {
   static void run(const KernelCall& call, ResultVector& result) {
      const Vector &lhs = call.args[0], &rhs = call.args[1];
      const A* a = lhs.values<A>();
      const B* b = rhs.values<B>();
      Out* out = result.values<Out>();
      uint32_t failures = 0;
      if (lhs.encoding == Encoding::Flat && rhs.encoding == Encoding::Flat) {
         failures = loop(
             call.rows, out, [=](uint32_t row) { return a[row]; }, [=](uint32_t row) { return b[row]; });
      } else if (lhs.encoding == Encoding::Flat && rhs.encoding == Encoding::Constant) {
         failures = loop(
             call.rows, out, [=](uint32_t row) { return a[row]; }, [v = b[0]](uint32_t) { return v; });
      } else if (lhs.encoding == Encoding::Constant && rhs.encoding == Encoding::Flat) {
         failures = loop(
             call.rows, out, [v = a[0]](uint32_t) { return v; }, [=](uint32_t row) { return b[row]; });
      } else {
         failures = loop(
             call.rows, out, [&](uint32_t row) { return a[lhs.positionOf(row)]; },
             [&](uint32_t row) { return b[rhs.positionOf(row)]; });
      }
      if (failures != 0) [[unlikely]]
         Op::fail(failures);
   }

   template <typename GetA, typename GetB>
   static uint32_t loop(Selection rows, Out* __restrict out, GetA getA, GetB getB) {
      uint32_t failures = 0;
      forEachRow(rows, [&](uint32_t row) { out[row] = Op::apply(getA(row), getB(row), failures); });
      return failures;
   }
};

/// Op: `static Out apply(A, uint32_t& failures)`.
template <typename Op, typename A, typename Out>
struct UnaryArithmeticKernel {
   static void run(const KernelCall& call, ResultVector& result) {
      const Vector& arg = call.args[0];
      const A* a = arg.values<A>();
      Out* out = result.values<Out>();
      uint32_t failures = 0;
      if (arg.encoding == Encoding::Flat) {
         forEachRow(call.rows, [&](uint32_t row) { out[row] = Op::apply(a[row], failures); });
      } else {
         forEachRow(call.rows, [&](uint32_t row) { out[row] = Op::apply(a[arg.positionOf(row)], failures); });
      }
      if (failures != 0) [[unlikely]]
         Op::fail(failures);
   }
};

template <typename Op, typename A, typename B, typename Out>
void addArithmetic(std::string_view prosrc, bool isTotal = false) {
   const char letters[] = {detail::letterFor<A>(), detail::letterFor<B>(), 0};
   registerKernel(prosrc, letters, {ArithmeticKernel<Op, A, B, Out>::run, true, isTotal});
}
template <typename Op, typename A, typename Out>
void addUnaryArithmetic(std::string_view prosrc, bool isTotal = false) {
   const char letters[] = {detail::letterFor<A>(), 0};
   registerKernel(prosrc, letters, {UnaryArithmeticKernel<Op, A, Out>::run, true, isTotal});
}

/// Register the four operations over two types, computed in the wider type.
template <template <typename> typename Add, template <typename> typename Subtract,
          template <typename> typename Multiply, template <typename> typename Divide, typename A, typename B>
void addMixed(const std::string& prefix) {
   using R = std::conditional_t<(sizeof(A) > sizeof(B)), A, B>;
   addArithmetic<Add<R>, A, B, R>(prefix + "pl");
   addArithmetic<Subtract<R>, A, B, R>(prefix + "mi");
   addArithmetic<Multiply<R>, A, B, R>(prefix + "mul");
   addArithmetic<Divide<R>, A, B, R>(prefix + "div");
}

} // namespace ouzel::executor
