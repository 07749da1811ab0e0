#include <catch2/catch.hpp>

// Compiled with -O2, as releases are: without -ffp-contract=off the compiler would make one operation of the product
// and the difference, and the digits would not be PostgreSQL's.

namespace {

[[gnu::noinline]] double productLess(double a, double b, double c) {
   return a * b - c;
}

} // namespace

CATCH_TEST_CASE("a product is rounded before it is subtracted from") {
   const volatile double inexact = 1 + 0x1p-30; // its square has 61 bits
   const double square = inexact * inexact;
   CATCH_CHECK(productLess(inexact, inexact, square) == 0);
}
