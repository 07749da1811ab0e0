#include "io/spill/memory_address.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr std::string_view plainScheme = "memory://", tlsScheme = "memorys://";

[[noreturn, gnu::cold]] void throwInvalid(const std::string& what) {
   throw SqlError(sqlstate::invalidParameterValue, "the address of a memory server to spill to is not valid: " + what)
       .hint("Write memory://HOST:PORT, or memory://USER:PASSWORD@HOST:PORT?size=10GB.");
}

std::optional<uint64_t> parseCount(std::string_view text, uint64_t most) {
   uint64_t value = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   if (error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
   return value;
}

std::optional<uint64_t> parseBytes(std::string_view text) {
   constexpr std::array<std::pair<std::string_view, int>, 4> units = {{{"kB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}}};
   for (const auto& [unit, shift] : units)
      if (text.ends_with(unit)) {
         const auto count = parseCount(text.substr(0, text.size() - unit.size()), UINT64_MAX >> (shift + 1));
         return count ? std::optional(*count << shift) : std::nullopt;
      }
   return parseCount(text, INT64_MAX);
}

std::string percentDecoded(std::string_view text) {
   std::string out;
   for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
         out += text[i];
         continue;
      }
      unsigned char byte = 0;
      const char* const digits = text.data() + i + 1;
      if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
         throwInvalid("user and password must be percent-encoded");
      out += static_cast<char>(byte);
      i += 2;
   }
   return out;
}

void parseOption(MemoryAddress& address, std::string_view option) {
   const size_t equals = option.find('=');
   const std::string_view name = option.substr(0, equals);
   const std::string_view value = equals == option.npos ? "" : option.substr(equals + 1);
   std::optional<uint64_t> number;
   if (name == "size") {
      number = parseBytes(value);
      if (number == 0) number.reset(); // which would mean no limit
      address.bytesMax = number.value_or(0);
   } else if (name == "tls") {
      number = parseCount(value, 1);
      address.usesTls = address.usesTls || number.value_or(0) == 1;
   } else if (name == "ttl") {
      number = parseCount(value, 86'400 * 30);
      if (number == 0) number.reset();
      address.ttlSeconds = static_cast<uint32_t>(number.value_or(0));
   } else if (name == "delay") {
      double millis = -1;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), millis);
      if (error == std::errc{} && end == value.data() + value.size() && millis >= 0 && millis <= 10'000) number = 1;
      address.delayNanos = number ? static_cast<int64_t>(millis * 1e6) : 0;
   } else {
      throwInvalid("unknown option \"" + std::string(name) + "\"");
   }
   if (!number) throwInvalid("invalid value of option \"" + std::string(name) + "\"");
}

void parseHost(MemoryAddress& address, std::string_view text) {
   std::string_view port;
   if (text.starts_with('[')) {
      const size_t close = text.find(']');
      if (close == text.npos) throwInvalid("no \"]\" after the IPv6 address");
      address.host = text.substr(1, close - 1);
      port = text.substr(close + 1);
   } else {
      const size_t colon = text.find(':');
      address.host = text.substr(0, colon);
      port = colon == text.npos ? "" : text.substr(colon);
   }
   if (address.host.empty()) throwInvalid("no host");
   if (port.empty()) return;
   const auto number = parseCount(port.substr(1), 65'535);
   if (port.front() != ':' || !number || *number == 0) throwInvalid("invalid port");
   address.port = static_cast<uint16_t>(*number);
}

} // namespace

bool isMemoryAddress(std::string_view target) {
   return target.starts_with(plainScheme) || target.starts_with(tlsScheme);
}

MemoryAddress MemoryAddress::parse(std::string_view text) {
   MemoryAddress out;
   out.usesTls = text.starts_with(tlsScheme);
   text.remove_prefix(out.usesTls ? tlsScheme.size() : plainScheme.size());
   if (const size_t at = text.rfind('@'); at != text.npos) {
      const std::string_view secret = text.substr(0, at);
      const size_t colon = secret.find(':');
      if (colon == secret.npos) throwInvalid("write USER:PASSWORD@ or :PASSWORD@ in front of the host");
      out.user = percentDecoded(secret.substr(0, colon));
      out.password = percentDecoded(secret.substr(colon + 1));
      text.remove_prefix(at + 1);
   }
   const size_t question = text.find('?');
   std::string_view place = text.substr(0, question), options = question == text.npos ? "" : text.substr(question + 1);
   if (place.ends_with('/')) place.remove_suffix(1);
   if (place.find('/') != place.npos) throwInvalid("nothing may follow the port but options");
   parseHost(out, place);
   while (!options.empty()) {
      const size_t next = options.find('&');
      parseOption(out, options.substr(0, next));
      options = next == options.npos ? "" : options.substr(next + 1);
   }
   const bool isV6 = out.host.find(':') != out.host.npos;
   out.name = std::string(out.usesTls ? tlsScheme : plainScheme) + (isV6 ? "[" + out.host + "]" : out.host) + ":" +
              std::to_string(out.port);
   return out;
}

} // namespace ouzel::io
