#include <cstdlib>
#include <optional>

#include "catalog/builtin/builtin.hpp"
#include "optimizer/rewrite/rules.hpp"

// Sums of one column with different constants (ClickBench Q30 has ninety):
//
//    sum(x + c)   ->   sum(x) + c * count(x)
//    sum(c - x)   ->   c * count(x) - sum(x)
//    sum(x * c)   ->   c * sum(x)
//
// x is a smallint and c an int, small enough that x + c and x * c cannot overflow. So no error is lost: neither side
// has one. The sums of an aggregation that read one x share sum(x) and count(x). A single sum stays as it is.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// Beyond these, a smallint and the constant may give more than an int holds.
constexpr int64_t addendMax = INT32_MAX + int64_t{INT16_MIN}, factorMax = INT32_MAX / -int64_t{INT16_MIN};

/// x * factor + addend
struct Linear {
   const Expr* x;
   int64_t factor, addend;
};

std::optional<Linear> linearForm(const Expr& expr) {
   if (expr.type.oid == oid::int2) return Linear{&expr, 1, 0};
   const auto* function = functionOf(expr);
   if (!function || expr.args.size() != 2) return std::nullopt;
   const bool isSwapped = function->source.starts_with("int42");
   if (!isSwapped && !function->source.starts_with("int24")) return std::nullopt;
   const Expr& x = *expr.args[isSwapped ? 1 : 0];
   const Value* value = knownValue(*expr.args[isSwapped ? 0 : 1]);
   if (!value) return std::nullopt;
   const int64_t c = value->i64;
   const std::string_view operation = function->source.substr(std::string_view("int24").size());
   if (operation == "mul") return std::abs(c) <= factorMax ? std::optional(Linear{&x, c, 0}) : std::nullopt;
   if (std::abs(c) > addendMax) return std::nullopt;
   if (operation == "pl") return Linear{&x, 1, c};
   if (operation == "mi") return isSwapped ? Linear{&x, -1, c} : Linear{&x, 1, -c};
   return std::nullopt;
}

/// The linear form of a plain sum's argument.
std::optional<Linear> formOf(const AggregateCall& call) {
   if (!call.function || call.function->name != "sum" || call.type.oid != oid::int8 || call.distinct ||
       isVolatile(*call.args[0]))
      return std::nullopt;
   return linearForm(*call.args[0]);
}

bool sameFilter(const AggregateCall& a, const AggregateCall& b) {
   return a.filter && b.filter ? equal(*a.filter, *b.filter) : !a.filter && !b.filter;
}

ExprPtr call(std::string_view name, ExprPtr a, ExprPtr b) {
   constexpr Oid types[] = {oid::int8, oid::int8};
   std::vector<ExprPtr> args;
   args.push_back(std::move(a));
   args.push_back(std::move(b));
   return makeCall(catalog::builtins().findFunction(name, types), int8Type, std::move(args));
}

class Lifting {
public:
   Lifting(op::GroupBy& group, Query& query) : group_(group), query_(query) {}

   /// The sums that were replaced, as computations over the aggregation's new columns.
   std::vector<ComputedColumn> run() {
      for (size_t i = 0, count = group_.aggregates.size(); i < count; ++i) {
         const std::vector<size_t> sums = sumsLike(i, count);
         if (sums.size() > 1) share(sums);
      }
      std::erase_if(group_.aggregates, [this](const AggregateCall& one) { return replaced_.contains(one.column); });
      return std::move(above_);
   }

private:
   /// The sums from the i-th on that read the same x of the same rows as the i-th does.
   std::vector<size_t> sumsLike(size_t i, size_t count) const {
      std::vector<size_t> found;
      const AggregateCall& first = group_.aggregates[i];
      const auto form = replaced_.contains(first.column) ? std::nullopt : formOf(first);
      for (size_t k = i; form && k < count; ++k) {
         const auto other = formOf(group_.aggregates[k]);
         if (other && equal(*other->x, *form->x) && sameFilter(group_.aggregates[k], first)) found.push_back(k);
      }
      return found;
   }

   void share(const std::vector<size_t>& sums) {
      const Expr& x = *formOf(group_.aggregates[sums[0]])->x;
      const auto add = [&](std::string_view name, std::span<const Oid> types, bool isNullable) {
         AggregateCall made;
         made.function = catalog::builtins().findFunction(name, types);
         made.type = int8Type;
         made.column = query_.newColumn(std::string(name), int8Type, isNullable);
         made.args.push_back(clone(x));
         if (const ExprPtr& filter = group_.aggregates[sums[0]].filter) made.filter = clone(*filter);
         return made;
      };
      constexpr Oid smallint[] = {oid::int2}, any[] = {oid::any};
      AggregateCall sum = add("sum", smallint, true), count = add("count", any, false);
      for (const size_t i : sums) {
         const Linear form = *formOf(group_.aggregates[i]);
         ExprPtr value = query_.ref(sum.column);
         if (form.factor != 1) value = call("int8mul", std::move(value), makeInt8(form.factor));
         if (form.addend != 0)
            value = call("int8pl", std::move(value), call("int8mul", query_.ref(count.column), makeInt8(form.addend)));
         const ColumnId column = group_.aggregates[i].column;
         replaced_.add(column);
         above_.push_back({column, std::move(value)});
      }
      group_.aggregates.push_back(std::move(sum));
      group_.aggregates.push_back(std::move(count));
   }

   op::GroupBy& group_;
   Query& query_;
   ColumnSet replaced_;
   std::vector<ComputedColumn> above_;
};

} // namespace

void liftAddends(RelPtr& rel, Query& query) {
   forEachChild(*rel, [&](RelPtr& child) { liftAddends(child, query); });
   auto* group = rel->getIf<op::GroupBy>();
   if (!group) return;
   std::vector<ComputedColumn> above = Lifting(*group, query).run();
   rel = makeMap(std::move(rel), std::move(above));
}

} // namespace ouzel::optimizer
