#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "catalog/object/dependency.hpp"

namespace ouzel::catalog {

/// Bits of Trigger::type, as pg_trigger.tgtype.
namespace trigger_bit {
inline constexpr uint32_t row = 1, before = 2, insert = 4, del = 8, update = 16, truncate = 32, insteadOf = 64;
inline constexpr uint32_t events = insert | del | update | truncate;
} // namespace trigger_bit

/// A trigger of CREATE TRIGGER. Neither `before` nor `insteadOf`: AFTER. Not `row`: FOR EACH STATEMENT.
struct Trigger {
   Oid oid = invalidOid;
   std::string name;
   Oid function = invalidOid;
   uint32_t type = 0;                   ///< of trigger_bit
   char enabled = 'O';                  ///< as pg_trigger.tgenabled: O origin, D disabled, R replica, A always
   Oid constraint = invalidOid;         ///< of CREATE CONSTRAINT TRIGGER: its row of pg_constraint
   Oid constraintRelation = invalidOid; ///< FROM
   bool isDeferrable = false, isDeferred = false;
   std::vector<int16_t> columns; ///< of UPDATE OF; empty: all
   std::vector<std::string> arguments;
   std::string condition;             ///< of WHEN, over OLD and NEW; empty: none
   std::vector<Dependency> dependsOn; ///< what the condition reads
   std::string oldTable, newTable;    ///< of REFERENCING; empty: none
   Oid parent = invalidOid;           ///< of the partitioned table's trigger that this is a part of

   bool has(uint32_t bit) const { return (type & bit) != 0; }
   bool isAfter() const { return (type & (trigger_bit::before | trigger_bit::insteadOf)) == 0; }
   bool isConstraint() const { return constraint != invalidOid; }
   bool hasTransitionTables() const { return !oldTable.empty() || !newTable.empty(); }
   bool reads(Oid relation, int16_t attribute) const {
      return std::any_of(dependsOn.begin(), dependsOn.end(), [&](const Dependency& read) {
         return read.relation == relation && (attribute == 0 || read.attribute == attribute);
      });
   }
   bool names(int16_t attribute) const { return std::find(columns.begin(), columns.end(), attribute) != columns.end(); }
};

} // namespace ouzel::catalog
