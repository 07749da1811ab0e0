#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

// Addresses of clients and the ranges that rules name. IPv4 and IPv6 are never equal.

namespace ouzel::server {

/// An address, or a mask, in network order. IPv4 uses the first four bytes.
struct IpAddress {
   bool isVersion6 = false;
   std::array<uint8_t, 16> bytes{};

   /// nullopt when the text is no numeric address. An interface behind a % is ignored.
   static std::optional<IpAddress> parse(const std::string& text);
   /// The mask whose first bits are set. nullopt: there are not so many bits.
   static std::optional<IpAddress> mask(uint32_t bits, bool isVersion6);
   uint32_t size() const { return isVersion6 ? 16 : 4; }
   std::string text() const;
   bool operator==(const IpAddress&) const = default;
};

struct AddressRange {
   IpAddress address, mask;
   bool contains(const IpAddress& other) const;
   /// Whether the address has no bits outside the mask.
   bool isAligned() const;
};

} // namespace ouzel::server
