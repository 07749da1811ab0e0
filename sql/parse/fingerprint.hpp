#pragma once
#include <cstdint>
#include <string_view>

namespace ouzel::sql {

/// A number that statements share which differ only in their constants: libpg_query's fingerprint. 0 for a text that is
/// no SQL. Thread-safe.
uint64_t fingerprint(std::string_view sql);

} // namespace ouzel::sql
