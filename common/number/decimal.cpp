#include "common/number/decimal.hpp"

#include <algorithm>
#include <bit>

#include "common/error/sql_error.hpp"
#include "common/number/decimal_big.hpp"
#include "common/number/decimal_small.hpp"
#include "common/thread/interruption.hpp"

namespace ouzel::decimal {

namespace {

uint32_t byteCount(uint128 v) {
   const uint64_t high = static_cast<uint64_t>(v >> 64), low = static_cast<uint64_t>(v);
   const int bits = high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
   return static_cast<uint32_t>(bits + 7) / 8;
}

StringView build(bool negative, uint128 magnitude, int32_t scale, Arena* arena) {
   DCHECK(scale >= 0);
   DCHECK(scale <= scaleMax);
   const uint32_t size = headerBytes + byteCount(magnitude);
   const uint16_t h = static_cast<uint16_t>((scale << 2) | (negative && magnitude != 0 ? kindNegative : 0));
   if (size <= StringView::inlineMax) // decode() in reverse
      return std::bit_cast<StringView>((((magnitude << 16) | h) << 32) | size);
   char bytes[headerBytes + 16];
   std::memcpy(bytes, &h, sizeof h);
   std::memcpy(bytes + headerBytes, &magnitude, sizeof magnitude);
   return arena->copyString({bytes, size});
}

StringView special(Kind kind) {
   const uint16_t h = static_cast<uint16_t>(((static_cast<uint16_t>(kind) - 1) << 2) | kindSpecial);
   char bytes[headerBytes];
   std::memcpy(bytes, &h, sizeof h);
   return StringView(bytes, headerBytes);
}

uint128 divideHalfUp(uint128 numerator, uint128 denominator) {
   const uint128 quotient = numerator / denominator;
   const uint128 remainder = numerator - quotient * denominator;
   return quotient + (remainder >= denominator - remainder);
}

} // namespace

uint128 powerOfTen(uint32_t exponent) {
   DCHECK(exponent < powersOfTen);
   return powers[exponent];
}

// ---- the shared big-number helpers ----

void Integer::setInt128(int128 value) {
   const uint128 magnitude = magnitudeOf(value);
   mpz_import(z_, 1, -1, sizeof magnitude, 0, 0, &magnitude);
   if (value < 0) mpz_neg(z_, z_);
}

uint32_t Integer::digits() const {
   if (mpz_sgn(z_) == 0) return 0;
   size_t digits = mpz_sizeinbase(z_, 10); // exact or one too many
   Integer power;
   power.setPowerOfTen(static_cast<uint32_t>(digits - 1));
   if (mpz_cmpabs(z_, power) < 0) --digits;
   return static_cast<uint32_t>(digits);
}

int32_t load(StringView v, Integer& out) {
   // An operation on an operand of many digits takes milliseconds: a batch of them must not outlast a cancel.
   constexpr size_t longBytes = 4096;
   if (v.size() > longBytes) checkInterrupted();
   const uint16_t h = header(v);
   DCHECK((h & kindSpecial) == 0);
   if (v.size() <= headerBytes)
      mpz_set_ui(out, 0);
   else
      mpz_import(out, v.size() - headerBytes, -1, 1, 0, 0, v.data() + headerBytes);
   if ((h & kindNegative) != 0) mpz_neg(out, out);
   return h >> 2;
}

void scaleUp(Integer& z, uint32_t exponent) {
   if (exponent == 0 || z.sign() == 0) return;
   Integer power;
   power.setPowerOfTen(exponent);
   mpz_mul(z, z, power);
}

void divideRounded(Integer& numerator, const Integer& denominator) {
   Integer remainder;
   const int sign = numerator.sign() * denominator.sign();
   mpz_tdiv_qr(numerator, remainder, numerator, denominator);
   mpz_mul_2exp(remainder, remainder, 1);
   if (mpz_cmpabs(remainder, denominator) >= 0) {
      if (sign < 0)
         mpz_sub_ui(numerator, numerator, 1);
      else
         mpz_add_ui(numerator, numerator, 1);
   }
}

void scaleDown(Integer& z, uint32_t exponent) {
   if (exponent == 0 || z.sign() == 0) return;
   Integer power;
   power.setPowerOfTen(exponent);
   divideRounded(z, power);
}

void scaleDownTruncated(Integer& z, uint32_t exponent) {
   if (exponent == 0 || z.sign() == 0) return;
   Integer power;
   power.setPowerOfTen(exponent);
   mpz_tdiv_q(z, z, power);
}

int32_t alignBig(BigOperand& a, BigOperand& b) {
   if (a.scale < b.scale) {
      scaleUp(a.value, static_cast<uint32_t>(b.scale - a.scale));
      a.scale = b.scale;
   } else if (b.scale < a.scale) {
      scaleUp(b.value, static_cast<uint32_t>(a.scale - b.scale));
      b.scale = a.scale;
   }
   return a.scale;
}

void throwOverflow() {
   throw SqlError(sqlstate::numericValueOutOfRange, "value overflows numeric format");
}

StringView store(const Integer& z, int32_t scale, Arena& arena) {
   if (scale > scaleMax) throwOverflow();
   const size_t bytes = (mpz_sizeinbase(z, 2) + 7) / 8;
   // 131072 + 16383 digits are less than 61,400 bytes; count exactly only near the limit.
   if (bytes > 54'000 && static_cast<int32_t>(z.digits()) - scale > integerDigitsMax) throwOverflow();
   if (z.sign() == 0) return build(false, 0, scale, &arena);
   const uint32_t size = headerBytes + static_cast<uint32_t>(bytes);
   char local[64];
   char* target = size <= sizeof local ? local : static_cast<char*>(arena.allocate(size, 1));
   const uint16_t h = static_cast<uint16_t>((scale << 2) | (z.sign() < 0 ? kindNegative : 0));
   std::memcpy(target, &h, sizeof h);
   mpz_export(target + headerBytes, nullptr, -1, 1, 0, 0, z);
   return target == local ? arena.copyString({local, size}) : StringView(target, size);
}

Leading leading(StringView v) {
   Scaled small;
   if (decode(v, small)) {
      const Digits digits(small);
      return {digits.weight, digits.group()};
   }
   Integer z;
   const int32_t scale = load(v, z);
   const int32_t digits = static_cast<int32_t>(z.digits());
   mpz_abs(z, z);
   const int32_t exponent = digits - 1 - scale;
   scaleDownTruncated(z, static_cast<uint32_t>(digits - ((exponent & 3) + 1)));
   return {exponent >> 2, static_cast<int32_t>(mpz_get_ui(z))};
}

// ---- putting together ----

StringView nan() {
   return special(Kind::NaN);
}
StringView infinity(bool negative) {
   return special(negative ? Kind::NegativeInfinity : Kind::Infinity);
}

StringView fromInt64(int64_t value, int32_t scale) {
   return build(value < 0, magnitudeOf(value), scale, nullptr);
}

StringView fromInt128(int128 value, int32_t scale, Arena& arena) {
   return build(value < 0, magnitudeOf(value), scale, &arena);
}

std::optional<int128> toInt128(StringView v, int32_t targetScale) {
   Scaled s;
   if (!decode(v, s)) {
      if (!isFinite(v)) return std::nullopt;
      // The value may fit without its digits beyond the target scale.
      Integer z;
      const int32_t from = load(v, z);
      if (from <= targetScale) return std::nullopt;
      scaleDown(z, static_cast<uint32_t>(from - targetScale));
      if (mpz_sizeinbase(z, 2) > 127) return std::nullopt;
      uint128 magnitude = 0;
      mpz_export(&magnitude, nullptr, -1, sizeof magnitude, 0, 0, z);
      return withSign(magnitude, z.sign() < 0);
   }
   if (s.scale <= targetScale) {
      if (!scaleUp(s.value, targetScale - s.scale)) return std::nullopt;
      return s.value;
   }
   const int32_t drop = s.scale - targetScale;
   if (drop >= static_cast<int32_t>(powersOfTen)) return int128{0};
   return withSign(divideHalfUp(magnitudeOf(s.value), powers[drop]), s.value < 0);
}

std::optional<int64_t> toInt64(StringView v, int32_t targetScale) {
   const std::optional<int128> wide = toInt128(v, targetScale);
   if (!wide || *wide > INT64_MAX || *wide <= INT64_MIN) return std::nullopt;
   return static_cast<int64_t>(*wide);
}

// ---- comparison ----

int compareScaled(int128 a, int32_t scaleA, int128 b, int32_t scaleB) {
   Scaled x{a, scaleA}, y{b, scaleB};
   if (align(x, y)) return x.value < y.value ? -1 : x.value > y.value ? 1 : 0;
   const int signA = a < 0 ? -1 : a > 0, signB = b < 0 ? -1 : b > 0;
   if (signA != signB) return signA < signB ? -1 : 1;
   Integer za, zb;
   za.setInt128(a);
   zb.setInt128(b);
   if (scaleA < scaleB)
      scaleUp(za, static_cast<uint32_t>(scaleB - scaleA));
   else
      scaleUp(zb, static_cast<uint32_t>(scaleA - scaleB));
   const int order = mpz_cmp(za, zb);
   return order < 0 ? -1 : order > 0;
}

int compare(StringView a, StringView b) {
   Scaled x, y;
   if (decode(a, x) && decode(b, y)) return compareScaled(x.value, x.scale, y.value, y.scale);
   const auto rank = [](StringView v) {
      switch (kind(v)) {
      case Kind::NegativeInfinity: return 0;
      case Kind::Finite: return 1;
      case Kind::Infinity: return 2;
      case Kind::NaN: return 3;
      }
      return 1;
   };
   const int rankA = rank(a), rankB = rank(b);
   if (rankA != rankB || rankA != 1) return rankA < rankB ? -1 : rankA > rankB;
   const int signA = sign(a), signB = sign(b);
   if (signA != signB) return signA < signB ? -1 : 1;
   BigOperand p(a), q(b);
   alignBig(p, q);
   const int order = mpz_cmp(p.value, q.value);
   return order < 0 ? -1 : order > 0;
}

void appendSortKey(std::string& out, StringView v) {
   switch (kind(v)) {
   case Kind::NegativeInfinity: out.push_back(0); return;
   case Kind::Infinity: out.push_back(4); return;
   case Kind::NaN: out.push_back(5); return;
   case Kind::Finite: break;
   }
   const int s = sign(v);
   out.push_back(static_cast<char>(s + 2));
   if (s == 0) return;
   // Exponent of the leading digit, then the digits in pairs + 1, then 0; all complemented for negative values.
   const size_t start = out.size();
   std::string digits = toString(v);
   std::erase_if(digits, [](char c) { return c == '-' || c == '.'; });
   const size_t firstDigit = digits.find_first_not_of('0'), lastDigit = digits.find_last_not_of('0');
   const int32_t exponent = static_cast<int32_t>(digits.size() - firstDigit) - 1 - scale(v);
   digits = digits.substr(firstDigit, lastDigit - firstDigit + 1);
   if (digits.size() % 2 != 0) digits.push_back('0');
   const uint32_t biased = static_cast<uint32_t>(exponent + 0x20000);
   for (int shift = 16; shift >= 0; shift -= 8)
      out.push_back(static_cast<char>(biased >> shift));
   for (size_t i = 0; i < digits.size(); i += 2)
      out.push_back(static_cast<char>((digits[i] - '0') * 10 + (digits[i + 1] - '0') + 1));
   out.push_back(0);
   if (s < 0)
      for (size_t i = start; i < out.size(); ++i)
         out[i] = static_cast<char>(~out[i]);
}

// ---- arithmetic ----

namespace {

/// a + b where at least one is NaN or infinite; signB is applied to b first.
StringView addSpecial(StringView a, StringView b, bool negateB) {
   if (isNaN(a) || isNaN(b)) return nan();
   if (isFinite(a)) return infinity((sign(b) < 0) != negateB);
   if (!isFinite(b) && sign(a) != (negateB ? -sign(b) : sign(b))) return nan();
   return infinity(sign(a) < 0);
}

StringView addBig(StringView a, StringView b, bool negateB, Arena& arena) {
   BigOperand x(a), y(b);
   const int32_t resultScale = alignBig(x, y);
   if (negateB)
      mpz_sub(x.value, x.value, y.value);
   else
      mpz_add(x.value, x.value, y.value);
   return store(x.value, resultScale, arena);
}

} // namespace

StringView add(StringView a, StringView b, Arena& arena) {
   Scaled x, y;
   if (decode(a, x) && decode(b, y) && align(x, y)) {
      int128 sum;
      if (!__builtin_add_overflow(x.value, y.value, &sum)) return fromInt128(sum, x.scale, arena);
   }
   if (!isFinite(a) || !isFinite(b)) return addSpecial(a, b, false);
   return addBig(a, b, false, arena);
}

StringView subtract(StringView a, StringView b, Arena& arena) {
   Scaled x, y;
   if (decode(a, x) && decode(b, y) && align(x, y)) {
      int128 difference;
      if (!__builtin_sub_overflow(x.value, y.value, &difference)) return fromInt128(difference, x.scale, arena);
   }
   if (!isFinite(a) || !isFinite(b)) return addSpecial(a, b, true);
   return addBig(a, b, true, arena);
}

StringView multiply(StringView a, StringView b, Arena& arena) {
   Scaled x, y;
   if (decode(a, x) && decode(b, y) && x.scale + y.scale <= scaleMax) {
      int128 product;
      if (!__builtin_mul_overflow(x.value, y.value, &product)) return fromInt128(product, x.scale + y.scale, arena);
   }
   if (!isFinite(a) || !isFinite(b)) {
      const int s = sign(a) * sign(b);
      if (isNaN(a) || isNaN(b) || s == 0) return nan();
      return infinity(s < 0);
   }
   BigOperand p(a), q(b);
   mpz_mul(p.value, p.value, q.value);
   int32_t resultScale = p.scale + q.scale;
   if (resultScale > scaleMax) {
      scaleDown(p.value, static_cast<uint32_t>(resultScale - scaleMax));
      resultScale = scaleMax;
   }
   return store(p.value, resultScale, arena);
}

StringView negate(StringView v, Arena& arena) {
   const int s = sign(v);
   if (isNaN(v) || s == 0) return arena.copyString(v.view());
   if (!isFinite(v)) return infinity(s > 0);
   // Only the sign bit of the header changes.
   const uint16_t h = header(v) ^ kindNegative;
   char local[StringView::inlineMax];
   char* target = v.isInline() ? local : static_cast<char*>(arena.allocate(v.size(), 1));
   std::memcpy(target, v.data(), v.size());
   std::memcpy(target, &h, sizeof h);
   return StringView(target, v.size());
}

StringView absolute(StringView v, Arena& arena) {
   return sign(v) < 0 ? negate(v, arena) : arena.copyString(v.view());
}

StringView rescale(StringView v, int32_t target, Arena& arena) {
   DCHECK(target >= 0 && target <= scaleMax);
   const int32_t from = scale(v);
   if (from == target || !isFinite(v)) return arena.copyString(v.view());
   if (const std::optional<int128> small = toInt128(v, target)) return fromInt128(*small, target, arena);
   Integer z;
   load(v, z);
   if (target > from)
      scaleUp(z, static_cast<uint32_t>(target - from));
   else
      scaleDown(z, static_cast<uint32_t>(from - target));
   return store(z, target, arena);
}

namespace {

/// Digits after `target` become zero; the display scale becomes max(target, 0) either way.
StringView cut(StringView v, int32_t target, bool rounding, Arena& arena) {
   if (!isFinite(v)) return arena.copyString(v.view());
   // No value has more digits before the point; one more may come from rounding up.
   target = std::clamp(target, -(integerDigitsMax + 1), scaleMax);
   const int32_t from = scale(v);
   if (target >= from) return rescale(v, target, arena);
   if (rounding && target >= 0) return rescale(v, target, arena);
   const uint32_t drop = static_cast<uint32_t>(from - target);
   Scaled s;
   if (decode(v, s)) {
      if (drop >= powersOfTen) return fromInt64(0, std::max(target, 0));
      const uint128 m = magnitudeOf(s.value);
      int128 kept = withSign(rounding ? divideHalfUp(m, powers[drop]) : m / powers[drop], s.value < 0);
      if (target >= 0 || scaleUp(kept, -target)) return fromInt128(kept, std::max(target, 0), arena);
   }
   Integer z;
   load(v, z);
   if (rounding)
      scaleDown(z, drop);
   else
      scaleDownTruncated(z, drop);
   if (target < 0) scaleUp(z, static_cast<uint32_t>(-target));
   return store(z, std::max(target, 0), arena);
}

} // namespace

StringView round(StringView v, int32_t target, Arena& arena) {
   return cut(v, target, true, arena);
}
StringView truncate(StringView v, int32_t target, Arena& arena) {
   return cut(v, target, false, arena);
}

StringView ceil(StringView v, Arena& arena) {
   const StringView whole = truncate(v, 0, arena);
   return sign(v) > 0 && isFinite(v) && compare(whole, v) != 0 ? add(whole, fromInt64(1), arena) : whole;
}

StringView floor(StringView v, Arena& arena) {
   const StringView whole = truncate(v, 0, arena);
   return sign(v) < 0 && isFinite(v) && compare(whole, v) != 0 ? subtract(whole, fromInt64(1), arena) : whole;
}

int32_t minScale(StringView v) {
   if (!isFinite(v) || sign(v) == 0) return 0;
   int32_t result = scale(v);
   Scaled s;
   if (decode(v, s)) {
      for (; result > 0 && s.value % 10 == 0; --result)
         s.value /= 10;
      return result;
   }
   Integer z;
   load(v, z);
   while (result > 0 && mpz_divisible_ui_p(z, 10) != 0) {
      mpz_divexact_ui(z, z, 10);
      --result;
   }
   return result;
}

StringView trimScale(StringView v, Arena& arena) {
   return isFinite(v) ? rescale(v, minScale(v), arena) : v;
}

} // namespace ouzel::decimal
