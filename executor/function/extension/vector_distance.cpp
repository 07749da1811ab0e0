#include "executor/function/extension/vector_distance.hpp"

#include <cmath>
#include <cstring>

namespace ouzel::executor {

namespace {

/// Sums that go on side by side: an addition need not wait for the one before, and eight of them are one instruction.
constexpr size_t lanes = 32;

/// A part of a list, in registers.
struct Part {
   float values[lanes];
   explicit Part(const char* from) { std::memcpy(values, from, sizeof values); }
};

float at(const char* list, size_t i) {
   float value;
   std::memcpy(&value, list + i * sizeof value, sizeof value);
   return value;
}

/// The sum of term(a[i], b[i]).
template <typename Term>
float sum(const char* a, const char* b, size_t count, Term term) {
   float sums[lanes] = {};
   size_t i = 0;
   for (; i + lanes <= count; i += lanes) {
      const Part left(a + i * sizeof(float)), right(b + i * sizeof(float));
      for (size_t k = 0; k < lanes; ++k)
         sums[k] += term(left.values[k], right.values[k]);
   }
   for (; i < count; ++i)
      sums[i % lanes] += term(at(a, i), at(b, i));
   float total = 0;
   for (const float one : sums)
      total += one;
   return total;
}

} // namespace

float squaredDistance(const char* a, const char* b, size_t count) {
   return sum(a, b, count, [](float x, float y) { return (x - y) * (x - y); });
}

float innerProduct(const char* a, const char* b, size_t count) {
   return sum(a, b, count, [](float x, float y) { return x * y; });
}

float absoluteDistance(const char* a, const char* b, size_t count) {
   return sum(a, b, count, [](float x, float y) { return std::fabs(x - y); });
}

CosineSums cosineSums(const char* a, const char* b, size_t count) {
   return {innerProduct(a, b, count), innerProduct(a, a, count), innerProduct(b, b, count)};
}

} // namespace ouzel::executor
