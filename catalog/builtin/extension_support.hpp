#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/value/sql_type.hpp"

// The support functions of the operator classes of extensions, as pg_amproc shows them. Nothing here calls them.

namespace ouzel::catalog {

struct SupportFunction {
   Oid usedBy; ///< ExtensionClass::oid
   int16_t number;
   Oid builtin;           ///< invalidOid: a function of the extension's script
   std::string_view name; ///< of such a function, in the extension's schema
};

/// In the order of the classes, and then of the numbers.
std::span<const SupportFunction> supportFunctions();

} // namespace ouzel::catalog
