#include "sql/bind/type/collated_call.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "catalog/builtin/builtin.hpp"
#include "common/type/blanks.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/type_rules.hpp"

// What expressions do under collations of ICU.

namespace ouzel::sql {

namespace {

using catalog::builtins;
using catalog::FunctionInfo;

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> list) {
   return std::find(list.begin(), list.end(), name) != list.end();
}

bool isEqualityOp(CompareOp op) {
   return op == CompareOp::Eq || op == CompareOp::Ne || isNullSafe(op);
}

void becomeKey(ExprPtr& arg, const IcuCollation& collation) {
   const auto* type = builtins().type(arg->type.oid);
   if (type && type->collation != invalidOid && !isCollationKey(*arg))
      arg = makeCollationKey(std::move(arg), collation);
}

void becomeKeys(Expr& expr, const IcuCollation& collation) {
   for (ExprPtr& arg : expr.args)
      becomeKey(arg, collation);
}

[[noreturn, gnu::cold]] void throwNondeterministic(std::string_view use) {
   throw SqlError(sqlstate::featureNotSupported,
                  "nondeterministic collations are not supported for " + std::string(use));
}

/// A call that returns one of its arguments, the first in some order, as the same call of keys.
void chooseByKeys(Expr& expr, const IcuCollation& collation) {
   if (keepsBlanks(expr.type))
      throwNotSupported("a choice among values of type character by their collation", expr.position);
   auto choice = std::make_unique<Expr>(expr.kind, expr.type, std::move(expr.fields));
   choice->position = expr.position;
   choice->args = std::move(expr.args);
   for (ExprPtr& arg : choice->args)
      arg = makeReadableKey(std::move(arg), collation);
   choice->type = choice->args[0]->type;
   const ExprPtr text = makeKeyedText(std::move(choice), expr.type);
   expr.become(ExprKind::Call);
   expr.fields = std::move(text->fields);
   expr.args = std::move(text->args);
}

/// lower() and its kin with the locale.
void localize(Expr& expr, const char* function, const IcuCollation& collation) {
   expr.as<scalar::Call>().function = builtins().functions(function)[0];
   expr.args.push_back(makeConstant({oid::text, -1, expr.args[0]->type.collation}, Value::string(collation.locale)));
}

/// a ILIKE b as lower(a) LIKE lower(b), which is what it means.
void foldCase(Expr& expr, bool isNegated, const IcuCollation& collation) {
   constexpr std::array<Oid, 2> texts{oid::text, oid::text};
   for (ExprPtr& arg : expr.args) {
      const SqlType type{oid::text, -1, arg->type.collation};
      std::vector<ExprPtr> args;
      args.push_back(std::move(arg));
      arg = makeCall(nullptr, type, std::move(args));
      localize(*arg, "ouzel_lower", collation);
   }
   expr.as<scalar::Call>().function = builtins().findFunction(isNegated ? "textnlike" : "textlike", texts);
}

/// What a nondeterministic collation does not allow.
void refuse(const Expr& expr, std::string_view source) {
   if (source.find("iclike") != std::string_view::npos || source.find("icnlike") != std::string_view::npos)
      throwNondeterministic("ILIKE");
   if (isOneOf(source, {"textlike", "textnlike", "bpcharlike", "bpcharnlike"})) throwNondeterministic("LIKE");
   if (source.find("regex") != std::string_view::npos || source.starts_with("regexp_") ||
       isOneOf(source, {"similar_escape", "similar_to_escape_1", "similar_to_escape_2"}))
      throwNondeterministic("regular expressions");
   if (isOneOf(source,
               {"textpos", "replace_text", "split_part", "text_to_array", "text_to_array_null", "text_starts_with"}))
      throwNondeterministic("substring searches");
   if (isOneOf(source, {"array_remove", "array_replace"}))
      throwNotSupported("a nondeterministic collation in " + std::string(source) + "()", expr.position);
}

void collateFunction(Expr& expr, const FunctionInfo& function, const IcuCollation& collation) {
   const std::string_view source = function.source;
   if (!collation.isDeterministic) refuse(expr, source);
   if (source == "lower") return localize(expr, "ouzel_lower", collation);
   if (source == "upper") return localize(expr, "ouzel_upper", collation);
   if (source == "initcap") return localize(expr, "ouzel_initcap", collation);
   if (source == "texticlike" || source == "texticnlike") return foldCase(expr, source == "texticnlike", collation);
   if (collation.comparesBytes) return;
   if (isOneOf(source, {"ouzel_greatest", "ouzel_least", "text_larger", "text_smaller", "bpchar_larger",
                        "bpchar_smaller", "array_larger", "array_smaller"})) {
      if (builtins().isArray(expr.type.oid))
         throwNotSupported("a choice among arrays by their collation", expr.position);
      return chooseByKeys(expr, collation);
   }
   if (isOneOf(source, {"array_lt", "array_le", "array_gt", "array_ge", "btarraycmp", "bttextcmp", "text_lt", "text_le",
                        "text_gt", "text_ge", "bpcharlt", "bpcharle", "bpchargt", "bpcharge", "bpcharcmp"}))
      return becomeKeys(expr, collation);
   if (!collation.isDeterministic && isOneOf(source, {"array_eq", "array_ne", "texteq", "textne", "bpchareq",
                                                      "bpcharne", "arrayoverlap", "arraycontains", "arraycontained",
                                                      "array_position", "array_position_start", "array_positions"}))
      becomeKeys(expr, collation);
}

} // namespace

void collateCall(Expr& expr, const IcuCollation& collation) {
   if (expr.kind == ExprKind::Call) return collateFunction(expr, *expr.as<scalar::Call>().function, collation);
   if (collation.comparesBytes) return;
   switch (expr.kind) {
   case ExprKind::Compare:
      if (!collation.isDeterministic || !isEqualityOp(expr.as<scalar::Compare>().op)) becomeKeys(expr, collation);
      return;
   case ExprKind::InList:
      if (!collation.isDeterministic) becomeKeys(expr, collation);
      return;
   case ExprKind::AnyArray: {
      const auto& any = expr.as<scalar::AnyArray>();
      if (any.function) {
         if (!collation.isDeterministic) refuse(expr, any.function->source);
         if (any.function->source == "texticlike" || any.function->source == "texticnlike")
            throwNotSupported("ILIKE with an array under a collation of ICU", expr.position);
         return;
      }
      if (!collation.isDeterministic || !isEqualityOp(any.op)) becomeKeys(expr, collation);
      return;
   }
   default: return;
   }
}

void collateMember(BindState& state, Expr& subquery, size_t member, const IcuCollation& collation) {
   auto& fields = subquery.as<scalar::Subquery>();
   if (collation.comparesBytes || (collation.isDeterministic && isEqualityOp(fields.op))) return;
   ColumnId& column = fields.columns[member];
   auto key = makeCollationKey(makeColumn(column, state.columns[column].type), collation);
   const ColumnId keyed = state.addColumn(state.depthOf(column), "key", key->type);
   std::vector<ComputedColumn> computed;
   computed.push_back({keyed, std::move(key)});
   fields.query = makeMap(std::move(fields.query), std::move(computed));
   column = keyed;
   becomeKey(subquery.args[member], collation);
}

bool collateChoice(const FunctionInfo& function, std::vector<ExprPtr>& args, uint32_t directCount,
                   const IcuCollation& collation) {
   if (collation.comparesBytes || !isOneOf(function.name, {"min", "max", "percentile_disc", "mode"})) return false;
   ExprPtr& value = args[directCount];
   const auto* info = builtins().type(value->type.oid);
   if (!info || info->collation == invalidOid || isCollationKey(*value)) return false;
   const bool givesArray = directCount > 0 && builtins().isArray(args[0]->type.oid);
   if (keepsBlanks(value->type) || builtins().isArray(value->type.oid) || givesArray)
      throwNotSupported(std::string(function.name) + "() of type " + typeName(value->type) +
                            (givesArray ? ", several at once," : "") + " under a collation of ICU",
                        value->position);
   value = makeReadableKey(std::move(value), collation);
   return true;
}

void collateHypothetical(const CollationTable& collations, std::vector<ExprPtr>& args, uint32_t directCount) {
   for (uint32_t i = 0; i < directCount; ++i)
      if (const IcuCollation* collation = collations.comparing(args[directCount + i]->type))
         for (ExprPtr* arg : {&args[i], &args[directCount + i]})
            *arg = makeCollationKey(std::move(*arg), *collation);
}

} // namespace ouzel::sql
