#pragma once
// Settings of the network model and the faults, set on the command line and, while the server runs, through its control
// URL. One table of names serves both.
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::object_server {

/// Times in ms, rates in bytes per second, 0: unlimited.
struct NetworkSettings {
   double latencyMs = 0;     ///< from a request's end to the answer's first byte
   double msPerMib = 0;      ///< added for each MiB of a body, in both directions: a limit of one request
   double cap = 0;           ///< for all connections together, each direction separately
   double perRequestCap = 0; ///< for one body
};

/// Probabilities for each request; a request gets at most one fault (`error` is one of the three below, evenly).
struct FaultSettings {
   uint64_t seed = 1;
   double error = 0, error500 = 0, error503 = 0, error429 = 0; ///< an error instead of running the request
   double conflict = 0;                                        ///< 409 ConditionalRequestConflict to a conditional put
   double resetBefore = 0;                                     ///< a reset instead of an answer; the request is not run
   double resetAfter = 0;                                      ///< a reset instead of an answer; the request was run
   double resetBody = 0;                                       ///< a reset within a body
   double truncate = 0;                                        ///< an orderly end within a body
   double stallHeader = 0, stallBody = 0; ///< no bytes for stallMs before the answer, or within a body
   double stallMs = 10'000;
   double slow = 0; ///< the whole answer, head and body, at slowRate
   double slowRate = 1000;
   double flip = 0;                      ///< one bit of a body is flipped
   uint64_t expireAfter = 0;             ///< number of requests after which an access key expires; 0: never
   std::string methods;                  ///< faults only for these, e.g. "GET,HEAD"; empty: all
   std::string match;                    ///< faults only for paths that contain this
   std::string wrongRegion = "redirect"; ///< how a request for another region is refused: redirect or malformed
};

struct Settings {
   NetworkSettings network;
   FaultSettings faults;
   std::string webIdentity; ///< the token for which STS gives the role's credentials; empty: none

   /// Sets a value: a number, "400MB/s", "95MiB/s" (units of rates), or a text. Names may have '-' or '_'. Throws
   /// std::invalid_argument, with the known names.
   void set(std::string_view name, std::string_view value);
   static bool isName(std::string_view name);
   std::string json() const;
};

} // namespace ouzel::object_server
