#pragma once
#include "common/base_type/type_form.hpp"

// The type citext of the extension of that name: texts that are compared without regard to the case of ASCII letters,
// which are all that lower() knows under the default collation. The bytes are the text's, so the bytes of equal values
// may differ: order keys (common/type/order_key.hpp) are the texts in small letters.

namespace ouzel {

namespace oid {
inline constexpr Oid citext = 9204, citextArray = 9205;
} // namespace oid

extern const TypeForm citextForm;

} // namespace ouzel
