#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/value/batch.hpp"

namespace ouzel::executor {

/// Leaves out rows of a DISTINCT aggregate's argument that have a frequent value (an empty text, a default), once a row
/// with it was let through: the set of values has it then. Where no value is frequent, hardly any time is spent. Used
/// by one worker for one aggregate without keys.
class FrequentValue {
public:
   /// Those of `rows` to go on with. The result may point to a list that the next call writes.
   Selection drop(const Vector& values, const Selection& rows);

private:
   static constexpr size_t bytesMax = 16;
   /// A value is looked for so many times; each time costs a pass over some rows.
   static constexpr uint32_t searchesMax = 8;

   void search(const Vector& values, const Selection& rows);
   template <typename Word, uint32_t words>
   uint32_t keepOthers(const Vector& values, const Selection& rows);

   alignas(8) std::array<std::byte, bytesMax> value_{};
   bool isKnown_ = false;
   uint32_t searches_ = 0;
   std::vector<RowIndex> kept_ = std::vector<RowIndex>(batchRowsMax);
};

} // namespace ouzel::executor
