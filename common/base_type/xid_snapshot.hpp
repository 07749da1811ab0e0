#pragma once
#include <optional>
#include <vector>

#include "common/base_type/type_form.hpp"

// pg_snapshot and its older name txid_snapshot: which transactions a statement sees. Values lie as their texts,
// "xmin:xmax:xip,xip": transactions before xmin have ended, those from xmax on have not, and of those between, the
// listed ones were open.

namespace ouzel {

extern const TypeForm xidSnapshotForm, txidSnapshotForm;

struct XidSnapshot {
   uint64_t xmin = 1, xmax = 1;
   std::vector<uint64_t> open; ///< ascending, each once, from xmin to before xmax

   bool isVisible(uint64_t transaction) const;
};
std::string xidSnapshotText(const XidSnapshot& snapshot);
/// Nullopt: the text is not such.
std::optional<XidSnapshot> readXidSnapshot(std::string_view text);

} // namespace ouzel
