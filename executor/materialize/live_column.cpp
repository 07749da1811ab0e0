#include "executor/materialize/live_column.hpp"

namespace ouzel::executor {

const std::array<uint16_t, batchRowsMax> zeroPositions{};

namespace {
constexpr std::array<uint16_t, batchRowsMax> makeIdentity() {
   std::array<uint16_t, batchRowsMax> result{};
   for (uint32_t i = 0; i < batchRowsMax; ++i)
      result[i] = static_cast<uint16_t>(i);
   return result;
}
} // namespace

const std::array<uint16_t, batchRowsMax> identityPositions = makeIdentity();

void LiveColumns::bind(const Vector* vectors, uint32_t count, const Selection& rows) {
   columns_.resize(count);
   if (scratch_.size() < count) scratch_.resize(count);
   const uint32_t live = rows.count();
   for (uint32_t c = 0; c < count; ++c) {
      const Vector& vector = vectors[c];
      DCHECK(vector.data != nullptr || live == 0);
      LiveColumn& column = columns_[c];
      column = {vector.type, vector.data, vector.validity, nullptr};
      switch (vector.encoding) {
      case Encoding::Flat: column.positions = rows.rows(); break;
      case Encoding::Constant: column.positions = zeroPositions.data(); break;
      case Encoding::Dictionary:
         if (rows.isDense()) {
            column.positions = vector.codes;
         } else {
            if (!scratch_[c]) scratch_[c] = std::make_unique<Positions>();
            uint16_t* positions = scratch_[c]->data();
            const RowIndex* list = rows.rows();
            for (uint32_t i = 0; i < live; ++i)
               positions[i] = vector.codes[list[i]];
            column.positions = positions;
         }
         break;
      }
   }
}

} // namespace ouzel::executor
