#include "catalog/builtin/internal_functions.hpp"

#include <algorithm>

namespace ouzel::catalog {

namespace {
constexpr Oid internalLanguage = 12;
}

bool isInternalFunction(std::string_view source) {
   const auto all = builtins().functions();
   return std::any_of(all.begin(), all.end(), [&](const FunctionInfo& function) {
      return function.language == internalLanguage && function.source == source;
   });
}

const FunctionInfo* internalFunction(const FunctionInfo& made) {
   const auto all = builtins().functions();
   const auto found = std::find_if(all.begin(), all.end(), [&](const FunctionInfo& function) {
      return function.language == internalLanguage && function.source == made.source && function.kind == made.kind &&
             function.returnType == made.returnType && function.returnsSet == made.returnsSet &&
             (function.isStrict || !made.isStrict) &&
             std::equal(function.argTypes.begin(), function.argTypes.end(), made.argTypes.begin(), made.argTypes.end());
   });
   return found == all.end() ? nullptr : &*found;
}

} // namespace ouzel::catalog
