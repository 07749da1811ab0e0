#include "executor/operator/sort/sort_key.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "common/number/decimal.hpp"
#include "common/value/dispatch.hpp"

namespace ouzel::executor {

namespace {

constexpr uint32_t stringPrefixBytes = SortKeyLayout::stringPrefixBytes;
constexpr std::byte nullFirst{0}, notNull{1}, nullLast{2};

template <typename T>
void storeBigEndian(T value, std::byte* out) {
   if constexpr (sizeof(T) == 16) {
      storeBigEndian(static_cast<uint64_t>(value >> 64), out);
      storeBigEndian(static_cast<uint64_t>(value), out + 8);
      return;
   }
   if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
   if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
   if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
   std::memcpy(out, &value, sizeof(T));
}

template <typename T>
void storeSigned(T value, std::byte* out) {
   if constexpr (sizeof(T) == 16)
      storeBigEndian(static_cast<uint128>(value) ^ (uint128{1} << 127), out);
   else {
      using U = std::make_unsigned_t<T>;
      storeBigEndian(static_cast<U>(static_cast<U>(value) ^ (U{1} << (sizeof(T) * 8 - 1))), out);
   }
}

/// All NaNs are alike and come last; -0 is stored as 0.
template <typename T, typename U>
void storeFloat(T value, std::byte* out) {
   constexpr U sign = U{1} << (sizeof(U) * 8 - 1);
   U bits = ~U{0};
   if (value == value) {
      bits = std::bit_cast<U>(value == 0 ? T{0} : value);
      bits = (bits & sign) != 0 ? ~bits : bits | sign;
   }
   storeBigEndian(bits, out);
}

/// Writes the prefix, padded with zeros, then one byte: the length, but at most one more than the prefix's length.
void storeString(const StringView& value, std::byte* out) {
   const uint32_t size = value.size();
   const uint32_t taken = std::min(size, stringPrefixBytes);
   std::memcpy(out, value.data(), taken);
   if (taken < stringPrefixBytes) std::memset(out + taken, 0, stringPrefixBytes - taken);
   out[stringPrefixBytes] = static_cast<std::byte>(std::min(size, stringPrefixBytes + 1));
}

// A decimal in a key: its class (-infinity, negative, zero, positive, infinity, NaN), the number of digits before the
// point, the first 18 digits, and a byte that says whether there are more digits. In negative decimals all bits after
// the class are inverted.
constexpr uint32_t decimalBytes = 1 + 4 + 8 + 1;
constexpr uint32_t decimalDigits = 18;

struct DecimalDigits {
   int32_t exponent = 0;
   uint64_t digits = 0;
   bool isWhole = true;
};

DecimalDigits leadingDigits(StringView value) {
   DecimalDigits out;
   decimal::Scaled scaled;
   if (decimal::decode(value, scaled)) {
      const uint128 magnitude =
          scaled.value < 0 ? -static_cast<uint128>(scaled.value) : static_cast<uint128>(scaled.value);
      uint32_t count = 1;
      while (count < decimal::powersOfTen && magnitude >= decimal::powerOfTen(count))
         ++count;
      out.exponent = static_cast<int32_t>(count) - scaled.scale;
      if (count <= decimalDigits) {
         out.digits = static_cast<uint64_t>(magnitude * decimal::powerOfTen(decimalDigits - count));
      } else {
         const uint128 divisor = decimal::powerOfTen(count - decimalDigits);
         out.digits = static_cast<uint64_t>(magnitude / divisor);
         out.isWhole = magnitude % divisor == 0;
      }
      return out;
   }
   // More than 127 bits: take the digits from the text.
   uint32_t taken = 0;
   bool isFraction = false, hasBegun = false;
   for (const char c : decimal::toString(value)) {
      if (c == '.') isFraction = true;
      if (c < '0' || c > '9') continue;
      if (!hasBegun && c == '0') {
         if (isFraction) --out.exponent;
         continue;
      }
      hasBegun = true;
      if (!isFraction) ++out.exponent;
      if (taken == decimalDigits) {
         out.isWhole = out.isWhole && c == '0';
         continue;
      }
      out.digits = out.digits * 10 + static_cast<uint64_t>(c - '0');
      ++taken;
   }
   for (; taken < decimalDigits; ++taken)
      out.digits *= 10;
   return out;
}

void storeDecimal(const StringView& value, std::byte* out) {
   std::memset(out, 0, decimalBytes);
   switch (decimal::kind(value)) {
   case decimal::Kind::NegativeInfinity: return;
   case decimal::Kind::Infinity: out[0] = std::byte{4}; return;
   case decimal::Kind::NaN: out[0] = std::byte{5}; return;
   case decimal::Kind::Finite: break;
   }
   const int sign = decimal::sign(value);
   out[0] = static_cast<std::byte>(2 + sign);
   if (sign == 0) return;
   const DecimalDigits digits = leadingDigits(value);
   storeSigned(digits.exponent, out + 1);
   storeBigEndian(digits.digits, out + 5);
   out[13] = static_cast<std::byte>(digits.isWhole ? 0 : 1);
   if (sign < 0)
      for (uint32_t i = 1; i < decimalBytes; ++i)
         out[i] = ~out[i];
}

uint32_t keyBytes(PhysicalType type) {
   switch (type) {
   case PhysicalType::String: return stringPrefixBytes + 1;
   case PhysicalType::Decimal: return decimalBytes;
   default: return physicalSize(type);
   }
}

template <PhysicalType type>
void storeValue(const PhysicalValueType<type>& value, std::byte* out) {
   if constexpr (type == PhysicalType::Bool)
      *out = static_cast<std::byte>(value);
   else if constexpr (type == PhysicalType::F32)
      storeFloat<float, uint32_t>(value, out);
   else if constexpr (type == PhysicalType::F64)
      storeFloat<double, uint64_t>(value, out);
   else if constexpr (type == PhysicalType::Interval)
      storeSigned(intervalSpan(value), out);
   else if constexpr (type == PhysicalType::Decimal)
      storeDecimal(value, out);
   else if constexpr (type == PhysicalType::String)
      storeString(value, out);
   else
      storeSigned(value, out);
}

template <PhysicalType type>
void encodeColumn(const SortKeyLayout::Column& column, const Vector& vector, Selection rows, uint32_t from,
                  uint32_t count, uint32_t stride, std::byte* out) {
   using T = PhysicalValueType<type>;
   const T* values = static_cast<const T*>(vector.data);
   const uint32_t bytes = column.end - column.offset - 1;
   const std::byte nullMark = column.nullsFirst ? nullFirst : nullLast;
   std::byte* target = out + column.offset;
   for (uint32_t i = 0; i < count; ++i, target += stride) {
      const uint32_t position = vector.positionOf(rows.row(from + i));
      if (!isValidBit(vector.validity, position)) {
         target[0] = nullMark;
         std::memset(target + 1, 0, bytes);
         continue;
      }
      target[0] = notNull;
      storeValue<type>(values[position], target + 1);
      if (column.descending)
         for (uint32_t b = 1; b <= bytes; ++b)
            target[b] = ~target[b];
   }
}

} // namespace

SortKeyLayout::SortKeyLayout(const std::vector<SortColumn>& columns) {
   for (const SortColumn& column : columns)
      columns_.push_back({column, 0, 0, !isVariableSize(column.type)});
   place();
}

SortKeyLayout SortKeyLayout::withRanks(std::span<const uint32_t> ranked) const {
   SortKeyLayout out = *this;
   for (const uint32_t column : ranked)
      out.columns_[column].isExact = true;
   out.place();
   return out;
}

/// Give each column its bytes, and find which bytes decide.
void SortKeyLayout::place() {
   width_ = 0;
   isExact_ = true;
   uint32_t decided = 0;
   for (Column& column : columns_) {
      column.offset = width_;
      column.end = width_ = width_ + 1 + keyBytes(column.type);
      if (isExact_) decided = column.end; // later bytes count only after this column's values were compared
      isExact_ = isExact_ && column.isExact;
   }
   decidedBytes_ = decided;
   const auto maskOf = [](uint32_t bytes) { return bytes == 0 ? 0 : ~uint64_t{0} << 8 * (8 - bytes); };
   prefixMask_ = {maskOf(std::min(decided, 8u)), maskOf(decided < 8 ? 0 : std::min(decided - 8, 8u))};
   stride_ = std::max(16u, (width_ + 7) / 8 * 8);
}

void SortKeyLayout::storeRank(const Column& column, uint32_t rank, std::byte* key) {
   DCHECK(column.type == PhysicalType::String);
   DCHECK(key[column.offset] == notNull);
   std::byte* target = key + column.offset + 1;
   std::memset(target, 0, keyBytes(column.type));
   storeBigEndian(column.descending ? ~rank : rank, target);
}

void SortKeyLayout::encode(std::span<const Vector> values, Selection rows, uint32_t from, uint32_t count,
                           std::byte* out) const {
   for (size_t i = 0; i < columns_.size(); ++i)
      dispatchPhysical(columns_[i].type, [&](auto tag) {
         encodeColumn<decltype(tag)::type>(columns_[i], values[i], rows, from, count, stride_, out);
      });
}

std::optional<int64_t> SortKeyLayout::firstInteger(const std::byte* key) const {
   const Column& column = columns_.front();
   const uint32_t size = column.end - column.offset - 1;
   DCHECK(column.type == PhysicalType::I16 || column.type == PhysicalType::I32 || column.type == PhysicalType::I64);
   if (key[column.offset] != notNull) return std::nullopt;
   uint64_t value = 0;
   for (uint32_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<uint64_t>(key[column.offset + 1 + i]);
   const uint32_t unused = 64 - 8 * size;
   if (column.descending) value = ~value;
   const auto aligned = static_cast<int64_t>((value ^ uint64_t{1} << (8 * size - 1)) << unused);
   return aligned >> unused; // with the sign
}

bool SortKeyLayout::isUnresolved(const Column& column, const std::byte* key) {
   const std::byte last = key[column.end - 1];
   const std::byte mark =
       column.type == PhysicalType::String ? static_cast<std::byte>(stringPrefixBytes + 1) : std::byte{1};
   return last == mark || last == ~mark;
}

// ---- packing ----

void KeySpread::add(const SortKeyLayout& layout, const std::byte* keys, uint32_t count) {
   if (count == 0) return;
   const size_t words = layout.stride() / 8;
   if (first_.empty()) {
      first_.resize(words);
      differing_.assign(words, 0);
      std::memcpy(first_.data(), keys, words * 8);
   }
   for (size_t w = 0; w < words; ++w) {
      const std::byte* at = keys + w * 8;
      const uint64_t first = first_[w];
      uint64_t differing = 0;
      for (uint32_t i = 0; i < count; ++i, at += layout.stride()) {
         uint64_t word;
         std::memcpy(&word, at, 8);
         differing |= word ^ first;
      }
      differing_[w] |= differing;
   }
}

void KeySpread::add(const KeySpread& other) {
   if (other.first_.empty()) return;
   if (first_.empty()) {
      *this = other;
      return;
   }
   for (size_t w = 0; w < first_.size(); ++w)
      differing_[w] |= other.differing_[w] | (first_[w] ^ other.first_[w]);
}

KeyPacking::KeyPacking(const SortKeyLayout& layout, const KeySpread& spread, uint32_t bytesMax) {
   const uint32_t bytes = std::min(layout.decidedBytes(), bytesMax);
   // On pages keys lie side by side, so a word may reach past the end of its key. ColumnPage reserves memory past the
   // last key for this.
   for (uint32_t offset = 0; offset < bytes && !spread.first_.empty(); offset += 8) {
      uint64_t mask = __builtin_bswap64(spread.differing_[offset / 8]);
      if (bytes - offset < 8) mask &= ~uint64_t{0} << (64 - 8 * (bytes - offset));
      while (bits_ + static_cast<uint32_t>(std::popcount(mask)) > bitsMax) {
         mask &= mask - 1;
         isWhole_ = false;
      }
      if (mask == 0) continue;
      words_[wordCount_++] = {offset, static_cast<uint32_t>(std::popcount(mask)), mask};
      bits_ += words_[wordCount_ - 1].bits;
   }
   shift_ = bits_ == 0 ? 0 : bitsMax - bits_;
   isEnough_ = isWhole_ && layout.isExact() && bytes == layout.decidedBytes();
}

} // namespace ouzel::executor
