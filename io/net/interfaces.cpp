#include "io/net/interfaces.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace ouzel::io {

namespace {

std::string numeric(const sockaddr* address) {
   char text[INET6_ADDRSTRLEN] = "";
   if (address->sa_family == AF_INET) {
      sockaddr_in v4;
      std::memcpy(&v4, address, sizeof v4);
      inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
   } else {
      sockaddr_in6 v6;
      std::memcpy(&v6, address, sizeof v6);
      inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
   }
   return text;
}

} // namespace

std::vector<InterfaceAddress> interfaceAddresses() {
   std::vector<InterfaceAddress> out;
   ifaddrs* list = nullptr;
   if (getifaddrs(&list) != 0) return out;
   for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_netmask == nullptr) continue;
      const int family = entry->ifa_addr->sa_family;
      if (family != AF_INET && family != AF_INET6) continue;
      out.push_back({numeric(entry->ifa_addr), numeric(entry->ifa_netmask)});
   }
   freeifaddrs(list);
   return out;
}

} // namespace ouzel::io
