#include "server/hba/address_range.hpp"

#include <arpa/inet.h>

namespace ouzel::server {

std::optional<IpAddress> IpAddress::parse(const std::string& text) {
   IpAddress address;
   if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
   address.isVersion6 = true;
   if (inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), address.bytes.data()) == 1) return address;
   return std::nullopt;
}

std::optional<IpAddress> IpAddress::mask(uint32_t bits, bool isVersion6) {
   IpAddress mask;
   mask.isVersion6 = isVersion6;
   if (bits > mask.size() * 8) return std::nullopt;
   for (uint32_t bit = 0; bit < bits; ++bit)
      mask.bytes[bit / 8] = static_cast<uint8_t>(mask.bytes[bit / 8] | (0x80u >> (bit % 8)));
   return mask;
}

std::string IpAddress::text() const {
   char buffer[INET6_ADDRSTRLEN] = "";
   inet_ntop(isVersion6 ? AF_INET6 : AF_INET, bytes.data(), buffer, sizeof buffer);
   return buffer;
}

bool AddressRange::contains(const IpAddress& other) const {
   if (other.isVersion6 != address.isVersion6) return false;
   for (uint32_t i = 0; i < address.size(); ++i)
      if (((other.bytes[i] ^ address.bytes[i]) & mask.bytes[i]) != 0) return false;
   return true;
}

bool AddressRange::isAligned() const {
   for (uint32_t i = 0; i < address.size(); ++i)
      if ((address.bytes[i] & ~mask.bytes[i]) != 0) return false;
   return true;
}

} // namespace ouzel::server
