#include "storage/chunk/document_order.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"
#include "common/json/jsonb.hpp"
#include "storage/base/ids.hpp"

namespace ouzel::storage {

namespace {

/// Documents of one kind follow each other for so many rows at least: sorting would not pay.
constexpr uint32_t runRowsMin = 64;
constexpr uint32_t kindsMax = 256; ///< of documents that are told apart; further ones are of the first kind

uint64_t hashOfKeys(const json::JsonbView& document) {
   uint64_t hash = hashI64(static_cast<int64_t>(document.kind()));
   if (document.kind() != json::Kind::Object) return hash;
   for (uint32_t i = 0; i < document.size(); ++i)
      hash = hashCombine(hash, hashBytes(document.key(i)));
   return hash;
}

/// Numbers the documents by their keys, and counts the documents of each number.
class Kinds {
public:
   uint32_t add(uint64_t hash) {
      const auto found = numbers_.find(hash);
      const uint32_t number = found != numbers_.end() ? found->second : counts.size() == kindsMax ? 0 : numbered(hash);
      ++counts[number];
      return number;
   }
   std::vector<uint32_t> counts;

private:
   uint32_t numbered(uint64_t hash) {
      const auto number = static_cast<uint32_t>(counts.size());
      numbers_.emplace(hash, number);
      counts.push_back(0);
      return number;
   }
   std::unordered_map<uint64_t, uint32_t> numbers_;
};

/// One column of the row groups of a partition.
struct ColumnParts {
   std::span<const std::vector<ColumnSlice>> groups;
   size_t column;

   const ColumnSlice& of(uint32_t row) const { return groups[row / rowGroupRows][column]; }
};

template <typename T>
void gather(const ColumnParts& parts, std::span<const uint32_t> order, void* out) {
   for (size_t i = 0; i < order.size(); ++i)
      static_cast<T*>(out)[i] = static_cast<const T*>(parts.of(order[i]).data)[order[i] % rowGroupRows];
}

void gather(uint32_t size, const ColumnParts& parts, std::span<const uint32_t> order, void* out) {
   switch (size) {
   case 1: return gather<uint8_t>(parts, order, out);
   case 2: return gather<uint16_t>(parts, order, out);
   case 4: return gather<uint32_t>(parts, order, out);
   case 8: return gather<uint64_t>(parts, order, out);
   default: return gather<int128>(parts, order, out);
   }
}

} // namespace

std::vector<uint32_t> orderByKeys(std::span<const ColumnSlice> documents) {
   Kinds kinds;
   std::vector<uint32_t> kindOf;
   uint32_t runs = 0;
   for (const ColumnSlice& group : documents) {
      DCHECK(kindOf.size() % rowGroupRows == 0);
      const auto* values = group.values<StringView>();
      for (uint32_t row = 0; row < group.count; ++row) {
         const uint64_t hash = group.isValid(row) ? hashOfKeys(json::JsonbView(values[row].view())) : 0;
         const uint32_t kind = kinds.add(hash);
         runs += kindOf.empty() || kind != kindOf.back();
         kindOf.push_back(kind);
      }
   }
   const auto count = static_cast<uint32_t>(kindOf.size());
   if (kinds.counts.size() == 1 || runs * runRowsMin < count) return {};
   // The most frequent kind comes first: its dense columns then lie as its rows do.
   std::vector<uint32_t> kindOrder(kinds.counts.size()), place(kinds.counts.size());
   std::iota(kindOrder.begin(), kindOrder.end(), 0u);
   std::stable_sort(kindOrder.begin(), kindOrder.end(),
                    [&](uint32_t a, uint32_t b) { return kinds.counts[a] > kinds.counts[b]; });
   uint32_t next = 0;
   for (const uint32_t kind : kindOrder) {
      place[kind] = next;
      next += kinds.counts[kind];
   }
   std::vector<uint32_t> order(count);
   for (uint32_t row = 0; row < count; ++row)
      order[place[kindOf[row]]++] = row;
   return order;
}

std::vector<ColumnSlice> SortedColumns::sort(std::span<const std::vector<ColumnSlice>> groups,
                                             std::span<const uint32_t> order) {
   columns_.resize(groups[0].size());
   std::vector<ColumnSlice> sorted;
   for (size_t i = 0; i < columns_.size(); ++i) {
      const ColumnParts parts{groups, i};
      const PhysicalType type = groups[0][i].type;
      Column& copy = columns_[i];
      copy.values.resize((order.size() * physicalSize(type) + sizeof(int128) - 1) / sizeof(int128));
      gather(physicalSize(type), parts, order, copy.values.data());
      ColumnSlice slice{type, copy.values.data(), nullptr, static_cast<uint32_t>(order.size())};
      const bool hasNulls = std::any_of(groups.begin(), groups.end(),
                                        [i](const std::vector<ColumnSlice>& group) { return group[i].validity; });
      if (hasNulls) {
         copy.validity.assign(validityWords(slice.count), 0);
         for (uint32_t row = 0; row < slice.count; ++row)
            if (parts.of(order[row]).isValid(order[row] % rowGroupRows)) setValidBit(copy.validity.data(), row, true);
         slice.validity = copy.validity.data();
      }
      sorted.push_back(slice);
   }
   return sorted;
}

} // namespace ouzel::storage
