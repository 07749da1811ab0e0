#include "sql/bind/expression/in_out_call.hpp"

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

namespace {

using catalog::builtins;
using catalog::FunctionInfo;

bool isOutput(const FunctionInfo& function, Oid argument) {
   if (function.returnType != oid::cstring || function.argTypes.size() != 1) return false;
   if (function.name == "enum_out") return true; // of users' types, which the builtins do not know
   for (const Oid type : {argument, function.argTypes[0]})
      if (const auto* info = builtins().type(type); info && info->output == function.oid) return true;
   return function.name == "record_out";
}

/// The modifier is the last of three arguments.
bool isInput(const FunctionInfo& function, const std::vector<ExprPtr>& args) {
   if (function.argTypes.empty() || function.argTypes[0] != oid::cstring) return false;
   const auto* info = builtins().type(function.returnType);
   return info && info->input == function.oid && (args.size() == 1 || (args.size() == 3 && knownValue(*args[2])));
}

ExprPtr textCast(Oid type, ExprPtr value, uint32_t position) {
   auto cast = makeTyped(ExprKind::TextCast, plainType(type), position);
   cast->args.push_back(std::move(value));
   return cast;
}

} // namespace

ExprPtr bindInOutCall(const FunctionInfo& function, std::vector<ExprPtr>& args, uint32_t position) {
   if (args.empty()) return nullptr;
   if (isOutput(function, args[0]->type.oid)) return textCast(oid::cstring, std::move(args[0]), position);
   if (!isInput(function, args)) return nullptr;
   const auto typmod = args.size() == 3 ? static_cast<int32_t>(knownValue(*args[2])->i64) : -1;
   auto cast = textCast(function.returnType, std::move(args[0]), position);
   return typmod < 0 ? std::move(cast) : applyTypmod(std::move(cast), typmod, CoercionContext::Assignment);
}

} // namespace ouzel::sql
