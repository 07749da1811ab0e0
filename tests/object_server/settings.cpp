#include "tests/object_server/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ouzel::object_server {

namespace {

struct Entry {
   const char* name;
   double* number = nullptr;
   uint64_t* integer = nullptr;
   std::string* text = nullptr;
};

std::vector<Entry> entries(Settings& settings) {
   NetworkSettings& n = settings.network;
   FaultSettings& f = settings.faults;
   const auto number = [](const char* name, double& value) { return Entry{.name = name, .number = &value}; };
   return {number("latency_ms", n.latencyMs),
           number("ms_per_mib", n.msPerMib),
           number("cap", n.cap),
           number("per_request_cap", n.perRequestCap),
           {.name = "seed", .integer = &f.seed},
           number("error", f.error),
           number("error_500", f.error500),
           number("error_503", f.error503),
           number("error_429", f.error429),
           number("conflict", f.conflict),
           number("reset_before", f.resetBefore),
           number("reset_after", f.resetAfter),
           number("reset_body", f.resetBody),
           number("truncate", f.truncate),
           number("stall_header", f.stallHeader),
           number("stall_body", f.stallBody),
           number("stall_ms", f.stallMs),
           number("slow", f.slow),
           number("slow_rate", f.slowRate),
           number("flip", f.flip),
           {.name = "expire_after", .integer = &f.expireAfter},
           {.name = "methods", .text = &f.methods},
           {.name = "match", .text = &f.match},
           {.name = "wrong_region", .text = &f.wrongRegion},
           {.name = "web_identity", .text = &settings.webIdentity}};
}

std::string canonical(std::string_view name) {
   std::string result(name);
   std::replace(result.begin(), result.end(), '-', '_');
   return result;
}

/// "400MB/s", "1.5GiB/s", "30".
double parseNumber(std::string_view text) {
   const std::string copy(text);
   char* end = nullptr;
   const double value = std::strtod(copy.c_str(), &end);
   const std::string unit(end);
   if (end == copy.c_str() || !(value >= 0)) throw std::invalid_argument("no number: " + copy);
   static const std::pair<const char*, double> units[] = {
       {"", 1},       {"B/s", 1},         {"kB/s", 1e3},      {"MB/s", 1e6},
       {"GB/s", 1e9}, {"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}};
   for (const auto& [name, factor] : units)
      if (unit == name) return value * factor;
   throw std::invalid_argument("unknown unit: " + copy);
}

std::string jsonText(std::string_view text) {
   std::string result = "\"";
   for (char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) result += c;
   }
   return result + "\"";
}

} // namespace

bool Settings::isName(std::string_view name) {
   Settings any;
   const std::string wanted = canonical(name);
   const auto all = entries(any);
   return std::any_of(all.begin(), all.end(), [&](const Entry& entry) { return entry.name == wanted; });
}

void Settings::set(std::string_view name, std::string_view value) {
   const std::string wanted = canonical(name);
   std::string names;
   for (const Entry& entry : entries(*this)) {
      names += std::string(" ") + entry.name;
      if (entry.name != wanted) continue;
      if (entry.number) *entry.number = parseNumber(value);
      if (entry.integer) *entry.integer = static_cast<uint64_t>(parseNumber(value));
      if (entry.text) *entry.text = value;
      return;
   }
   throw std::invalid_argument("unknown setting " + wanted + "; there are:" + names);
}

std::string Settings::json() const {
   std::string result;
   Settings copy = *this;
   for (const Entry& entry : entries(copy)) {
      result += (result.empty() ? "{" : ", ") + jsonText(entry.name) + ": ";
      char number[40];
      if (entry.number) std::snprintf(number, sizeof number, "%.10g", *entry.number);
      if (entry.integer) std::snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(*entry.integer));
      result += entry.text ? jsonText(*entry.text) : number;
   }
   return result + "}";
}

} // namespace ouzel::object_server
