#include "common/type/order_key.hpp"

#include "executor/function/array/array_cast.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"

// ouzel_order_key(any): the order key of an array or of jsonb (common/type/order_key.hpp). Sorts and windows order rows
// by bytes; the optimizer lets them order such values by this key (optimizer/rewrite/order_keys.cpp).

namespace ouzel::executor {

namespace {

StringView orderKey(const StringView& bytes, KernelEnv& env) {
   std::string key;
   appendOrderKey(key, env.call.argTypes[0], bytes.view());
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
