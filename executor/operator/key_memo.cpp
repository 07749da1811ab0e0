#include "executor/operator/key_memo.hpp"

#include <algorithm>
#include <cstring>

namespace ouzel::executor {

namespace {
/// Thinner batches do not pay for the counts.
constexpr uint32_t rowsMin = 64;
} // namespace

bool KeyMemo::identify(const Vector& key, Identity& identity) {
   if (key.encoding == Encoding::Dictionary) {
      identity.dictionary = key.dictionaryId;
      return key.dictionaryId != 0;
   }
   if (key.encoding != Encoding::Constant) return false;
   identity.isNull = !isValidBit(key.validity, 0);
   if (identity.isNull) return true;
   if (isVariableSize(key.type) && !static_cast<const StringView*>(key.data)->isInline()) return false;
   std::byte bytes[16]{};
   std::memcpy(bytes, key.data, physicalSize(key.type));
   std::memcpy(&identity.low, bytes, 8);
   std::memcpy(&identity.high, bytes + 8, 8);
   return true;
}

void KeyMemo::forget() {
   groups_.fill(nullptr);
}

bool KeyMemo::bind(std::span<const Vector> keys, const Selection& rows) {
   const uint32_t count = rows.count();
   if (count < rowsMin) return false;
   uint32_t combinations = 1;
   incoming_.assign(keys.size(), Identity{});
   for (size_t k = 0; k < keys.size(); ++k) {
      if (!identify(keys[k], incoming_[k])) return false;
      if (keys[k].encoding == Encoding::Dictionary) combinations *= std::max(keys[k].dictionarySize, 1u);
      if (combinations > combinationsMax) return false;
   }
   if (incoming_ != identities_) {
      identities_ = incoming_;
      groups_.fill(nullptr);
   }
   std::fill_n(codes_.begin(), count, uint8_t{0});
   uint32_t stride = 1;
   for (const Vector& key : keys) {
      if (key.encoding != Encoding::Dictionary) continue;
      const uint16_t* codes = key.codes;
      if (rows.isDense()) {
         for (uint32_t i = 0; i < count; ++i)
            codes_[i] = static_cast<uint8_t>(codes_[i] + codes[i] * stride);
      } else {
         const RowIndex* list = rows.rows();
         for (uint32_t i = 0; i < count; ++i)
            codes_[i] = static_cast<uint8_t>(codes_[i] + codes[list[i]] * stride);
      }
      stride *= std::max(key.dictionarySize, 1u);
   }
   std::fill_n(counts_.begin(), combinations, 0u);
   for (uint32_t i = 0; i < count; ++i)
      ++counts_[codes_[i]];
   present_.clear();
   unknown_.clear();
   bool anyUnknown = false;
   for (uint32_t c = 0; c < combinations; ++c) {
      ends_[c] = counts_[c] + (c > 0 ? ends_[c - 1] : 0);
      if (counts_[c] == 0) continue;
      present_.push_back(static_cast<uint8_t>(c));
      anyUnknown |= groups_[c] == nullptr;
   }
   if (anyUnknown) {
      std::array<bool, combinationsMax> seen{};
      for (uint32_t i = 0; i < count; ++i) {
         if (groups_[codes_[i]] || seen[codes_[i]]) continue;
         seen[codes_[i]] = true;
         unknown_.push_back(static_cast<uint16_t>(i));
      }
   }
   return true;
}

void KeyMemo::learn(std::byte* const* groups) {
   for (size_t k = 0; k < unknown_.size(); ++k)
      groups_[codes_[unknown_[k]]] = groups[k];
}

void KeyMemo::groupsOf(uint32_t count, std::byte** rows) const {
   for (uint32_t i = 0; i < count; ++i)
      rows[i] = groups_[codes_[i]];
}

void KeyMemo::sortRows(const Selection& rows) {
   const uint32_t count = rows.count();
   std::array<uint32_t, combinationsMax> next;
   for (const uint8_t c : present_)
      next[c] = ends_[c] - counts_[c];
   if (rows.isDense()) {
      for (uint32_t i = 0; i < count; ++i)
         order_[next[codes_[i]]++] = static_cast<RowIndex>(i);
   } else {
      const RowIndex* list = rows.rows();
      for (uint32_t i = 0; i < count; ++i)
         order_[next[codes_[i]]++] = list[i];
   }
}

} // namespace ouzel::executor
