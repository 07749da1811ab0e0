#include "common/base_type/bit_string.hpp"

#include <bit>

#include "common/thread/interruption.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of bit and varbit.

namespace ouzel::executor {

namespace {

uint32_t lengthOf(StringView v) {
   return BitView(v.view()).size();
}

StringView setLength(StringView v, int32_t typmod, bool isExplicit, KernelEnv& env) {
   return applyBitTypmod(v, typmod, isExplicit, env.strings);
}
StringView limitLength(StringView v, int32_t typmod, bool isExplicit, KernelEnv& env) {
   return applyVarbitTypmod(v, typmod, isExplicit, env.strings);
}

// ---- bit by bit ----

void requireSameLength(StringView a, StringView b, const char* what) {
   if (lengthOf(a) != lengthOf(b))
      throw SqlError(sqlstate::stringDataLengthMismatch,
                     "cannot " + std::string(what) + " bit strings of different sizes");
}
StringView bitAnd(StringView a, StringView b, KernelEnv& env) {
   requireSameLength(a, b, "AND");
   const BitView x(a.view()), y(b.view());
   return makeBits(x.size(), env.strings, [&](uint32_t i) { return x.group(i) & y.group(i); });
}
StringView bitOr(StringView a, StringView b, KernelEnv& env) {
   requireSameLength(a, b, "OR");
   const BitView x(a.view()), y(b.view());
   return makeBits(x.size(), env.strings, [&](uint32_t i) { return x.group(i) | y.group(i); });
}
StringView bitXor(StringView a, StringView b, KernelEnv& env) {
   requireSameLength(a, b, "XOR");
   const BitView x(a.view()), y(b.view());
   return makeBits(x.size(), env.strings, [&](uint32_t i) { return x.group(i) ^ y.group(i); });
}
StringView bitNot(StringView v, KernelEnv& env) {
   const BitView bits(v.view());
   return makeBits(bits.size(), env.strings, [&](uint32_t i) { return ~bits.group(i); });
}

/// The bits after `before` zeros, in a string of the same length.
StringView shiftedRight(StringView v, uint32_t before, KernelEnv& env) {
   const BitView bits(v.view());
   return makeBits(bits.size(), env.strings, [&](uint32_t i) {
      const uint64_t start = uint64_t{i} * bitGroupBits;
      if (start >= before) return bits.bitsFrom(start - before);
      const uint64_t zeros = before - start;
      return zeros >= bitGroupBits ? 0 : bits.group(0) >> zeros;
   });
}
StringView shiftedLeft(StringView v, uint32_t count, KernelEnv& env) {
   const BitView bits(v.view());
   return makeBits(bits.size(), env.strings,
                   [&](uint32_t i) { return bits.bitsFrom(uint64_t{i} * bitGroupBits + count); });
}
/// How far a shift by `count` goes; more than any length for INT32_MIN.
uint32_t distance(int32_t count) {
   return count < 0 ? 0 - static_cast<uint32_t>(count) : static_cast<uint32_t>(count);
}
StringView shiftLeft(StringView v, int32_t count, KernelEnv& env) {
   return count < 0 ? shiftedRight(v, distance(count), env) : shiftedLeft(v, distance(count), env);
}
StringView shiftRight(StringView v, int32_t count, KernelEnv& env) {
   return count < 0 ? shiftedLeft(v, distance(count), env) : shiftedRight(v, distance(count), env);
}

// ---- parts ----

/// 64 bits of a before b, from a group on.
uint64_t joinedGroup(const BitView& a, const BitView& b, uint32_t group) {
   const uint64_t start = uint64_t{group} * bitGroupBits;
   if (start >= a.size()) return b.bitsFrom(start - a.size());
   const uint64_t bits = a.group(group), ofA = a.size() - start;
   return ofA >= bitGroupBits ? bits : bits | (b.group(0) >> ofA);
}
StringView concatenate(StringView a, StringView b, KernelEnv& env) {
   const BitView x(a.view()), y(b.view());
   const uint64_t size = uint64_t{x.size()} + y.size();
   if (size > static_cast<uint64_t>(bitLengthMax)) throwTooManyBits();
   return makeBits(static_cast<uint32_t>(size), env.strings, [&](uint32_t i) { return joinedGroup(x, y, i); });
}

/// The bits from `begin` to before `end`, which are counted from 1 and may lie outside.
StringView part(StringView v, int64_t begin, int64_t end, KernelEnv& env) {
   const BitView bits(v.view());
   begin = std::max<int64_t>(begin, 1);
   end = std::min<int64_t>(end, int64_t{bits.size()} + 1);
   if (begin >= end) return StringView();
   return makeBits(static_cast<uint32_t>(end - begin), env.strings, [&](uint32_t i) {
      return bits.bitsFrom(static_cast<uint64_t>(begin - 1) + uint64_t{i} * bitGroupBits);
   });
}
[[noreturn, gnu::cold]] void throwNegativeLength() {
   throw SqlError(sqlstate::substringError, "negative substring length not allowed");
}
StringView substring(StringView v, int32_t begin, int32_t length, KernelEnv& env) {
   if (length < 0) throwNegativeLength();
   return part(v, begin, int64_t{begin} + length, env);
}
StringView substringToEnd(StringView v, int32_t begin, KernelEnv& env) {
   return part(v, begin, INT64_MAX, env);
}
StringView overlay(StringView v, StringView with, int32_t begin, int32_t length, KernelEnv& env) {
   if (begin <= 0) throwNegativeLength();
   int32_t end;
   if (__builtin_add_overflow(begin, length, &end))
      throw SqlError(sqlstate::numericValueOutOfRange, "integer out of range");
   return concatenate(concatenate(part(v, 1, begin, env), with, env), part(v, end, INT64_MAX, env), env);
}
StringView overlayOwnLength(StringView v, StringView with, int32_t begin, KernelEnv& env) {
   return overlay(v, with, begin, static_cast<int32_t>(lengthOf(with)), env);
}

int32_t position(StringView v, StringView pattern) {
   const BitView bits(v.view()), wanted(pattern.view());
   if (bits.size() == 0 || wanted.size() > bits.size()) return 0;
   if (wanted.size() == 0) return 1;
   const uint32_t groups = wanted.groupCount(), lastBits = wanted.size() - (groups - 1) * bitGroupBits;
   const uint64_t lastMask = ~uint64_t{0} << (bitGroupBits - lastBits);
   constexpr uint32_t groupsBetweenChecks = 1 << 16;
   uint32_t compared = 0;
   for (uint32_t at = 0; at + wanted.size() <= bits.size(); ++at) {
      bool isSame = true;
      for (uint32_t i = 0; i < groups && isSame; ++i) {
         if (++compared % groupsBetweenChecks == 0) checkInterrupted();
         const uint64_t mask = i + 1 == groups ? lastMask : ~uint64_t{0};
         isSame = (bits.bitsFrom(uint64_t{at} + uint64_t{i} * bitGroupBits) & mask) == wanted.group(i);
      }
      if (isSame) return static_cast<int32_t>(at) + 1;
   }
   return 0;
}

void requireIndex(const BitView& bits, int32_t index) {
   if (index >= 0 && static_cast<uint32_t>(index) < bits.size()) return;
   throw SqlError(sqlstate::arraySubscriptError, "bit index " + std::to_string(index) + " out of valid range (0.." +
                                                     std::to_string(int64_t{bits.size()} - 1) + ")");
}
int32_t getBit(StringView v, int32_t index) {
   const BitView bits(v.view());
   requireIndex(bits, index);
   return bits.bit(static_cast<uint32_t>(index)) ? 1 : 0;
}
StringView setBit(StringView v, int32_t index, int32_t value, KernelEnv& env) {
   const BitView bits(v.view());
   requireIndex(bits, index);
   if (value != 0 && value != 1) throw SqlError(sqlstate::invalidParameterValue, "new bit must be 0 or 1");
   const uint32_t place = static_cast<uint32_t>(index) / bitGroupBits;
   const uint64_t mask = uint64_t{1} << (bitGroupBits - 1 - static_cast<uint32_t>(index) % bitGroupBits);
   return makeBits(bits.size(), env.strings, [&](uint32_t i) {
      const uint64_t group = bits.group(i);
      return i != place ? group : value ? group | mask : group & ~mask;
   });
}

int32_t length(StringView v) {
   return static_cast<int32_t>(lengthOf(v));
}
int32_t octetLength(StringView v) {
   return static_cast<int32_t>((uint64_t{lengthOf(v)} + 7) / 8);
}
int64_t bitCount(StringView v) {
   const BitView bits(v.view());
   int64_t count = 0;
   for (uint32_t i = 0; i < bits.groupCount(); ++i)
      count += std::popcount(bits.group(i));
   return count;
}

// ---- integers ----

/// The lowest bits of an integer, after copies of its sign if the string is longer.
template <typename T>
StringView fromInteger(T value, int32_t typmod, KernelEnv& env) {
   if (typmod > bitLengthMax) throwTooManyBits();
   const uint32_t size = typmod <= 0 ? 1 : static_cast<uint32_t>(typmod);
   const auto bits = static_cast<uint64_t>(int64_t{value});
   const uint64_t signs = value < 0 ? ~uint64_t{0} : 0;
   return makeBits(size, env.strings, [&](uint32_t i) {
      const int64_t before = int64_t{size} - 64 - int64_t{i} * bitGroupBits; // bits of the string before the integer
      if (before >= 64) return signs;
      if (before >= 0) return before == 0 ? bits : (signs << (64 - before)) | (bits >> before);
      return -before >= 64 ? 0 : bits << -before;
   });
}
template <typename T>
T toInteger(StringView v) {
   const BitView bits(v.view());
   constexpr uint32_t width = sizeof(T) * 8;
   if (bits.size() > width)
      throw SqlError(sqlstate::numericValueOutOfRange, width == 32 ? "integer out of range" : "bigint out of range");
   return bits.size() == 0 ? T{0} : static_cast<T>(bits.group(0) >> (bitGroupBits - bits.size()));
}

} // namespace

void registerBitString() {
   addKernel<setLength>("bit");
   addKernel<limitLength>("varbit");
   addKernel<bitAnd>("bit_and");
   addKernel<bitOr>("bit_or");
   addKernel<bitXor>("bitxor");
   addKernel<bitNot>("bitnot");
   addKernel<shiftLeft>("bitshiftleft");
   addKernel<shiftRight>("bitshiftright");
   addKernel<concatenate>("bitcat");
   addKernel<substring>("bitsubstr");
   addKernel<substringToEnd>("bitsubstr_no_len");
   addKernel<overlay>("bitoverlay");
   addKernel<overlayOwnLength>("bitoverlay_no_len");
   addKernel<position>("bitposition");
   addKernel<getBit>("bitgetbit");
   addKernel<setBit>("bitsetbit");
   addKernel<length>("bitlength", totalKernel);
   addKernel<octetLength>("bitoctetlength", totalKernel);
   addKernel<bitCount>("bit_bit_count", totalKernel);
   addKernel<fromInteger<int32_t>>("bitfromint4");
   addKernel<fromInteger<int64_t>>("bitfromint8");
   addKernel<toInteger<int32_t>>("bittoint4");
   addKernel<toInteger<int64_t>>("bittoint8");
}

} // namespace ouzel::executor
