#include "catalog/object/partition_map.hpp"

#include <algorithm>
#include <numeric>

#include "catalog/object/partition_hash.hpp"
#include "common/error/check.hpp"
#include "common/type/order_key.hpp"

namespace ouzel::catalog {

namespace {

constexpr char minimumTag = 0, valueTag = 1, maximumTag = 2;
/// Follows a tuple's beginning where all tuples that begin so are meant: larger than any tag.
constexpr char pastAll = 3;

/// More combinations of values than these are not looked at one by one.
constexpr size_t combinationsMax = 256;

bool isNumber(const std::string& tuple) {
   return tuple[0] == valueTag;
}

/// The integer in the tuple of one column; `infinite`: for MINVALUE and MAXVALUE.
int64_t numberOf(const std::string& tuple, int64_t infinite) {
   if (!isNumber(tuple)) return infinite;
   DCHECK(tuple.size() == 1 + sizeof(uint64_t));
   uint64_t bits = 0;
   for (size_t i = 1; i < tuple.size(); ++i)
      bits = bits << 8 | static_cast<uint8_t>(tuple[i]);
   return static_cast<int64_t>(bits ^ (uint64_t{1} << 63));
}

} // namespace

std::string tupleKey(std::span<const PartitionDatum> data) {
   std::string key;
   for (const PartitionDatum& datum : data) {
      const bool isValue = datum.kind == PartitionDatum::Kind::Value;
      key.push_back(isValue ? valueTag : datum.kind == PartitionDatum::Kind::Minimum ? minimumTag : maximumTag);
      if (isValue) key += datum.key;
   }
   return key;
}

PartitionMap::PartitionMap(const PartitionKey& key, std::vector<SqlType> types,
                           std::span<const PartitionBound* const> bounds)
   : strategy_(key.strategy), types_(std::move(types)), count_(bounds.size()), moduli_(bounds.size()) {
   int32_t modulusMax = 0;
   for (uint32_t i = 0; i < bounds.size(); ++i) {
      const PartitionBound& bound = *bounds[i];
      if (bound.isDefault) {
         default_ = static_cast<int>(i);
         continue;
      }
      switch (strategy_) {
      case PartitionStrategy::List:
         for (const PartitionDatum& datum : bound.values)
            if (datum.kind == PartitionDatum::Kind::Null)
               null_ = static_cast<int>(i);
            else
               values_.emplace_back(datum.key, i);
         break;
      case PartitionStrategy::Range: ranges_.push_back({tupleKey(bound.lower), tupleKey(bound.upper), i}); break;
      case PartitionStrategy::Hash:
         moduli_[i] = {bound.modulus, bound.remainder};
         modulusMax = std::max(modulusMax, bound.modulus);
         break;
      }
   }
   std::sort(values_.begin(), values_.end());
   std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.lower < b.lower; });
   if (types_.size() == 1 && types_[0].oid != oid::numeric && isInteger(storedRepresentation(types_[0]).physical))
      for (const Range& range : ranges_) {
         const int64_t upper = numberOf(range.upper, INT64_MAX);
         if (upper == INT64_MIN) continue; // no number is below
         integers_.push_back({numberOf(range.lower, INT64_MIN), upper - isNumber(range.upper), range.partition});
      }
   byRemainder_.assign(static_cast<size_t>(modulusMax), none);
   for (uint32_t i = 0; i < moduli_.size(); ++i)
      if (const auto [modulus, remainder] = moduli_[i]; modulus > 0)
         for (int32_t at = remainder; at < modulusMax; at += modulus)
            byRemainder_[static_cast<size_t>(at)] = static_cast<int>(i);
}

std::string PartitionMap::keyOf(size_t column, const Value& value) const {
   std::string key;
   appendValueKey(key, types_[column], value);
   return key;
}

int PartitionMap::find(std::span<const Value> values) const {
   DCHECK(values.size() == types_.size());
   if (strategy_ == PartitionStrategy::Hash) {
      if (byRemainder_.empty()) return none;
      return byRemainder_[partitionHash(types_, values) % byRemainder_.size()];
   }
   if (strategy_ == PartitionStrategy::List) {
      if (values[0].isNull) return null_ == none ? default_ : null_;
      const std::string key = keyOf(0, values[0]);
      const auto found =
          std::lower_bound(values_.begin(), values_.end(), key,
                           [](const auto& entry, const std::string& wanted) { return entry.first < wanted; });
      return found != values_.end() && found->first == key ? static_cast<int>(found->second) : default_;
   }
   if (!integers_.empty() && !values[0].isNull) {
      const int64_t wanted = values[0].i64;
      const auto behind =
          std::upper_bound(integers_.begin(), integers_.end(), wanted,
                           [](int64_t value, const IntegerRange& range) { return value < range.lower; });
      if (behind == integers_.begin()) return default_;
      const IntegerRange& range = *std::prev(behind);
      return wanted <= range.upper ? static_cast<int>(range.partition) : default_;
   }
   std::string key;
   for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].isNull) return default_;
      key.push_back(valueTag);
      appendValueKey(key, types_[i], values[i]);
   }
   const auto behind =
       std::upper_bound(ranges_.begin(), ranges_.end(), key,
                        [](const std::string& wanted, const Range& range) { return wanted < range.lower; });
   if (behind == ranges_.begin()) return default_;
   const Range& range = *std::prev(behind);
   return key < range.upper ? static_cast<int>(range.partition) : default_;
}

std::vector<uint32_t> PartitionMap::inOrder() const {
   std::vector<uint32_t> order;
   std::vector<bool> isListed(count_);
   const auto add = [&](int partition) {
      if (partition == none || isListed[static_cast<size_t>(partition)]) return;
      isListed[static_cast<size_t>(partition)] = true;
      order.push_back(static_cast<uint32_t>(partition));
   };
   for (const auto& value : values_)
      add(static_cast<int>(value.second));
   for (const Range& range : ranges_)
      add(static_cast<int>(range.partition));
   add(null_);
   if (strategy_ == PartitionStrategy::Hash) {
      order.resize(count_);
      std::iota(order.begin(), order.end(), 0u);
      std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return moduli_[a] < moduli_[b]; });
      return order;
   }
   add(default_);
   return order;
}

int PartitionMap::overlapping(const PartitionBound& bound) const {
   if (bound.isDefault) return default_;
   switch (strategy_) {
   case PartitionStrategy::List:
      for (const PartitionDatum& datum : bound.values) {
         if (datum.kind == PartitionDatum::Kind::Null) {
            if (null_ != none) return null_;
            continue;
         }
         const auto found =
             std::lower_bound(values_.begin(), values_.end(), datum.key,
                              [](const auto& entry, const std::string& wanted) { return entry.first < wanted; });
         if (found != values_.end() && found->first == datum.key) return static_cast<int>(found->second);
      }
      return none;
   case PartitionStrategy::Range: {
      const std::string lower = tupleKey(bound.lower), upper = tupleKey(bound.upper);
      for (const Range& range : ranges_)
         if (range.lower < upper && lower < range.upper) return static_cast<int>(range.partition);
      return none;
   }
   case PartitionStrategy::Hash: {
      // One of the moduli divides the other, which the caller has checked.
      for (uint32_t i = 0; i < moduli_.size(); ++i)
         if (moduli_[i].first > 0) {
            const int32_t common = std::min(moduli_[i].first, bound.modulus);
            if (moduli_[i].second % common == bound.remainder % common) return static_cast<int>(i);
         }
      return none;
   }
   }
   return none;
}

std::pair<int, int> PartitionMap::neighbours(int32_t modulus) const {
   int below = none, above = none;
   for (uint32_t i = 0; i < moduli_.size(); ++i) {
      const int32_t other = moduli_[i].first;
      if (other <= modulus && (below == none || other > moduli_[static_cast<size_t>(below)].first))
         below = static_cast<int>(i);
      if (other > modulus && (above == none || other < moduli_[static_cast<size_t>(above)].first))
         above = static_cast<int>(i);
   }
   return {below, above};
}

void PartitionMap::choose(std::span<const PartitionCondition> conditions, std::vector<bool>& kept) const {
   DCHECK(conditions.size() == types_.size());
   if (std::all_of(conditions.begin(), conditions.end(), [](const auto& one) { return one.isAnything(); })) {
      kept.assign(count_, true);
      return;
   }
   kept.assign(count_, false);
   switch (strategy_) {
   case PartitionStrategy::List: return chooseList(conditions[0], kept);
   case PartitionStrategy::Range: return chooseRange(conditions, kept);
   case PartitionStrategy::Hash: return chooseHash(conditions, kept);
   }
}

void PartitionMap::chooseList(const PartitionCondition& condition, std::vector<bool>& kept) const {
   const auto keep = [&](int partition) {
      if (partition != none) kept[static_cast<size_t>(partition)] = true;
   };
   if (condition.isNull) return keep(null_ == none ? default_ : null_);
   if (condition.equal) {
      for (const Value& value : *condition.equal)
         keep(find(std::span(&value, 1)));
      return;
   }
   const std::string lower = condition.lower ? keyOf(0, *condition.lower) : std::string(),
                     upper = condition.upper ? keyOf(0, *condition.upper) : std::string();
   for (const auto& [key, partition] : values_) {
      if (condition.lower && (condition.excludesLower ? key <= lower : key < lower)) continue;
      if (condition.upper && (condition.excludesUpper ? key >= upper : key > upper)) continue;
      keep(static_cast<int>(partition));
   }
   keep(default_);
}

/// Keeps the partitions with tuples in [lower, upper), and with `hasDefault` the default one, too, unless others take
/// all of these tuples.
void PartitionMap::keepRegion(const std::string& lower, const std::string& upper, bool hasDefault,
                              std::vector<bool>& kept) const {
   std::string covered = lower; // partitions take all of the region before
   for (const Range& range : ranges_) {
      if (range.upper <= lower || range.lower >= upper) continue;
      kept[range.partition] = true;
      if (range.lower <= covered) covered = std::max(covered, range.upper);
   }
   if (default_ != none && (hasDefault || covered < upper)) kept[static_cast<size_t>(default_)] = true;
}

void PartitionMap::chooseRange(std::span<const PartitionCondition> conditions, std::vector<bool>& kept) const {
   // NULLs lie in the default partition.
   if (std::any_of(conditions.begin(), conditions.end(), [](const auto& one) { return one.isNull; })) {
      if (default_ != none) kept[static_cast<size_t>(default_)] = true;
      return;
   }
   const bool mayBeNull =
       !std::all_of(conditions.begin(), conditions.end(), [](const auto& one) { return one.isNotNull(); });
   std::vector<std::string> prefixes(1);
   size_t column = 0;
   for (; column < conditions.size() && conditions[column].equal; ++column) {
      const std::vector<Value>& equal = *conditions[column].equal;
      if (prefixes.size() * equal.size() > combinationsMax) break;
      std::vector<std::string> longer;
      for (const std::string& prefix : prefixes)
         for (const Value& value : equal)
            longer.push_back(prefix + valueTag + keyOf(column, value));
      prefixes = std::move(longer);
   }
   for (const std::string& prefix : prefixes) {
      std::string lower = prefix, upper = prefix + pastAll;
      if (column < conditions.size()) {
         const PartitionCondition& condition = conditions[column];
         if (condition.lower) {
            lower = prefix + valueTag + keyOf(column, *condition.lower);
            if (condition.excludesLower) lower.push_back(pastAll);
         }
         if (condition.upper) {
            upper = prefix + valueTag + keyOf(column, *condition.upper);
            if (!condition.excludesUpper) upper.push_back(pastAll);
         }
      }
      if (lower < upper) keepRegion(lower, upper, mayBeNull, kept);
   }
}

void PartitionMap::chooseHash(std::span<const PartitionCondition> conditions, std::vector<bool>& kept) const {
   std::vector<std::vector<Value>> keys(1);
   for (const PartitionCondition& condition : conditions) {
      const size_t choices = condition.isNull ? 1 : condition.equal ? condition.equal->size() : 0;
      if ((!condition.isNull && !condition.equal) || keys.size() * choices > combinationsMax) {
         kept.assign(count_, true);
         return;
      }
      std::vector<std::vector<Value>> longer;
      for (const std::vector<Value>& key : keys)
         for (size_t i = 0; i < choices; ++i) {
            longer.push_back(key);
            longer.back().push_back(condition.isNull ? Value() : (*condition.equal)[i]);
         }
      keys = std::move(longer);
   }
   for (const std::vector<Value>& key : keys)
      if (const int partition = find(key); partition != none) kept[static_cast<size_t>(partition)] = true;
}

} // namespace ouzel::catalog
