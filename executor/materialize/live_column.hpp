#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/value/batch.hpp"

namespace ouzel::executor {

/// A vector seen through a selection: live row i has its value at data[position(i)]. One read path for every encoding,
/// so that row kernels have two loops (with and without positions) rather than six.
struct LiveColumn {
   PhysicalType type = PhysicalType::I32;
   const void* data = nullptr;
   const ValidityWord* validity = nullptr;
   const uint16_t* positions = nullptr; ///< null: position(i) == i

   uint32_t position(uint32_t live) const { return positions ? positions[live] : live; }
   bool isNull(uint32_t live) const { return !isValidBit(validity, position(live)); }
   template <typename T>
   const T& value(uint32_t live) const {
      return static_cast<const T*>(data)[position(live)];
   }
};

/// Makes LiveColumns, and owns the composed positions of dictionary columns under a listed selection. Used by one
/// worker; the LiveColumns are valid until the next bind().
class LiveColumns {
public:
   void bind(const Vector* vectors, uint32_t count, const Selection& rows);
   void bind(const std::vector<Vector>& vectors, const Selection& rows) {
      bind(vectors.data(), static_cast<uint32_t>(vectors.size()), rows);
   }
   const LiveColumn& operator[](uint32_t column) const { return columns_[column]; }
   const LiveColumn* data() const { return columns_.data(); }
   uint32_t size() const { return static_cast<uint32_t>(columns_.size()); }

private:
   using Positions = std::array<uint16_t, batchRowsMax>;
   std::vector<LiveColumn> columns_;
   std::vector<std::unique_ptr<Positions>> scratch_;
};

/// batchRowsMax zeros: the positions of a constant vector.
extern const std::array<uint16_t, batchRowsMax> zeroPositions;
/// 0, 1, 2, ...
extern const std::array<uint16_t, batchRowsMax> identityPositions;

} // namespace ouzel::executor
