#pragma once
#include "common/value/string_view.hpp"

// PostgreSQL's range_cmp() and multirange_cmp().

namespace ouzel::executor {

int compareRanges(const StringView& a, const StringView& b);
/// Range by range; a multirange precedes a longer one that begins like it.
int compareMultiranges(const StringView& a, const StringView& b);

} // namespace ouzel::executor
