#include "common/base_type/network_address.hpp"

#include <algorithm>

#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of inet and cidr.

namespace ouzel::executor {

namespace {

NetworkAddress read(StringView v) {
   return readNetworkAddress(v.view());
}
StringView write(const NetworkAddress& value, KernelEnv& env) {
   return networkAddressBytes(value, env.strings);
}
NetworkAddress wholeAddress(NetworkAddress value) {
   value.prefix = static_cast<uint8_t>(value.maxPrefix());
   return value;
}

// ---- parts ----

StringView host(StringView v, KernelEnv& env) {
   std::string text;
   appendAddress(text, read(v));
   return env.copy(text);
}
StringView withPrefix(StringView v, KernelEnv& env) {
   std::string text;
   appendWithPrefix(text, read(v));
   return env.copy(text);
}
StringView abbreviatedInet(StringView v, KernelEnv& env) {
   std::string text;
   inetForm.appendText(text, &v);
   return env.copy(text);
}
StringView abbreviatedCidr(StringView v, KernelEnv& env) {
   std::string text;
   appendAbbreviatedCidr(text, read(v));
   return env.copy(text);
}
int32_t family(StringView v) {
   return read(v).isV6 ? 6 : 4;
}
int32_t maskLength(StringView v) {
   return read(v).prefix;
}
StringView broadcast(StringView v, KernelEnv& env) {
   NetworkAddress value = read(v);
   value.address |= value.hostMask();
   return write(value, env);
}
StringView network(StringView v, KernelEnv& env) {
   NetworkAddress value = read(v);
   value.address = value.network();
   return write(value, env);
}
StringView netmask(StringView v, KernelEnv& env) {
   NetworkAddress value = read(v);
   value.address = ~value.hostMask() & value.allBits();
   return write(wholeAddress(value), env);
}
StringView hostmask(StringView v, KernelEnv& env) {
   NetworkAddress value = read(v);
   value.address = value.hostMask();
   return write(wholeAddress(value), env);
}

NetworkAddress withMaskLength(StringView v, int32_t length) {
   NetworkAddress value = read(v);
   const auto max = static_cast<int32_t>(value.maxPrefix());
   if (length < -1 || length > max)
      throw SqlError(sqlstate::invalidParameterValue, "invalid mask length: " + std::to_string(length));
   value.prefix = static_cast<uint8_t>(length == -1 ? max : length);
   return value;
}
StringView setInetMaskLength(StringView v, int32_t length, KernelEnv& env) {
   return write(withMaskLength(v, length), env);
}
StringView setCidrMaskLength(StringView v, int32_t length, KernelEnv& env) {
   NetworkAddress value = withMaskLength(v, length);
   value.address = value.network();
   return write(value, env);
}

// ---- containment ----

bool sameFamily(StringView a, StringView b) {
   return read(a).isV6 == read(b).isV6;
}
/// Whether b's network is one of those in which a's lies; `isStrict`: and another one.
template <bool isStrict>
bool isWithin(StringView a, StringView b) {
   const NetworkAddress x = read(a), y = read(b);
   if (x.isV6 != y.isV6) return false;
   return (isStrict ? x.prefix > y.prefix : x.prefix >= y.prefix) && samePrefix(x, y, y.prefix);
}
template <bool isStrict>
bool contains(StringView a, StringView b) {
   return isWithin<isStrict>(b, a);
}
bool overlaps(StringView a, StringView b) {
   const NetworkAddress x = read(a), y = read(b);
   return x.isV6 == y.isV6 && samePrefix(x, y, std::min(x.prefix, y.prefix));
}
StringView merge(StringView a, StringView b, KernelEnv& env) {
   NetworkAddress x = read(a);
   const NetworkAddress y = read(b);
   if (x.isV6 != y.isV6)
      throw SqlError(sqlstate::invalidParameterValue, "cannot merge addresses from different families");
   x.prefix = std::min(x.prefix, y.prefix);
   while (!samePrefix(x, y, x.prefix))
      --x.prefix;
   x.address = x.network();
   return write(x, env);
}

// ---- arithmetic ----

void requireSameSize(const NetworkAddress& a, const NetworkAddress& b, const char* what) {
   if (a.isV6 != b.isV6)
      throw SqlError(sqlstate::invalidParameterValue,
                     "cannot " + std::string(what) + " inet values of different sizes");
}
StringView bitNot(StringView v, KernelEnv& env) {
   NetworkAddress value = read(v);
   value.address = ~value.address & value.allBits();
   return write(value, env);
}
StringView bitAnd(StringView a, StringView b, KernelEnv& env) {
   NetworkAddress x = read(a);
   const NetworkAddress y = read(b);
   requireSameSize(x, y, "AND");
   x.address &= y.address;
   x.prefix = std::max(x.prefix, y.prefix);
   return write(x, env);
}
StringView bitOr(StringView a, StringView b, KernelEnv& env) {
   NetworkAddress x = read(a);
   const NetworkAddress y = read(b);
   requireSameSize(x, y, "OR");
   x.address |= y.address;
   x.prefix = std::max(x.prefix, y.prefix);
   return write(x, env);
}

[[noreturn, gnu::cold]] void throwOutOfRange() {
   throw SqlError(sqlstate::numericValueOutOfRange, "result is out of range");
}
StringView moved(StringView v, uint128 distance, bool isForward, KernelEnv& env) {
   NetworkAddress value = read(v);
   if (isForward ? distance > value.allBits() - value.address : distance > value.address) throwOutOfRange();
   value.address = isForward ? value.address + distance : value.address - distance;
   return write(value, env);
}
uint128 magnitude(int64_t v) {
   return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}
StringView add(StringView v, int64_t distance, KernelEnv& env) {
   return moved(v, magnitude(distance), distance >= 0, env);
}
StringView addReversed(int64_t distance, StringView v, KernelEnv& env) {
   return add(v, distance, env);
}
StringView subtract(StringView v, int64_t distance, KernelEnv& env) {
   return moved(v, magnitude(distance), distance < 0, env);
}
int64_t difference(StringView a, StringView b) {
   const NetworkAddress x = read(a), y = read(b);
   requireSameSize(x, y, "subtract");
   const bool isNegative = x.address < y.address;
   const uint128 distance = isNegative ? y.address - x.address : x.address - y.address;
   constexpr uint128 max = static_cast<uint128>(INT64_MAX);
   if (distance > max + (isNegative ? 1 : 0)) throwOutOfRange();
   return static_cast<int64_t>(isNegative ? 0 - static_cast<uint64_t>(distance) : static_cast<uint64_t>(distance));
}

} // namespace

void registerNetworkAddress() {
   addKernel<host>("network_host", totalKernel);
   addKernel<withPrefix>("network_show", totalKernel);
   addKernel<abbreviatedInet>("inet_abbrev", totalKernel);
   addKernel<abbreviatedCidr>("cidr_abbrev", totalKernel);
   addKernel<family>("network_family", totalKernel);
   addKernel<maskLength>("network_masklen", totalKernel);
   addKernel<broadcast>("network_broadcast", totalKernel);
   addKernels<network>({"network_network", "inet_to_cidr"}, totalKernel);
   addKernel<netmask>("network_netmask", totalKernel);
   addKernel<hostmask>("network_hostmask", totalKernel);
   addKernel<setInetMaskLength>("inet_set_masklen");
   addKernel<setCidrMaskLength>("cidr_set_masklen");
   addKernel<sameFamily>("inet_same_family", totalKernel);
   addKernel<isWithin<true>>("network_sub", totalKernel);
   addKernel<isWithin<false>>("network_subeq", totalKernel);
   addKernel<contains<true>>("network_sup", totalKernel);
   addKernel<contains<false>>("network_supeq", totalKernel);
   addKernel<overlaps>("network_overlap", totalKernel);
   addKernel<merge>("inet_merge");
   addKernel<bitNot>("inetnot", totalKernel);
   addKernel<bitAnd>("inetand");
   addKernel<bitOr>("inetor");
   addKernel<add>("inetpl");
   addKernel<addReversed>("sql:int8pl_inet");
   addKernel<subtract>("inetmi_int8");
   addKernel<difference>("inetmi");
}

} // namespace ouzel::executor
