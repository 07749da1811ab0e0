#pragma once
#include <cstddef>

// Sums over two lists of floats, in vector registers where the processor has them. The lists may lie at any address.

namespace ouzel::executor {

float squaredDistance(const char* a, const char* b, size_t count); ///< the sum of (a - b)²
float innerProduct(const char* a, const char* b, size_t count);
float absoluteDistance(const char* a, const char* b, size_t count); ///< the sum of |a - b|

/// What cosines need of two lists.
struct CosineSums {
   float product = 0, left = 0, right = 0; ///< of a and b, of each with itself
};
CosineSums cosineSums(const char* a, const char* b, size_t count);

} // namespace ouzel::executor
