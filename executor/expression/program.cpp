#include "executor/expression/program.hpp"

namespace ouzel::executor {

ColumnSlots::ColumnSlots(std::span<const sql::ColumnId> layout) {
   for (uint32_t slot = 0; slot < layout.size(); ++slot)
      slots_.emplace(static_cast<uint32_t>(layout[slot]), slot);
}

std::optional<uint32_t> ColumnSlots::find(sql::ColumnId column) const {
   const auto it = slots_.find(static_cast<uint32_t>(column));
   return it == slots_.end() ? std::nullopt : std::optional(it->second);
}

} // namespace ouzel::executor
