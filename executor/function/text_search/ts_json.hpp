#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ouzel::executor {

/// Which parts of a document are texts to search, as bits.
namespace ts_part {
inline constexpr uint8_t key = 1, string = 2, number = 4, boolean = 8, all = 15;
} // namespace ts_part

/// The parts that a jsonb array names: ["string", "numeric"]. Throws 22023.
uint8_t tsPartsOf(std::string_view names);

using TakeText = std::function<void(std::string_view)>;
/// Calls `take` for each of these parts of a document, depth first.
void forEachTextOfJsonb(std::string_view document, uint8_t parts, const TakeText& take);
void forEachTextOfJson(std::string_view document, uint8_t parts, const TakeText& take);

} // namespace ouzel::executor
