#include "optimizer/rewrite/grouping/partial_aggregates.hpp"

#include "catalog/builtin/builtin.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

const SqlType numericType{oid::numeric};

const catalog::FunctionInfo* function(std::string_view name, std::initializer_list<Oid> types) {
   return catalog::builtins().findFunction(name, std::span(types.begin(), types.size()));
}

bool isExtreme(const AggregateCall& call) {
   return call.function->name == "min" || call.function->name == "max";
}

/// `name` over the argument of `call` and under its filter.
AggregateCall sameRows(const AggregateCall& call, std::string_view name, std::initializer_list<Oid> types,
                       Query& query) {
   AggregateCall other;
   other.function = function(name, types);
   other.type = {other.function->returnType, -1, invalidOid};
   other.column = query.newColumn(std::string(name), other.type);
   other.args.push_back(clone(*call.args[0]));
   if (call.filter) other.filter = clone(*call.filter);
   return other;
}

AggregateCall copyOf(const AggregateCall& call, Query& query) {
   AggregateCall copy;
   copy.column = query.copyColumn(call.column);
   copy.function = call.function;
   for (const ExprPtr& arg : call.args)
      copy.args.push_back(clone(*arg));
   if (call.filter) copy.filter = clone(*call.filter);
   copy.star = call.star;
   copy.type = call.type;
   return copy;
}

} // namespace

bool isDecomposable(const AggregateCall& call) {
   if (!call.function || call.distinct || call.fold || !call.orderBy.empty() || !call.directArgs.empty()) return false;
   if (call.filter && isVolatile(*call.filter)) return false;
   for (const ExprPtr& arg : call.args)
      if (isVolatile(*arg)) return false;
   const std::string_view name = call.function->name;
   if (name == "count") return call.args.size() <= 1;
   if (call.args.size() != 1) return false;
   const Oid type = call.args[0]->type.oid;
   const bool isNumber = type == oid::int2 || type == oid::int4 || type == oid::int8 || type == oid::numeric;
   if (name == "avg") return isNumber;
   if (name == "sum") return isNumber || type == oid::float8;
   return isExtreme(call) && (isNumber || type == oid::date);
}

std::vector<AggregateCall> partsOf(const AggregateCall& call, Query& query) {
   std::vector<AggregateCall> parts;
   if (call.function->name == "avg") {
      parts.push_back(sameRows(call, "sum", {call.args[0]->type.oid}, query));
      parts.push_back(sameRows(call, "count", {oid::any}, query));
   } else {
      parts.push_back(copyOf(call, query));
   }
   return parts;
}

AggregateCall totalOf(const AggregateCall& call, ColumnId part, Query& query) {
   const SqlType type = query.columns[part].type;
   AggregateCall total;
   total.function = isExtreme(call) ? call.function : function("sum", {type.oid});
   const Oid result = total.function->returnType;
   total.type = result == type.oid ? type : SqlType{result, -1, invalidOid}; // the sum of bigint is numeric
   total.column = query.newColumn(std::string(total.function->name), total.type);
   total.args.push_back(query.ref(part));
   return total;
}

ExprPtr valueOf(const AggregateCall& call, std::span<const ColumnId> totals, bool mayLackParts, Query& query) {
   const auto as = [&](ColumnId total, const SqlType& type) {
      ExprPtr value = query.ref(total);
      if (value->type.oid == type.oid) return value;
      const auto* cast =
          type.oid == oid::numeric ? function("numeric", {value->type.oid}) : function("int8", {value->type.oid});
      std::vector<ExprPtr> args;
      args.push_back(std::move(value));
      return makeCall(cast, type, std::move(args));
   };
   if (call.function->name == "avg") {
      std::vector<ExprPtr> args;
      args.push_back(as(totals[0], numericType));
      args.push_back(as(totals[1], numericType));
      auto value = std::make_unique<Expr>(ExprKind::Case, numericType);
      value->args.push_back(makeTest(ExprKind::IsNotNull, query.ref(totals[0])));
      value->args.push_back(
          makeCall(function("numeric_div", {oid::numeric, oid::numeric}), numericType, std::move(args)));
      return value;
   }
   ExprPtr value = as(totals[0], call.type);
   if (call.function->name != "count" || !mayLackParts) return value;
   auto counted = std::make_unique<Expr>(ExprKind::Coalesce, call.type);
   counted->args.push_back(std::move(value));
   counted->args.push_back(makeInt8(0));
   return counted;
}

} // namespace ouzel::optimizer
