#include "sql/bind/type/ordering.hpp"

#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/operator_name.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Whether values of a type have an order or an equality, and which way ORDER BY sorts them.

namespace ouzel::sql {

using catalog::BtreeStrategy;
using catalog::builtins;

void requireOrdering(const SqlType& type, uint32_t position) {
   if (builtins().comparisonOperator(type.oid, BtreeStrategy::Less)) return;
   throw SqlError(sqlstate::undefinedFunction, "could not identify an ordering operator for type " + typeName(type.oid))
       .at(position)
       .hint("Use an explicit ordering operator or modify the query.");
}

void requireEquality(const SqlType& type, uint32_t position) {
   if (type.oid == oid::unknown || builtins().equalityOperator(type.oid)) return;
   throw SqlError(sqlstate::undefinedFunction, "could not identify an equality operator for type " + typeName(type.oid))
       .at(position);
}

void requireSortKey(BindState& state, const Expr& key, uint32_t position) {
   requireOrdering(key.type, position);
   requireCollation(state, key);
}

void requireEqualKey(BindState& state, const Expr& key, uint32_t position) {
   requireEquality(key.type, position);
   requireCollation(state, key);
}

void direction(const BindState& state, const ::SortBy& sort, const SqlType& type, bool& descending, bool& nullsFirst) {
   descending = sort.sortby_dir == SORTBY_DESC;
   if (sort.sortby_dir == SORTBY_USING) {
      const uint32_t position = state.at(sort.location);
      const std::string name = operatorName(state, sort.useOp, position);
      const auto* op = requireOperator(name, type.oid, type.oid, position);
      const auto member = builtins().btreeStrategy(op->oid);
      if (!member || (member->strategy != BtreeStrategy::Less && member->strategy != BtreeStrategy::Greater))
         throw SqlError(sqlstate::wrongObjectType, "operator " + name + " is not a valid ordering operator")
             .at(position)
             .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.");
      descending = member->strategy == BtreeStrategy::Greater;
   }
   nullsFirst = sort.sortby_nulls == SORTBY_NULLS_DEFAULT ? descending : sort.sortby_nulls == SORTBY_NULLS_FIRST;
}

} // namespace ouzel::sql
