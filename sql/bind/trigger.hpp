#pragma once
#include <span>

#include "catalog/object/objects.hpp"
#include "sql/bind/binder.hpp"

namespace ouzel::sql {

/// Binds the WHEN of a trigger that is made, for its errors. `trigger`: complete but for its condition.
void checkTriggerCondition(const catalog::Relation& table, const catalog::Trigger& trigger, const ::Node& condition,
                           const BindContext& context);

/// The rows for which a row trigger fires, as one virtual table: the columns of OLD, then those of NEW, as far as the
/// event has them.
struct TriggerRows {
   catalog::RelationPtr table; ///< whose live columns OLD and NEW have
   catalog::RelationPtr rows;
   bool hasOld = false, hasNew = false;
};
/// A condition over OLD and NEW. The rows for which it is true, or for which it is false or NULL.
struct TriggerRowFilter {
   const ::Node* condition;
   bool isTrue;
};
/// Binds an INSERT in the function of a trigger for all rows that pass the filters at once, in their order. Throws
/// 42804 for a condition that is no boolean.
BoundQuery bindForTriggerRows(const ::Node& insert, const TriggerRows& rows, std::span<const TriggerRowFilter> filters,
                              const BindContext& context);

} // namespace ouzel::sql
