#pragma once
#include "common/value/vector.hpp"

namespace ouzel::storage {

/// Flat values of consecutive rows of one column, up to a row group: the input of encoders. A view.
struct ColumnSlice {
   PhysicalType type = PhysicalType::I32;
   const void* data = nullptr;
   const ValidityWord* validity = nullptr; ///< null: no NULLs
   uint32_t count = 0;

   template <typename T>
   const T* values() const {
      return static_cast<const T*>(data);
   }
   bool isValid(uint32_t row) const { return isValidBit(validity, row); }
};

} // namespace ouzel::storage
