#pragma once
#include "catalog/object/snapshot.hpp"

namespace ouzel::engine {

/// A catalog that earlier versions have written, with what they did not note: the relations that defaults and views
/// name as regclass constants, and their texts with OIDs instead of these names. Texts that cannot be bound stay as
/// they are. Does nothing to a catalog that has been upgraded before.
catalog::Snapshot upgradeCatalog(const catalog::Snapshot& old);

} // namespace ouzel::engine
