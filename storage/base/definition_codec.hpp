#pragma once
#include <string>
#include <utility>

#include "storage/base/byte_codec.hpp"
#include "storage/base/ids.hpp"

// The bytes of column definitions and counters, which the log and the manifest share. Reading throws XX001.

namespace ouzel::storage {

void writeColumnDefinition(const ColumnDefinition& column, std::string& out);
ColumnDefinition readColumnDefinition(ByteReader& in);

/// The payload of a Counter frame, and a counter of a manifest.
void writeCounter(Oid id, const Counter& counter, std::string& out);
std::pair<Oid, Counter> readCounter(ByteReader& in);

} // namespace ouzel::storage
