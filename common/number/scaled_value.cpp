#include "common/number/scaled_value.hpp"

#include "common/number/decimal.hpp"

namespace ouzel {

Value withOwnScale(Value value, Oid type, Representation representation) {
   if (value.isNull || type != oid::numeric || value.type == PhysicalType::Decimal) return value;
   Arena arena;
   const int128 digits = value.type == PhysicalType::I128 ? value.i128 : int128{value.i64};
   return Value::string(std::string(decimal::fromInt128(digits, representation.scale, arena).view()),
                        PhysicalType::Decimal);
}

} // namespace ouzel
