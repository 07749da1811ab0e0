#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"
#include "common/value/value.hpp"

namespace ouzel::engine {

/// Calls `row` for each row of a virtual table, with the values of the attributes.
using ScanRows =
    std::function<void(const std::vector<int16_t>& attributes, const std::function<void(std::vector<Value>&)>& row)>;

/// Tables of the rows that a statement has changed, which the functions of AFTER triggers read by their names:
/// REFERENCING OLD TABLE, NEW TABLE.
struct TransitionTables {
   std::vector<catalog::RelationPtr> relations; ///< virtual tables that are not in the catalog
   std::vector<ScanRows> scans;                 ///< one for each
};

/// One call of a trigger function.
struct TriggerCall {
   const catalog::Trigger& trigger;
   const catalog::Relation& table; ///< that has the trigger
   uint32_t event;                 ///< of catalog::trigger_bit
   /// Records of the live columns of `table`; none: the trigger has no such row.
   std::optional<std::string_view> oldRow{}, newRow{};
   const TransitionTables* transitions = nullptr; ///< null: none
};

} // namespace ouzel::engine
