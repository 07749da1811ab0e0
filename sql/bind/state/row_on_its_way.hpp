#pragma once
#include <span>
#include <vector>

#include "sql/algebra/operators.hpp"

namespace ouzel::sql {

/// A row that triggers FOR EACH ROW see on its way into a table.
struct RowOnItsWay {
   uint32_t event = 0;                             ///< of catalog::trigger_bit
   const std::vector<GetColumn>* before = nullptr; ///< OLD; null: there is none
   std::vector<GetColumn>* after = nullptr;        ///< NEW, which becomes the row that the triggers make; null: none
   ColumnId part = noColumn;                       ///< OID of the part that the row lies in; noColumn: no parts
   ColumnId clause = noColumn;                     ///< see Dml::clause
   std::span<const int> clauses{};                 ///< numbers of the clauses with the event
   std::span<const int16_t> assigned{};            ///< by the UPDATE
   ColumnId only = noColumn;                       ///< boolean: for which rows the triggers fire; noColumn: for all
};

} // namespace ouzel::sql
