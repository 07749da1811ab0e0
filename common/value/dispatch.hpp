#pragma once
#include <utility>

#include "common/value/vector.hpp"

namespace ouzel {

/// An empty object whose C++ type names a physical type, for generic lambdas.
template <PhysicalType physical>
struct PhysicalTag {
   static constexpr PhysicalType type = physical;
   using Value = PhysicalValueType<physical>;
};

/// Call `body(PhysicalTag<type>{})`: the one switch from run-time type to template.
template <typename Body>
inline void dispatchPhysical(PhysicalType type, Body&& body) {
   switch (type) {
   case PhysicalType::Bool: return body(PhysicalTag<PhysicalType::Bool>{});
   case PhysicalType::I16: return body(PhysicalTag<PhysicalType::I16>{});
   case PhysicalType::I32: return body(PhysicalTag<PhysicalType::I32>{});
   case PhysicalType::I64: return body(PhysicalTag<PhysicalType::I64>{});
   case PhysicalType::I128: return body(PhysicalTag<PhysicalType::I128>{});
   case PhysicalType::F32: return body(PhysicalTag<PhysicalType::F32>{});
   case PhysicalType::F64: return body(PhysicalTag<PhysicalType::F64>{});
   case PhysicalType::Interval: return body(PhysicalTag<PhysicalType::Interval>{});
   case PhysicalType::Decimal: return body(PhysicalTag<PhysicalType::Decimal>{});
   case PhysicalType::String: return body(PhysicalTag<PhysicalType::String>{});
   }
}

/// Call `body(T{})` with an unsigned type of the size: for loops that only move bytes.
template <typename Body>
inline void dispatchSize(PhysicalType type, Body&& body) {
   switch (physicalSize(type)) {
   case 1: return body(uint8_t{});
   case 2: return body(uint16_t{});
   case 4: return body(uint32_t{});
   case 8: return body(uint64_t{});
   default: return body(uint128{});
   }
}

} // namespace ouzel
