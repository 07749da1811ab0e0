#include "sql/bind/query/table_sample.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

// TABLESAMPLE: a predicate over row ids, next to the table's scan. Whether a row is chosen depends on its id, the
// percentage and a number: the one of REPEATABLE, or one that differs from statement to statement.
//
//    FROM t TABLESAMPLE BERNOULLI (10)      Select (ouzel_sample_rows(rowid, 10, ouzel_sample_seed(...)))
//                                              Get t

namespace ouzel::sql {

namespace {

/// Functions of ouzel_proc.inc.
constexpr std::string_view rowSample = "ouzel_sample_rows", blockSample = "ouzel_sample_blocks",
                           statementSeed = "ouzel_sample_seed";

[[noreturn]] void refuse(SqlState state, const std::string& message, uint32_t position) {
   throw SqlError(state, message).at(position);
}

/// The function that chooses rows by the method.
const catalog::FunctionInfo* functionOfMethod(const BindState& state, const ::RangeTableSample& sample) {
   const ListOf<> names(sample.method);
   const std::string method = joinNames(names);
   const std::string_view last = stringOf(names.back());
   const bool isPlain = names.size() == 1 || stringOf(names[0]) == "pg_catalog";
   if (!isPlain || (last != "bernoulli" && last != "system"))
      refuse(sqlstate::undefinedObject, "tablesample method " + method + " does not exist", state.at(sample.location));
   if (const size_t given = ListOf<>(sample.args).size(); given != 1)
      refuse(sqlstate::invalidTablesampleArgument,
             "tablesample method " + method + " requires 1 argument, not " + std::to_string(given),
             state.at(sample.location));
   return catalog::builtins().functions(std::string(last == "system" ? blockSample : rowSample))[0];
}

/// A constant that no row would be needed to refuse.
void requireNumber(const ::Node* node, uint32_t position, SqlState state, const char* nullMessage, bool isPercentage) {
   if (!isNode(node, T_A_Const)) return;
   const auto& constant = *as<::A_Const>(node);
   if (constant.isnull) refuse(state, nullMessage, position);
   const bool isInteger = isNode(&constant.val.node, T_Integer);
   if (isPercentage && isInteger && constant.val.ival.ival > 100)
      refuse(state, "sample percentage must be between 0 and 100", position);
}

ExprPtr bindNumber(BindState& state, Scope& scope, const ::Node* node, Oid type, const char* what) {
   auto expr = bindExpr(state, scope, node, Clause::FromFunction);
   const uint32_t position = expr->position;
   if (auto number = tryCoerce(state, expr, plainType(type), CoercionContext::Assignment)) return number;
   refuse(sqlstate::datatypeMismatch,
          "argument of " + std::string(what) + " must be type " + formatType(plainType(type)) + ", not type " +
              formatType(expr->type),
          position);
}

uint32_t positionOf(const BindState& state, const ::Node& relation) {
   return state.at(as<::RangeVar>(&relation)->location);
}

/// The scan of the item, below the policies of the table.
RelPtr* scanOf(RelPtr& rel) {
   RelPtr* at = &rel;
   while ((*at)->kind != RelKind::Get && (*at)->inputs.size() == 1)
      at = &(*at)->inputs[0];
   return at;
}

} // namespace

FromItem bindTableSample(BindState& state, Scope& scope, const ::RangeTableSample& sample, FromItem table) {
   const catalog::Relation* relation = table.items[0].relation;
   if (relation && relation->relationKind == catalog::RelationKind::Virtual && relation->relkind() == 'r')
      throwNotSupported("TABLESAMPLE of a system catalog", positionOf(state, *sample.relation));
   if (!relation || relation->foreign ||
       (relation->relationKind != catalog::RelationKind::Table &&
        relation->relationKind != catalog::RelationKind::MaterializedView))
      refuse(sqlstate::featureNotSupported, "TABLESAMPLE clause can only be applied to tables and materialized views",
             positionOf(state, *sample.relation));
   const catalog::FunctionInfo* function = functionOfMethod(state, sample);
   const ::Node* percentage = ListOf<>(sample.args)[0];
   requireNumber(percentage, 0, sqlstate::invalidTablesampleArgument, "TABLESAMPLE parameter cannot be null", true);
   const ColumnId rowId = state.addColumn(scope, "rowid", plainType(oid::int8));
   state.columns[rowId].nullable = false;
   std::vector<ExprPtr> args;
   args.push_back(makeColumn(rowId, plainType(oid::int8)));
   const bool outerLateral = std::exchange(scope.lateralActive, true);
   args.push_back(bindNumber(state, scope, percentage, oid::float4, "TABLESAMPLE"));
   if (sample.repeatable) {
      requireNumber(sample.repeatable, 0, sqlstate::invalidTablesampleRepeat,
                    "TABLESAMPLE REPEATABLE parameter cannot be null", false);
      args.push_back(bindNumber(state, scope, sample.repeatable, oid::float8, "REPEATABLE"));
   } else {
      std::vector<ExprPtr> number; // so that two samples of one statement differ
      number.push_back(
          makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, static_cast<int32_t>(rowId))));
      const auto* seed = catalog::builtins().functions(std::string(statementSeed))[0];
      args.push_back(makeCall(seed, plainType(oid::float8), std::move(number)));
   }
   scope.lateralActive = outerLateral;
   RelPtr& scan = *scanOf(table.rel);
   scan->as<op::Get>().columns.push_back({rowId, rowIdAttribute});
   scan = makeSelect(std::move(scan), makeCall(function, plainType(oid::boolean), std::move(args)));
   return table;
}

} // namespace ouzel::sql
