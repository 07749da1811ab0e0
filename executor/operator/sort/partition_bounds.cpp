#include "executor/operator/sort/partition_bounds.hpp"

#include <algorithm>
#include <cstring>

#include "common/hash/hash.hpp"

namespace ouzel::executor {

PartitionBounds::PartitionBounds(const SortKeyLayout& layout, const PartitionLimit& limit, Reservation& memory)
   : layout_(layout), limit_(limit), keys_(&memory), slots_(64, 0) {
   const auto& columns = layout.columns();
   partitionEnd_ = limit.partitionKeys == 0 ? 0 : columns[limit.partitionKeys - 1].end;
   orderEnd_ = partitionEnd_;
   for (size_t i = limit.partitionKeys; i < columns.size() && isExact_; ++i) {
      orderEnd_ = columns[i].end;
      isExact_ = columns[i].isExact;
   }
}

uint64_t PartitionBounds::hash(const std::byte* key) const {
   return hashBytes({reinterpret_cast<const char*>(key), partitionEnd_});
}

bool PartitionBounds::isKnown(const std::byte* key) const {
   for (uint32_t i = 0; i < limit_.partitionKeys; ++i) {
      const SortKeyLayout::Column& column = layout_.columns()[i];
      if (!column.isExact && SortKeyLayout::isUnresolved(column, key)) return false;
   }
   return true;
}

const std::byte* PartitionBounds::copy(const std::byte* key) {
   auto* out = keys_.allocateArray<std::byte>(layout_.stride());
   std::memcpy(out, key, layout_.stride());
   return out;
}

size_t PartitionBounds::slotOf(const std::byte* key) const {
   const size_t mask = slots_.size() - 1;
   for (size_t at = hash(key) & mask;; at = (at + 1) & mask)
      if (slots_[at] == 0 || std::memcmp(partitions_[slots_[at] - 1].key, key, partitionEnd_) == 0) return at;
}

bool PartitionBounds::count(const std::byte* key) {
   if (isGivenUp_ || !isKnown(key)) return true;
   const size_t slot = slotOf(key);
   uint32_t number = slots_[slot]; // plus 1
   if (number == 0) {
      if (partitions_.size() == partitionsMax && excess_ * 8 < rows_) {
         giveUp();
         return true;
      }
      partitions_.push_back({.key = copy(key), .allowed = limit_.rows});
      slots_[slot] = number = static_cast<uint32_t>(partitions_.size());
      if (partitions_.size() * 2 > slots_.size()) grow();
   }
   Partition& partition = partitions_[number - 1];
   if (partition.bound) {
      const int order = std::memcmp(key + partitionEnd_, partition.bound + partitionEnd_, orderEnd_ - partitionEnd_);
      if (order > 0 || (order == 0 && isExact_ && !limit_.withTies)) return false;
   }
   ++rows_;
   if (++partition.rows > partition.allowed) ++excess_;
   return true;
}

uint32_t PartitionBounds::partitionOf(const std::byte* key) const {
   if (isGivenUp_ || !isKnown(key)) return unbounded;
   return slots_[slotOf(key)] - 1;
}

void PartitionBounds::keepFirst(uint32_t number, uint64_t rows, const std::byte* bound) {
   Partition& partition = partitions_[number];
   rows_ -= partition.rows - rows;
   if (partition.rows > partition.allowed) excess_ -= partition.rows - partition.allowed;
   partition.bound = copy(bound);
   partition.rows = rows;
   partition.allowed = std::max(limit_.rows, rows); // ties may be many
}

void PartitionBounds::restart() {
   for (Partition& partition : partitions_)
      partition.rows = 0;
   rows_ = excess_ = 0;
}

void PartitionBounds::grow() {
   slots_.assign(slots_.size() * 2, 0);
   for (uint32_t i = 0; i < partitions_.size(); ++i)
      slots_[slotOf(partitions_[i].key)] = i + 1;
}

void PartitionBounds::giveUp() {
   isGivenUp_ = true;
   partitions_ = {};
   slots_ = {};
   keys_.reset();
   rows_ = excess_ = 0;
}

} // namespace ouzel::executor
