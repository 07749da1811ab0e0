#pragma once
#include <cstdint>
#include <string>

#include "common/value/physical_type.hpp"
#include "common/value/vector.hpp"

namespace ouzel {

/// One owned value in its physical form: a literal, a parameter, a bound of a zone map. NULL has a type too.
struct Value {
   PhysicalType type = PhysicalType::I32;
   bool isNull = true;
   union {
      int64_t i64; ///< Bool, I16, I32, I64
      int128 i128; ///< I128
      double f64;  ///< F32 (exactly converted), F64
      Interval interval;
   };
   std::string bytes; ///< String, Decimal

   Value() : i128(0) {}
   static Value null(PhysicalType type) {
      Value v;
      v.type = type;
      return v;
   }
   static Value boolean(bool value) { return integer(PhysicalType::Bool, value); }
   static Value integer(PhysicalType type, int64_t value) {
      Value v = null(type);
      v.isNull = false;
      v.i64 = value;
      return v;
   }
   static Value wide(int128 value) {
      Value v = null(PhysicalType::I128);
      v.isNull = false;
      v.i128 = value;
      return v;
   }
   static Value real(PhysicalType type, double value) {
      Value v = null(type);
      v.isNull = false;
      v.f64 = value;
      return v;
   }
   static Value ofInterval(Interval value) {
      Value v = null(PhysicalType::Interval);
      v.isNull = false;
      v.interval = value;
      return v;
   }
   static Value string(std::string bytes, PhysicalType type = PhysicalType::String) {
      Value v = null(type);
      v.isNull = false;
      v.bytes = std::move(bytes);
      return v;
   }

   /// Copy row `row` of a vector.
   static Value fromVector(const Vector& vector, uint32_t row);
   /// Write the value (not NULL) at `target`, physicalSize(type) bytes; strings point into this Value.
   void store(void* target) const;
   /// Same type, both NULL or the same bytes. Not SQL equality.
   bool identical(const Value& other) const;
};

} // namespace ouzel
