#include "sql/bind/expression/hstore.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

namespace {

ExprPtr bindKey(BindState& state, Scope& scope, const std::vector<const ::A_Indices*>& subscripts) {
   if (subscripts.size() != 1 || subscripts[0]->is_slice)
      throw SqlError(sqlstate::featureNotSupported, "hstore allows only one subscript");
   auto key = bindExpr(state, scope, subscripts[0]->uidx);
   const uint32_t at = startOf(*key);
   key = tryCoerce(state, key, plainType(oid::text), CoercionContext::Assignment);
   if (!key) throw SqlError(sqlstate::datatypeMismatch, "hstore subscript must have type text").at(at);
   return key;
}

ExprPtr makeHstoreCall(std::string_view function, Oid result, std::vector<ExprPtr> args, uint32_t position) {
   auto call = makeCall(catalog::builtins().functions(function)[0], plainType(result), std::move(args));
   call->position = position;
   return call;
}

} // namespace

ExprPtr bindHstoreSubscript(BindState& state, Scope& scope, ExprPtr base,
                            const std::vector<const ::A_Indices*>& subscripts) {
   const uint32_t position = base->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(base));
   args.push_back(bindKey(state, scope, subscripts));
   return makeHstoreCall("ouzel_hstore_fetch", oid::text, std::move(args), position);
}

ExprPtr assignHstore(BindState& state, Scope& scope, ExprPtr base, ExprPtr value,
                     const std::vector<const ::A_Indices*>& subscripts, uint32_t position) {
   std::vector<ExprPtr> args;
   args.push_back(std::move(base));
   args.push_back(bindKey(state, scope, subscripts));
   args.push_back(std::move(value));
   return makeHstoreCall("ouzel_hstore_assign", oid::hstore, std::move(args), position);
}

} // namespace ouzel::sql
