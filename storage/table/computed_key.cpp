#include "storage/table/computed_key.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel::storage {

void ComputedKey::computeSound(std::span<const Vector> inputs, uint32_t rowCount, const Selection& rows,
                               const Use& use) const {
   const auto isOfRow = [](const SqlError& error) { // 22: data exceptions
      return error.state().text().starts_with("22") || error.state().text().starts_with("23");
   };
   try {
      return compute(inputs, rowCount, rows, use);
   } catch (const SqlError& error) {
      if (!isOfRow(error)) throw;
   }
   forEachRow(rows, [&](uint32_t row) {
      const auto one = static_cast<RowIndex>(row);
      try {
         compute(inputs, rowCount, Selection::list(&one, 1), use);
      } catch (const SqlError& error) {
         if (!isOfRow(error)) throw;
      }
   });
}

} // namespace ouzel::storage
