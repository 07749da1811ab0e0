#pragma once
#include "common/base_type/type_form.hpp"

// pg_lsn: a place in a log, an unsigned 64-bit number in the signed form of orderedUnsigned(). Texts: "16/B374D848".

namespace ouzel {

extern const TypeForm pgLsnForm;

} // namespace ouzel
