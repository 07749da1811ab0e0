#include "sql/bind/type/ordering.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/operator_name.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Whether values of a type have an order or an equality, and which way ORDER BY sorts them.

namespace ouzel::sql {

using catalog::BtreeStrategy;
using catalog::builtins;

namespace {

/// Whether values of the type have an order, or an equality: rows and arrays have if what is in them has.
bool isComparable(const BindState& state, Oid type, bool isOrdered) {
   checkStack();
   if (const Oid element = elementType(type)) return isComparable(state, element, isOrdered);
   if (type < firstUserOid)
      return type == oid::record || type == oid::unknown || type == oid::pgNodeTree || // the last one as text
             (isOrdered ? builtins().comparisonOperator(type, BtreeStrategy::Less) : builtins().equalityOperator(type));
   const auto relation = isRowValue(type) ? state.context.catalog.relationOfType(type) : nullptr;
   return !relation || std::all_of(relation->columns.begin(), relation->columns.end(), [&](const auto& column) {
      return column.isDropped || isComparable(state, column.type.oid, isOrdered);
   });
}

} // namespace

void requireOrdering(const BindState& state, const SqlType& type, uint32_t position) {
   if (isComparable(state, type.oid, true)) return;
   throw SqlError(sqlstate::undefinedFunction, "could not identify an ordering operator for type " + typeName(type.oid))
       .at(position)
       .hint("Use an explicit ordering operator or modify the query.");
}

void requireEquality(const BindState& state, const SqlType& type, uint32_t position) {
   if (isComparable(state, type.oid, false)) return;
   throw SqlError(sqlstate::undefinedFunction, "could not identify an equality operator for type " + typeName(type.oid))
       .at(position);
}

void requireSortKey(BindState& state, const Expr& key, uint32_t position) {
   requireOrdering(state, key.type, position);
   requireCollation(state, key);
}

void requireEqualKey(BindState& state, const Expr& key, uint32_t position) {
   requireEquality(state, key.type, position);
   requireCollation(state, key);
}

void direction(const BindState& state, const ::SortBy& sort, const SqlType& type, bool& descending, bool& nullsFirst) {
   descending = sort.sortby_dir == SORTBY_DESC;
   if (sort.sortby_dir == SORTBY_USING) {
      const uint32_t position = state.at(sort.location);
      const std::string name = operatorName(state, sort.useOp, position);
      const auto* op = requireOperator(name, type.oid, type.oid, position);
      const auto member = builtins().btreeStrategy(familyOperator(*op).oid);
      if (!member || (member->strategy != BtreeStrategy::Less && member->strategy != BtreeStrategy::Greater))
         throw SqlError(sqlstate::wrongObjectType, "operator " + name + " is not a valid ordering operator")
             .at(position)
             .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.");
      descending = member->strategy == BtreeStrategy::Greater;
   }
   nullsFirst = sort.sortby_nulls == SORTBY_NULLS_DEFAULT ? descending : sort.sortby_nulls == SORTBY_NULLS_FIRST;
}

} // namespace ouzel::sql
