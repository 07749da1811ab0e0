#include "tests/object_server/faults.hpp"

#include <string>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouzel::object_server {

namespace {

/// A number in [0, 1).
double unit(uint64_t hash) {
   return static_cast<double>(hash >> 11) * 0x1p-53;
}

bool applies(const FaultSettings& settings, const HttpRequest& request) {
   if (!settings.match.empty() && request.path.find(settings.match) == std::string::npos) return false;
   return settings.methods.empty() ||
          ("," + settings.methods + ",").find("," + request.method + ",") != std::string::npos;
}

/// Identity of a request. Does not include the id of an upload, which is always new.
std::string identity(const HttpRequest& request) {
   return request.method + ' ' + request.path + ' ' + request.headerOr("range") + ' ' +
          request.parameterOr("partNumber") +
          (request.parameter("uploads")    ? " uploads"
           : request.parameter("uploadId") ? " upload"
                                           : "");
}

} // namespace

const char* name(FaultKind kind) {
   static constexpr const char* names[faultKinds] = {
       "none",       "error_500", "error_503",    "error_429",  "conflict", "reset_before", "reset_after",
       "reset_body", "truncate",  "stall_header", "stall_body", "slow",     "flip"};
   return names[static_cast<size_t>(kind)];
}

Fault FaultPlan::draw(const FaultSettings& settings, const HttpRequest& request) {
   if (!applies(settings, request)) return {};
   const std::string what = identity(request);
   const uint64_t key = XXH3_64bits_withSeed(what.data(), what.size(), settings.seed);
   const uint64_t turn = ++timesAsked_[key];
   const uint64_t random = XXH3_64bits_withSeed(&turn, sizeof turn, key);
   const bool isConditional = request.method != "GET" && request.method != "HEAD" &&
                              (request.header("if-match") || request.header("if-none-match"));
   const double third = settings.error / 3;
   const std::pair<FaultKind, double> kinds[] = {{FaultKind::Error500, settings.error500 + third},
                                                 {FaultKind::Error503, settings.error503 + third},
                                                 {FaultKind::Error429, settings.error429 + third},
                                                 {FaultKind::Conflict, isConditional ? settings.conflict : 0},
                                                 {FaultKind::ResetBefore, settings.resetBefore},
                                                 {FaultKind::ResetAfter, settings.resetAfter},
                                                 {FaultKind::ResetBody, settings.resetBody},
                                                 {FaultKind::Truncate, settings.truncate},
                                                 {FaultKind::StallHeader, settings.stallHeader},
                                                 {FaultKind::StallBody, settings.stallBody},
                                                 {FaultKind::Slow, settings.slow},
                                                 {FaultKind::Flip, settings.flip}};
   double left = unit(random);
   for (const auto& [kind, probability] : kinds) {
      if (left < probability) {
         const uint64_t place = XXH3_64bits_withSeed(&turn, sizeof turn, ~key);
         return {kind, unit(place), static_cast<uint8_t>(place & 7)};
      }
      left -= probability;
   }
   return {};
}

} // namespace ouzel::object_server
