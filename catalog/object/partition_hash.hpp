#pragma once
#include <cstdint>
#include <span>

#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// The hash by which PostgreSQL spreads rows over hash partitions, so that rows lie in the same partitions here.

namespace ouzel::catalog {

/// Whether values of the type have such a hash here.
bool hasPartitionHash(const SqlType& type);
/// The hash of a key whose columns have these types and values; NULLs do not count. REQUIRES: hasPartitionHash() of
/// each type, and no scaled numbers.
uint64_t partitionHash(std::span<const SqlType> types, std::span<const Value> values);

} // namespace ouzel::catalog
