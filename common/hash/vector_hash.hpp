#pragma once
#include <cstdint>

#include "common/value/vector.hpp"

// Hashes of key columns, common/hash/hash.hpp's layout. Values that `=` calls equal hash equal: integers of every width
// as int64, -0 as 0, all NaNs alike, intervals by span, decimals by value. Scaled numerics hash by their unscaled
// integer, I64 and I128 alike: keys that meet have one scale (sql/algebra/representation.hpp).

namespace ouzel {

/// hashes[i] = hash of the i-th live row; NULL hashes as hashOfNull.
void hashVector(const Vector& vector, Selection rows, uint64_t* hashes);
/// hashes[i] = hashCombine(hashes[i], hash of the i-th live row): for the second and later key columns.
void hashCombineVector(const Vector& vector, Selection rows, uint64_t* hashes);
/// Hash of the one value at `value`, equal to its hash in a vector.
uint64_t hashValue(PhysicalType type, const void* value);

} // namespace ouzel
