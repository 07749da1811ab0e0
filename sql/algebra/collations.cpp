#include "sql/algebra/collations.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/blanks.hpp"

namespace ouzel::sql {

namespace {

constexpr Oid byteOrder = 950; // "C"

const catalog::FunctionInfo* functionCalled(const char* name) {
   return catalog::builtins().functions(name)[0];
}
const catalog::FunctionInfo* keyFunction() {
   static const catalog::FunctionInfo* const function = functionCalled("ouzel_collation_key");
   return function;
}
const catalog::FunctionInfo* keysFunction() {
   static const catalog::FunctionInfo* const function = functionCalled("ouzel_collation_keys");
   return function;
}
const catalog::FunctionInfo* textFunction() {
   static const catalog::FunctionInfo* const function = functionCalled("ouzel_keyed_text");
   return function;
}

ExprPtr makeKey(ExprPtr value, const IcuCollation& collation, bool hasText) {
   const bool isArray = catalog::builtins().isArray(value->type.oid);
   const uint32_t position = value->position;
   std::vector<ExprPtr> args;
   args.push_back(isArray ? std::move(value) : withoutBlanks(std::move(value)));
   args.push_back(makeConstant({oid::text, -1, byteOrder}, Value::string(collation.locale)));
   args.push_back(makeBoolean(hasText));
   auto key = makeCall(isArray ? keysFunction() : keyFunction(), {isArray ? oid::textArray : oid::text, -1, byteOrder},
                       std::move(args));
   key->position = position;
   return key;
}

} // namespace

void CollationTable::add(IcuCollation collation) {
   if (!find(collation.oid)) collations_.push_back(std::move(collation));
}

const IcuCollation* CollationTable::find(Oid collation) const {
   const auto found = std::find_if(collations_.begin(), collations_.end(),
                                   [&](const IcuCollation& one) { return one.oid == collation; });
   return found == collations_.end() ? nullptr : &*found;
}

const IcuCollation* CollationTable::comparing(const SqlType& type) const {
   const IcuCollation* found = type.collation == invalidOid ? nullptr : find(type.collation);
   return found && !found->comparesBytes ? found : nullptr;
}

ExprPtr makeCollationKey(ExprPtr value, const IcuCollation& collation) {
   return makeKey(std::move(value), collation, collation.isDeterministic);
}

ExprPtr makeReadableKey(ExprPtr value, const IcuCollation& collation) {
   return makeKey(std::move(value), collation, true);
}

ExprPtr makeKeyedText(ExprPtr key, const SqlType& type) {
   const uint32_t position = key->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(key));
   auto text = makeCall(textFunction(), type, std::move(args));
   text->position = position;
   return text;
}

bool isCollationKey(const Expr& expr) {
   const auto* function = functionOf(expr);
   return function && (function == keyFunction() || function == keysFunction());
}

bool isKeyedText(const Expr& expr) {
   return functionOf(expr) == textFunction();
}

} // namespace ouzel::sql
