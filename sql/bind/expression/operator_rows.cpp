#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/expression/shared_value.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Comparison of two lists of fields: (a, b) < (c, d).

namespace ouzel::sql {

using catalog::BtreeStrategy;
using catalog::builtins;
using catalog::OperatorInfo;

namespace {

/// The strict operator and the equality of the order in which an operator compares rows: < and = for <=.
std::pair<std::string_view, std::string_view> operatorsOfOrder(std::string_view name, Oid left, Oid right,
                                                               uint32_t position) {
   if (name == "<" || name == "<=" || name == ">" || name == ">=") return {name.substr(0, 1), "="};
   const OperatorInfo* op = requireOperator(name, left, right, position);
   if (op->result != oid::boolean)
      throw SqlError(sqlstate::datatypeMismatch,
                     "row comparison operator must yield type boolean, not type " + typeName(op->result))
          .at(position);
   const auto member = builtins().btreeStrategy(familyOperator(*op).oid);
   const auto find = [&](BtreeStrategy strategy) {
      return builtins().btreeOperator(member->family, op->left, op->right, strategy);
   };
   const bool isDescending =
       member && (member->strategy == BtreeStrategy::Greater || member->strategy == BtreeStrategy::GreaterEqual);
   const OperatorInfo* strict = member ? find(isDescending ? BtreeStrategy::Greater : BtreeStrategy::Less) : nullptr;
   const OperatorInfo* equal = member ? find(BtreeStrategy::Equal) : nullptr;
   if (!strict || !equal || member->strategy == BtreeStrategy::Equal)
      throw SqlError(sqlstate::featureNotSupported,
                     "could not determine interpretation of row comparison operator " + std::string(name))
          .at(position)
          .hint("Row comparison operators must be associated with btree operator families.");
   return {strict->name, equal->name};
}

} // namespace

ExprPtr compareRows(BindState& state, const Scope& scope, std::string_view name, std::vector<ExprPtr> left,
                    std::vector<ExprPtr> right, uint32_t position) {
   if (left.size() != right.size())
      throw SqlError(sqlstate::syntaxError, "unequal number of entries in row expressions").at(position);
   if (left.empty()) throw SqlError(sqlstate::featureNotSupported, "cannot compare rows of zero length").at(position);
   std::vector<ExprPtr> parts;
   const auto pair = [&](std::string_view op, size_t i, bool last) {
      return last ? makeOperator(state, op, std::move(left[i]), std::move(right[i]), position)
                  : makeOperator(state, op, clone(*left[i]), clone(*right[i]), position);
   };
   if (name == "=" || name == "<>") {
      for (size_t i = 0; i < left.size(); ++i)
         parts.push_back(coerceToBoolean(state, pair(name, i, true), "row comparison"));
      return name == "=" ? makeAnd(std::move(parts)) : makeOr(std::move(parts));
   }
   // Lexicographic order: a < c OR (a = c AND (b < d OR ...)). Only the last pair may be compared with <= or >=.
   const auto [strict, equal] = operatorsOfOrder(name, left[0]->type.oid, right[0]->type.oid, position);
   const size_t last = left.size() - 1;
   std::vector<ExprPtr*> named = pointers(left);
   named.pop_back();
   for (size_t i = 0; i < last; ++i)
      named.push_back(&right[i]);
   return shareValues(
       state, scope.depth, named,
       [&] {
          ExprPtr result = pair(name, last, true);
          for (size_t i = last; i-- > 0;) {
             std::vector<ExprPtr> both, either;
             both.push_back(pair(equal, i, false));
             both.push_back(std::move(result));
             either.push_back(pair(strict, i, true));
             either.push_back(makeAnd(std::move(both)));
             result = makeOr(std::move(either));
          }
          return result;
       },
       Sharing::Subqueries);
}

} // namespace ouzel::sql
