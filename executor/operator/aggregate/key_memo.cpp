#include "executor/operator/aggregate/key_memo.hpp"

#include <algorithm>
#include <cstring>

namespace ouzel::executor {

namespace {
/// With fewer live rows in a batch, counting combinations does not pay.
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

bool KeyMemo::areCoded(std::span<const Vector> keys) {
   return std::all_of(keys.begin(), keys.end(), [](const Vector& key) {
      return key.encoding == Encoding::Dictionary || key.encoding == Encoding::Constant;
   });
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
   combineCodes(keys, rows);
   countCombinations(count, combinations);
   present_.clear();
   unknown_.clear();
   bool anyUnknown = false;
   for (uint32_t c = 0; c < combinations; ++c) {
      const uint32_t begin = c > 0 ? ends_[c - 1] : 0;
      ends_[c] = begin;
      for (const auto& lane : counts_)
         ends_[c] += lane[c];
      if (ends_[c] == begin) continue;
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

/// Sets codes_. Computes the combinations of all rows, since that loop vectorises, and then picks those of live rows.
void KeyMemo::combineCodes(std::span<const Vector> keys, const Selection& rows) {
   const uint32_t count = rows.count();
   const uint32_t span = rows.isDense() ? count : rows.rows()[count - 1] + 1u;
   uint8_t* const all = rows.isDense() ? codes_.data() : rowCodes_.data();
   std::fill_n(all, span, uint8_t{0});
   uint32_t stride = 1;
   for (const Vector& key : keys) {
      if (key.encoding != Encoding::Dictionary) continue;
      const uint16_t* const codes = key.codes; // bytes may alias the key: the loop would not vectorise
      for (uint32_t row = 0; row < span; ++row)
         all[row] = static_cast<uint8_t>(all[row] + codes[row] * stride);
      stride *= std::max(key.dictionarySize, 1u);
   }
   if (rows.isDense()) return;
   const RowIndex* const list = rows.rows();
   for (uint32_t i = 0; i < count; ++i)
      codes_[i] = rowCodes_[list[i]];
}

void KeyMemo::countCombinations(uint32_t rows, uint32_t combinations) {
   for (auto& lane : counts_)
      std::fill_n(lane.begin(), combinations, 0u);
   const uint32_t laneRows = rows / lanes;
   const uint8_t* const codes = codes_.data();
   for (uint32_t i = 0; i < laneRows; ++i)
      for (uint32_t lane = 0; lane < lanes; ++lane)
         ++counts_[lane][codes[lane * laneRows + i]];
   for (uint32_t i = lanes * laneRows; i < rows; ++i)
      ++counts_[lanes - 1][codes[i]];
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
   const uint32_t count = rows.count(), laneRows = count / lanes;
   LaneCounts next;
   for (const uint8_t c : present_) {
      uint32_t begin = c == 0 ? 0 : ends_[c - 1u];
      for (uint32_t lane = 0; lane < lanes; ++lane) {
         next[lane][c] = begin;
         begin += counts_[lane][c];
      }
   }
   const uint8_t* const codes = codes_.data();
   const auto sort = [&](auto&& rowOf) {
      for (uint32_t i = 0; i < laneRows; ++i)
         for (uint32_t lane = 0; lane < lanes; ++lane) {
            const uint32_t at = lane * laneRows + i;
            order_[next[lane][codes[at]]++] = rowOf(at);
         }
      for (uint32_t at = lanes * laneRows; at < count; ++at)
         order_[next[lanes - 1][codes[at]]++] = rowOf(at);
   };
   if (rows.isDense())
      sort([](uint32_t at) { return static_cast<RowIndex>(at); });
   else
      sort([list = rows.rows()](uint32_t at) { return list[at]; });
}

} // namespace ouzel::executor
