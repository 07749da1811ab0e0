#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "executor/operator/sort/sort_key.hpp"

// Where the rows of several sorted runs are cut into ranges of keys. Only the first key of each page is known, so
// ranges have about as many rows as asked for. Rows with equal prefixes of their keys are in the same range.

namespace ouzel::executor {

/// The pages of one run: the prefix of each page's first key, in ascending order, and each page's number of rows.
struct RunFences {
   std::span<const SortPrefix> firsts;
   std::span<const uint32_t> rows;
   /// The number of pages whose first row comes before `key`.
   size_t pagesBefore(const SortPrefix& key) const;
};

/// Where ranges begin, ascending: range i has the keys in [cut i - 1, cut i). Range 0 begins with the first row, and
/// the last range ends with the last row. Each range but the last has about `rowsPerRange` rows; the first one has at
/// least `firstRows` rows, too.
std::vector<SortPrefix> chooseCuts(std::span<const RunFences> runs, uint64_t rowsPerRange, uint64_t firstRows);

/// Pages [from, end) of a run that can have rows of a range. Pages of adjacent ranges overlap by at most one. `lower`
/// and `upper` are the cuts around the range; null: the range has no such end.
struct PageSpan {
   size_t from, end;
};
PageSpan pagesOfRange(const RunFences& run, const SortPrefix* lower, const SortPrefix* upper);

} // namespace ouzel::executor
