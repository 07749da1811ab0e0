#include "executor/expression/constant_set.hpp"

#include <bit>

#include "common/hash/vector_hash.hpp"
#include "executor/kernel/compare.hpp"

namespace ouzel::executor {

ConstantSet::ConstantSet(PhysicalType type, std::span<const Value> values) : type_(type) {
   const uint32_t width = physicalSize(type);
   storage_.resize(values.size() * width + 16);
   strings_.reserve(values.size()); // StringViews point into the strings, which must not move
   const ValueEquality equal = valueEquality(type);
   const uint32_t slotCount = std::bit_ceil(static_cast<uint32_t>(values.size()) * 2 + 2);
   slotShift_ = 64 - static_cast<uint32_t>(std::countr_zero(slotCount));
   slots_.assign(slotCount, 0);
   for (const Value& value : values) {
      fingerprint_.append(value.isNull ? "N" : "V");
      if (value.isNull) {
         hasNull_ = true;
         continue;
      }
      std::byte* target = storage_.data() + size_t{count_} * width;
      if (isVariableSize(type)) {
         strings_.push_back(value.bytes);
         const StringView view(strings_.back(), StringView::Storage::Permanent);
         std::memcpy(target, &view, sizeof view);
         fingerprint_.append(std::to_string(value.bytes.size())).append(":").append(value.bytes);
      } else {
         value.store(target);
         fingerprint_.append(reinterpret_cast<const char*>(target), width);
      }
      uint32_t slot = static_cast<uint32_t>(hashValue(type, target) >> slotShift_);
      while (slots_[slot] != 0 && !equal(valueAt(slots_[slot] - 1), target))
         slot = (slot + 1) & (slotCount - 1);
      if (slots_[slot] != 0) continue; // a duplicate
      slots_[slot] = ++count_;
   }
}

void ConstantSet::contains(const Vector& vector, Selection rows, uint64_t* hashes, uint8_t* flags) const {
   const uint32_t count = rows.count();
   if (count_ <= linearMax) {
      std::memset(flags, 0, count);
      uint8_t one[batchRowsMax];
      for (uint32_t i = 0; i < count_; ++i) {
         compareFlags(sql::CompareOp::Eq, vector, Vector::constant(type_, valueAt(i), nullptr), rows, one);
         for (uint32_t r = 0; r < count; ++r)
            flags[r] |= one[r];
      }
      return;
   }
   hashVector(vector, rows, hashes);
   const ValueEquality equal = valueEquality(type_);
   const uint32_t width = physicalSize(type_), slotMask = static_cast<uint32_t>(slots_.size()) - 1;
   const std::byte* values = static_cast<const std::byte*>(vector.data);
   for (uint32_t i = 0; i < count; ++i) {
      uint32_t slot = static_cast<uint32_t>(hashes[i] >> slotShift_);
      uint8_t found = 0;
      while (slots_[slot] != 0) {
         if (equal(valueAt(slots_[slot] - 1), values + size_t{vector.positionOf(rows.row(i))} * width)) {
            found = 1;
            break;
         }
         slot = (slot + 1) & slotMask;
      }
      flags[i] = found;
   }
}

} // namespace ouzel::executor
