#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/snapshot.hpp"

namespace ouzel::catalog {

/// The byte form of snapshots and changes; codec.cpp describes the layout. Decoding throws XX001 for damaged bytes and
/// for a version that this build does not know.
std::string encodeSnapshot(const Snapshot& snapshot);
Snapshot decodeSnapshot(std::string_view bytes);
std::string encodeChanges(std::span<const Change> changes);
std::vector<Change> decodeChanges(std::string_view bytes);
/// False: an early version of this program has written the bytes, and some of what they should say is missing.
bool isComplete(std::string_view bytes);

} // namespace ouzel::catalog
