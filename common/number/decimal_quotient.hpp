#pragma once

#include "common/number/decimal.hpp"

namespace ouzel::decimal {

/// Compares quotients with one value. Most are so far from it that quotients in double precision tell; only the others
/// are divided. Immutable.
class QuotientBound {
public:
   explicit QuotientBound(StringView bound);

   /// compare(divide(a, b), bound). Throws 22012.
   int compare(StringView a, StringView b) const;

private:
   StringView bytes_;
   double bound_; ///< NaN: unknown, every quotient is divided
};

} // namespace ouzel::decimal
