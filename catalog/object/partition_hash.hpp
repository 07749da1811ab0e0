#pragma once
#include <cstdint>
#include <span>

#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// The hash by which PostgreSQL spreads rows over hash partitions, so that rows lie in the same partitions here.

namespace ouzel::catalog {

/// Whether values of the type have such a hash here.
bool hasPartitionHash(const SqlType& type);
/// The hash of a value that is not NULL, as hashtextextended() and its kin give it. Its lower half for the seed 0 is
/// what hashtext() and its kin give. REQUIRES: hasPartitionHash().
uint64_t seededHash(const SqlType& type, const Value& value, uint64_t seed);
/// The hash of a key whose columns have these types and values; NULLs do not count. REQUIRES: hasPartitionHash() of
/// each type, and no scaled numbers.
uint64_t partitionHash(std::span<const SqlType> types, std::span<const Value> values);

} // namespace ouzel::catalog
