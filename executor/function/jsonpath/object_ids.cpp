#include "executor/function/jsonpath/object_ids.hpp"

#include <string>

#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

using json::JsonbView;
using json::Kind;

constexpr uint64_t wordBytes = 4;

constexpr uint64_t aligned(uint64_t at) {
   return (at + wordBytes - 1) / wordBytes * wordBytes;
}

/// The bytes of PostgreSQL's numeric: a length word, a header of 2 or 4 bytes, 2 for each four digits.
uint64_t numericBytes(const JsonbView& number) {
   std::string sent; // digits, weight, sign and display scale, 2 bytes each, then the digits
   decimal::appendBinary(sent, number.number());
   const auto field = [&sent](size_t i) {
      return static_cast<int16_t>(static_cast<uint8_t>(sent[2 * i]) << 8 | static_cast<uint8_t>(sent[2 * i + 1]));
   };
   constexpr int scaleMax = 63, weightMin = -64, weightMax = 63; // of the short header
   const bool isShort = field(3) <= scaleMax && field(1) >= weightMin && field(1) <= weightMax;
   return 4 + (isShort ? 2 : 4) + 2 * static_cast<uint64_t>(field(0));
}

/// Where a value ends that may begin at `at`; `begin` becomes where it begins.
uint64_t place(const JsonbView& value, uint64_t at, uint64_t& begin) {
   begin = at;
   switch (value.kind()) {
   case Kind::Null:
   case Kind::Boolean: return at;
   case Kind::String: return at + value.string().size();
   case Kind::Number: begin = aligned(at); return begin + numericBytes(value);
   default: break;
   }
   checkStack();
   begin = aligned(at);
   const bool isObject = value.kind() == Kind::Object;
   uint64_t end = begin + wordBytes * (1 + uint64_t{value.size()} * (isObject ? 2 : 1));
   if (isObject)
      for (uint32_t i = 0; i < value.size(); ++i)
         end += value.key(i).size();
   for (uint32_t i = 0; i < value.size(); ++i) {
      uint64_t ignored;
      end = place(value.element(i), end, ignored);
   }
   return end;
}

} // namespace

std::span<const uint32_t> ObjectIds::positions(const JsonbView& container) {
   auto [it, isNew] = known_.try_emplace(container.bytes().data());
   if (!isNew) return it->second;
   const bool isObject = container.kind() == Kind::Object;
   uint64_t at = wordBytes * (1 + uint64_t{container.size()} * (isObject ? 2 : 1));
   if (isObject)
      for (uint32_t i = 0; i < container.size(); ++i)
         at += container.key(i).size();
   auto* all = arena_.allocateArray<uint32_t>(container.size());
   for (uint32_t i = 0; i < container.size(); ++i) {
      uint64_t begin;
      at = place(container.element(i), at, begin);
      all[i] = static_cast<uint32_t>(begin);
   }
   return it->second = {all, container.size()};
}

int64_t ObjectIds::offset(const JsonbView& base, const JsonbView& object) {
   const char* wanted = object.bytes().data();
   JsonbView at = base;
   int64_t offset = 0;
   while (at.bytes().data() != wanted) {
      uint32_t low = 0, high = at.size(); // the last element that does not begin behind the object has it
      while (high - low > 1) {
         const uint32_t middle = low + (high - low) / 2;
         (at.element(middle).bytes().data() <= wanted ? low : high) = middle;
      }
      if (low >= at.size()) return 0; // not within the base
      offset += positions(at)[low];
      at = at.element(low);
   }
   return offset;
}

} // namespace ouzel::executor
