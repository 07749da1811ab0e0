#include "common/type/order_key.hpp"
#include "executor/function/array/array_cast.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"

// ouzel_order_key(anyarray): the order key of an array (common/type/order_key.hpp). Sorts and windows order rows by
// bytes; the optimizer lets them order arrays by this key (optimizer/rewrite/order_keys.cpp).

namespace ouzel::executor {

namespace {

StringView orderKey(const StringView& bytes, KernelEnv& env) {
   std::string key;
   appendArrayKey(key, bytes.view());
   ValueBuilder out(env.strings);
   out.append(key);
   return out.finish();
}

} // namespace

void registerArrayKey() {
   addKernel<orderKey>("ouzel_order_key");
   registerArrayCast();
}

} // namespace ouzel::executor
