#include <algorithm>
#include <array>
#include <span>

#include "catalog/builtin/builtin.hpp"
#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/base_type/type_form.hpp"
#include "common/type/blanks.hpp"
#include "common/value/range_types.hpp"
#include "optimizer/query/order_key.hpp"
#include "optimizer/rewrite/rules.hpp"

// The executor takes two values for one group when their bytes are equal. The bytes of equal arrays may differ: {1.0}
// and {1.00}, {-0} and {0}, {1 day} and {24:00:00}; those of bpchar without a length may: 'a' and 'a ', those of
// jsonb, and those of texts with a nondeterministic collation. So such values are grouped by their order keys
// (query/order_key.hpp), and a group shows one of its values:
//
//    GROUP BY a       k := order_key(a), m := min(a) GROUP BY k, and a := m where k is not NULL
//    DISTINCT a       as GROUP BY over all columns; UNION likewise
//    DISTINCT ON (a)  DISTINCT ON (order_key(a))
//    PARTITION BY a   PARTITION BY order_key(a)

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// A value whose bytes may differ from those of an equal one. Array elements of the other types have one form each, and
/// no other type has the same elements: an oid[] may say that they are regclass, a varbit[] that they are bit.
bool isEncoded(const SqlType& type, const CollationTable& collations) {
   constexpr std::array exact{oid::boolean, oid::int2, oid::int4,      oid::int8,        oid::date,
                              oid::time,    oid::uuid, oid::timestamp, oid::timestamptz, oid::bytea};
   if (const IcuCollation* collation = collations.comparing(type); collation && !collation->isDeterministic)
      return true;
   if (keepsBlanks(type) || type.oid == oid::jsonb || type.oid == oid::citext || type.oid == oid::cube ||
       type.oid == oid::tsquery || isRowValue(type.oid))
      return true;
   const RangeType* range = findRangeType(type.oid);
   if (!range) range = findMultirangeType(type.oid);
   if (range) return range->name == nullptr || range->subtype == oid::numeric;
   if (!catalog::builtins().isArray(type.oid)) return false;
   return std::find(exact.begin(), exact.end(), arrayElementType(type.oid)) == exact.end();
}

/// One of equal values: the smallest by its bytes, but any jsonb. Of texts with a collation the greatest, which has
/// small letters where others have capitals.
AggregateCall minimum(ExprPtr value, Query& query) {
   AggregateCall call;
   const auto* type = catalog::builtins().type(value->type.oid);
   const bool isText = type && type->collation != invalidOid && !catalog::builtins().isArray(value->type.oid);
   const Oid argument = value->type.oid == oid::bpchar ? oid::bpchar : isText ? oid::text : oid::anyarray;
   const char* choice = isText && query.columns.collations.comparing(value->type) ? "max" : "min";
   call.function = catalog::builtins().findFunction(choice, std::span(&argument, 1));
   call.type = value->type;
   call.column = query.newColumn("shown", value->type);
   call.args.push_back(std::move(value));
   return call;
}

RelPtr encodeKeys(RelPtr rel, Query& query) {
   auto& group = rel->as<op::GroupBy>();
   std::vector<ComputedColumn> above;
   for (AggregateCall& call : group.aggregates)
      if (call.distinct && call.function->name == "count" && isEncoded(call.args[0]->type, query.columns.collations))
         call.args[0] = makeOrderKey(std::move(call.args[0]), query.columns.collations);
   for (ComputedColumn& key : group.keys) {
      if (!isEncoded(key.expr->type, query.columns.collations)) continue;
      AggregateCall shown = minimum(clone(*key.expr), query);
      key.expr = makeOrderKey(std::move(key.expr), query.columns.collations);
      const ColumnId encoded = query.newColumn("key", key.expr->type), column = std::exchange(key.column, encoded);
      // Grouping sets without the key have NULL in its place, though the group has values.
      auto value = std::make_unique<Expr>(ExprKind::Case, shown.type);
      value->args.push_back(makeTest(ExprKind::IsNotNull, query.ref(encoded)));
      value->args.push_back(query.ref(shown.column));
      above.push_back({column, std::move(value)});
      group.aggregates.push_back(std::move(shown));
   }
   return above.empty() ? std::move(rel) : makeMap(std::move(rel), std::move(above));
}

/// DISTINCT as GROUP BY. The columns above keep their ids, so those below get new ones.
RelPtr groupDistinct(RelPtr rel, Query& query) {
   const auto& distinct = rel->as<op::Distinct>();
   ColumnMap renamed;
   RelPtr input = cloneRenamed(*rel->inputs[0], query, renamed);
   op::GroupBy group;
   ColumnSet seen;
   for (const ColumnId column : distinct.columns) {
      if (seen.contains(column)) continue; // one column with two output names
      seen.add(column);
      group.keys.push_back({column, query.ref(renamed.at(column))});
   }
   return makeRel(RelKind::GroupBy, std::move(group), std::move(input));
}

/// UNION as GROUP BY over UNION ALL.
RelPtr groupUnion(RelPtr rel, Query& query) {
   auto& setOp = rel->as<op::SetOp>();
   op::GroupBy group;
   for (ColumnId& column : setOp.columns) {
      const ColumnId below = query.copyColumn(column);
      group.keys.push_back({std::exchange(column, below), query.ref(below)});
   }
   setOp.all = true;
   return makeRel(RelKind::GroupBy, std::move(group), std::move(rel));
}

RelPtr encodeDistinctOn(RelPtr rel, Query& query) {
   auto& distinct = rel->as<op::Distinct>();
   std::vector<ComputedColumn> below;
   for (ColumnId& column : distinct.columns) {
      if (!isEncoded(query.columns[column].type, query.columns.collations)) continue;
      ExprPtr encoded = makeOrderKey(query.ref(column), query.columns.collations);
      const ColumnId key = query.newColumn("key", encoded->type);
      below.push_back({key, std::move(encoded)});
      for (SortKey& sortKey : distinct.sortKeys) // the operator recognises its columns among them
         if (columnOf(orderedValue(*sortKey.expr)) == column) sortKey.expr = query.ref(key);
      column = key;
   }
   rel->inputs[0] = makeMap(std::move(rel->inputs[0]), std::move(below));
   return rel;
}

} // namespace

void encodeGroups(RelPtr& rel, Query& query) {
   forEachChild(*rel, [&](RelPtr& child) { encodeGroups(child, query); });
   if (auto* window = rel->getIf<op::Window>())
      for (ExprPtr& key : window->spec.partitionBy)
         if (isEncoded(key->type, query.columns.collations))
            key = makeOrderKey(std::move(key), query.columns.collations);
   const auto hasKeyed = [&](const std::vector<ColumnId>& columns) {
      return std::any_of(columns.begin(), columns.end(), [&](ColumnId column) {
         return isEncoded(query.columns[column].type, query.columns.collations);
      });
   };
   if (const auto* distinct = rel->getIf<op::Distinct>(); distinct && hasKeyed(distinct->columns)) {
      const bool isOn = !distinct->sortKeys.empty();
      rel = isOn ? encodeDistinctOn(std::move(rel), query) : groupDistinct(std::move(rel), query);
   }
   const auto* setOp = rel->getIf<op::SetOp>();
   if (setOp && setOp->kind != SetOpKind::Union && hasKeyed(setOp->columns))
      replaceSetOperation(rel, true, query);
   else if (setOp && !setOp->all && hasKeyed(setOp->columns))
      rel = groupUnion(std::move(rel), query);
   if (rel->kind == RelKind::GroupBy) rel = encodeKeys(std::move(rel), query);
}

} // namespace ouzel::optimizer
