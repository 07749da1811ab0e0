#pragma once
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Gives the copy of a relation in a new database storage and rows of its own, or the value of a sequence. REQUIRES: no
/// session changes the original.
void copyContents(SessionCore& core, const catalog::Relation& original, catalog::Relation& copy);

/// Gives a new database what the source has in its large objects. REQUIRES: the same.
void copyLargeObjects(SessionCore& core, Oid source, Oid target);

} // namespace ouzel::engine
