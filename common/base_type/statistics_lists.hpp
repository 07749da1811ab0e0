#pragma once
#include <optional>
#include <vector>

#include "common/base_type/type_form.hpp"

// pg_ndistinct, pg_dependencies and pg_mcv_list: what ANALYZE finds for extended statistics. Values of the first two
// lie as their texts, {"1, 2": 11}, those of the third as
//
//   4  number of items
//   4  number of dimensions
//      per item and dimension: 1 byte, 1 if there is a value, then 4 bytes length and its text
//      per item: two floats, the frequency and the base frequency
//
// with big-endian numbers. No text is input for any of them.

namespace ouzel {

extern const TypeForm ndistinctForm, dependenciesForm, mcvListForm;

struct McvItem {
   std::vector<std::optional<std::string>> values;
   double frequency = 0, baseFrequency = 0;
};
std::string mcvListBytes(const std::vector<McvItem>& items);
/// Throws 08P01 if the bytes are not such.
std::vector<McvItem> readMcvList(std::string_view bytes);

} // namespace ouzel
