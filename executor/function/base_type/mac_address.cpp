#include "common/base_type/mac_address.hpp"

#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of macaddr and macaddr8.

namespace ouzel::executor {

namespace {

constexpr int64_t all48 = (int64_t{1} << 48) - 1;

int64_t macNot(int64_t v) {
   return ~v & all48;
}
int64_t macAnd(int64_t a, int64_t b) {
   return a & b;
}
int64_t macOr(int64_t a, int64_t b) {
   return a | b;
}
int64_t macTruncated(int64_t v) {
   return v & ~int64_t{0xff'ffff};
}
int64_t macToMac8(int64_t v) {
   return orderedUnsigned(widerMac(static_cast<uint64_t>(v)));
}

int64_t mac8Not(int64_t v) {
   return orderedUnsigned(~unsignedOf(v));
}
int64_t mac8And(int64_t a, int64_t b) {
   return orderedUnsigned(unsignedOf(a) & unsignedOf(b));
}
int64_t mac8Or(int64_t a, int64_t b) {
   return orderedUnsigned(unsignedOf(a) | unsignedOf(b));
}
int64_t mac8Truncated(int64_t v) {
   return orderedUnsigned(unsignedOf(v) >> 40 << 40);
}
int64_t mac8WithLocalBit(int64_t v) {
   return orderedUnsigned(unsignedOf(v) | (uint64_t{2} << 56));
}
int64_t mac8ToMac(int64_t v) {
   const uint64_t address = unsignedOf(v);
   if (((address >> 24) & 0xffff) != 0xfffe)
      throw SqlError(sqlstate::numericValueOutOfRange, "macaddr8 data out of range to convert to macaddr")
          .hint("Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, for example "
                "xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to macaddr.");
   return static_cast<int64_t>(((address >> 40) << 24) | (address & 0xff'ffff));
}

} // namespace

void registerMacAddress() {
   addKernel<macNot>("macaddr_not", totalKernel);
   addKernel<macAnd>("macaddr_and", totalKernel);
   addKernel<macOr>("macaddr_or", totalKernel);
   addKernel<macTruncated>("macaddr_trunc", totalKernel);
   addKernel<macToMac8>("macaddrtomacaddr8", totalKernel);
   addKernel<mac8Not>("macaddr8_not", totalKernel);
   addKernel<mac8And>("macaddr8_and", totalKernel);
   addKernel<mac8Or>("macaddr8_or", totalKernel);
   addKernel<mac8Truncated>("macaddr8_trunc", totalKernel);
   addKernel<mac8WithLocalBit>("macaddr8_set7bit", totalKernel);
   addKernel<mac8ToMac>("macaddr8tomacaddr");
}

} // namespace ouzel::executor
