#include "sql/bind/type/collation.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "common/thread/stack.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/type/collated_call.hpp"
#include "sql/bind/type/type_rules.hpp"

// Derivation of collations. Where it ends in a collation of ICU, it replaces what is compared by collation keys
// (sql/bind/type/collated_call.hpp); other collations compare bytes and decide nothing but errors.

namespace ouzel::sql {

namespace {

using Strength = DerivedCollation::Strength;

[[noreturn, gnu::cold]] void throwMismatch(const BindState& state, std::string_view kind, Oid first, Oid second,
                                           uint32_t position) {
   SqlError error(sqlstate::collationMismatch, "collation mismatch between " + std::string(kind) + " collations \"" +
                                                   collationName(state, first) + "\" and \"" +
                                                   collationName(state, second) + "\"");
   error.setPosition(position);
   if (kind == "explicit") throw error;
   throw std::move(error).hint(
       "You can choose the collation by applying the COLLATE clause to one or both expressions.");
}

[[noreturn, gnu::cold]] void throwUndetermined(std::string_view use) {
   throw SqlError(sqlstate::indeterminateCollation,
                  "could not determine which collation to use for " + std::string(use))
       .hint("Use the COLLATE clause to set the collation explicitly.");
}

bool isCollatable(const SqlType& type) {
   const auto* info = catalog::builtins().type(type.oid);
   return info && info->collation != invalidOid;
}

/// Adds an operand to those that an operator has.
void merge(const BindState& state, DerivedCollation& into, const DerivedCollation& from) {
   if (from.strength > into.strength) {
      into = from;
      return;
   }
   if (from.strength < into.strength || from.collation == into.collation) return;
   if (into.strength == Strength::Explicit)
      throwMismatch(state, "explicit", into.collation, from.collation, from.position);
   if (into.strength != Strength::Implicit || from.collation == defaultCollation) return;
   if (into.collation == defaultCollation) {
      into = from;
      return;
   }
   into.strength = Strength::Conflict;
   into.other = from.collation;
   into.otherPosition = from.position;
}

/// Use of a collation by a function, as the error names it; empty: it uses none.
std::string_view useOf(const catalog::FunctionInfo& function) {
   static constexpr std::pair<std::string_view, std::string_view> uses[] = {
       {"lower", "lower() function"}, {"upper", "upper() function"}, {"initcap", "initcap() function"}};
   const std::string_view source = function.source, name = function.name;
   for (const auto& [caseFunction, use] : uses)
      if (source == caseFunction) return use;
   const auto isIn = [&](std::initializer_list<std::string_view> list) {
      return std::find(list.begin(), list.end(), source) != list.end();
   };
   if (source.find("regex") != std::string_view::npos || source.starts_with("regexp_")) return "regular expression";
   if (source.find("iclike") != std::string_view::npos || source.find("icnlike") != std::string_view::npos)
      return "ILIKE";
   if (name == "min" || name == "max" || source == "ouzel_greatest" || source == "ouzel_least" ||
       isIn({"array_eq",    "array_ne",     "array_lt",      "array_le",       "array_gt",      "array_ge",
             "btarraycmp",  "textpos",      "replace_text",  "split_part",     "text_to_array", "text_to_array_null",
             "text_larger", "text_smaller", "bpchar_larger", "bpchar_smaller", "bttextcmp",     "texteq",
             "textne",      "text_lt",      "text_le",       "text_gt",        "text_ge"}))
      return "string comparison";
   return {};
}

class Derivation {
public:
   explicit Derivation(BindState& state) : state_(state) {}

   /// `expr` and all in it. Nodes get their collations.
   DerivedCollation settle(Expr& expr) {
      checkStack();
      DerivedCollation operands;
      switch (expr.kind) {
      case ExprKind::Column:
      case ExprKind::Constant:
      case ExprKind::Parameter:
      case ExprKind::Subquery: return leaf(expr);
      case ExprKind::Relabel:
         if (!expr.as<scalar::Relabel>().isCollate) break;
         settle(*expr.args[0]);
         return {Strength::Explicit, expr.type.collation, expr.position, invalidOid, 0};
      case ExprKind::Case: // conditions do not count, results do
         for (size_t i = 0; i < expr.args.size(); ++i) {
            const DerivedCollation one = settle(*expr.args[i]);
            if (i % 2 == 1 || i + 1 == expr.args.size()) merge(state_, operands, one);
         }
         return result(expr, operands);
      case ExprKind::SubscriptRef:
         operands = settle(*expr.args[0]);
         for (size_t i = 1; i < expr.args.size(); ++i)
            settle(*expr.args[i]);
         return result(expr, operands);
      case ExprKind::Row:
      case ExprKind::And:
      case ExprKind::Or:
      case ExprKind::Not:
         for (const ExprPtr& arg : expr.args)
            settle(*arg);
         return {};
      default: break;
      }
      if (isCollationKey(expr)) return {}; // settled before
      if (isKeyedText(expr)) return implicit(expr.type, expr.position);
      for (const ExprPtr& arg : expr.args)
         merge(state_, operands, settle(*arg));
      if (operands.strength == Strength::Conflict || expr.type.collation == conflictingCollation) requireFor(expr);
      const DerivedCollation own = result(expr, operands);
      if (operands.strength == Strength::Implicit || operands.strength == Strength::Explicit)
         if (const IcuCollation* collation = state_.columns.collations.find(operands.collation))
            collateCall(expr, *collation);
      return own;
   }

   DerivedCollation leaf(Expr& expr) {
      if (const auto* query = expr.getIf<scalar::Subquery>())
         for (size_t i = 0; i < expr.args.size(); ++i) { // ANY and ALL compare each with a column
            DerivedCollation operands = settle(*expr.args[i]);
            merge(state_, operands, implicit(state_.columns[query->columns[i]].type, expr.position));
            if (operands.strength == Strength::Conflict) throwUndetermined("string comparison");
            if (const IcuCollation* collation = state_.columns.collations.find(operands.collation))
               collateMember(state_, expr, i, *collation);
         }
      return implicit(expr.type, expr.position);
   }

private:
   static DerivedCollation implicit(const SqlType& type, uint32_t position) {
      DerivedCollation own;
      own.position = position;
      if (type.collation == invalidOid) return own;
      own.strength = type.collation == conflictingCollation ? Strength::Conflict : Strength::Implicit;
      own.collation = own.other = type.collation;
      return own;
   }
   static DerivedCollation result(Expr& expr, DerivedCollation operands) {
      if (!isCollatable(expr.type)) return {};
      if (operands.strength == Strength::None)
         operands = {Strength::Implicit, plainType(expr.type.oid).collation, expr.position, invalidOid, 0};
      expr.type.collation = operands.strength == Strength::Conflict ? conflictingCollation : operands.collation;
      return operands;
   }

   /// The operands of `expr` have no common collation.
   static void requireFor(const Expr& expr) {
      if (const auto* function = functionOf(expr)) {
         if (const std::string_view use = useOf(*function); !use.empty()) throwUndetermined(use);
         return;
      }
      if (expr.kind == ExprKind::Compare || expr.kind == ExprKind::InList || expr.kind == ExprKind::AnyArray)
         throwUndetermined("string comparison");
   }

   BindState& state_;
};

} // namespace

std::string collationName(const BindState& state, Oid collation) {
   const auto info = catalog::collationInfo(state.context.catalog, collation);
   return info ? std::string(info->name) : std::to_string(collation);
}

void settleCollations(BindState& state, Expr& expr) {
   if (state.hasCollations) Derivation(state).settle(expr);
}

Oid commonCollation(BindState& state, std::span<Expr* const> exprs, bool mayConflict) {
   DerivedCollation common;
   for (Expr* expr : exprs)
      merge(state, common, Derivation(state).settle(*expr));
   if (common.strength != Strength::Conflict) return common.collation;
   if (!mayConflict) throwMismatch(state, "implicit", common.collation, common.other, common.otherPosition);
   return conflictingCollation;
}

SqlType settleCall(BindState& state, const catalog::FunctionInfo& function, std::span<const ExprPtr> args,
                   const SqlType& result) {
   if (!state.hasCollations) return result;
   DerivedCollation operands;
   for (const ExprPtr& arg : args)
      merge(state, operands, Derivation(state).settle(*arg));
   if (operands.strength == Strength::Conflict)
      if (const std::string_view use = useOf(function); !use.empty()) throwUndetermined(use);
   if (!isCollatable(result) || operands.strength == Strength::None) return result;
   SqlType type = result;
   type.collation = operands.strength == Strength::Conflict ? conflictingCollation : operands.collation;
   return type;
}

ExprPtr bindCollationFor(BindState& state, ExprPtr value, uint32_t position) {
   const SqlType text{oid::text, -1, defaultCollation};
   if (value->type.oid == oid::unknown) return makeNull(text);
   if (!isCollatable(value->type))
      throw SqlError(sqlstate::datatypeMismatch, "collations are not supported by type " + typeName(value->type));
   Expr* const values[] = {value.get()};
   const Oid collation = commonCollation(state, values, true);
   if (collation == conflictingCollation) return makeNull(text);
   const auto info = catalog::collationInfo(state.context.catalog, collation);
   const std::string shown =
       info ? catalog::displayName(state.context.catalog, state.path(), *info) : std::to_string(collation);
   auto name = makeConstant(text, Value::string(shown));
   name->position = position;
   return name;
}

void requireCollation(BindState& state, const Expr& key) {
   if (key.type.collation != conflictingCollation) return;
   const DerivedCollation derived = Derivation(state).settle(*clone(key));
   if (derived.collation == conflictingCollation) throwUndetermined("string comparison"); // a column of a subquery
   throwMismatch(state, "implicit", derived.collation, derived.other, derived.otherPosition);
}

} // namespace ouzel::sql
