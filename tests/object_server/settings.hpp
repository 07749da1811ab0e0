#pragma once
// What can be set on the command line and, while the server runs, through its control URL: the network's model and the
// faults. One table of names serves both.
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::object_server {

/// Times in ms, rates in bytes per second, 0: unlimited.
struct NetworkSettings {
   double latencyMs = 0;     ///< from a request's end to the answer's first byte
   double msPerMib = 0;      ///< added for each MiB of a body, in both directions: a limit of one request
   double cap = 0;           ///< of all connections together, each direction by itself
   double perRequestCap = 0; ///< of one body
};

/// Probabilities of a request; at most one fault happens to it (`error` is one of the three below, evenly).
struct FaultSettings {
   uint64_t seed = 1;
   double error = 0, error500 = 0, error503 = 0, error429 = 0; ///< instead of doing what was asked
   double conflict = 0;                                        ///< 409 ConditionalRequestConflict to a conditional put
   double resetBefore = 0;                                     ///< a reset instead of an answer, nothing done
   double resetAfter = 0;                                      ///< a reset instead of an answer, everything done
   double resetBody = 0;                                       ///< a reset within a body
   double truncate = 0;                                        ///< an orderly end within a body
   double stallHeader = 0, stallBody = 0; ///< no bytes for stallMs before the answer, or within a body
   double stallMs = 10'000;
   double slow = 0; ///< all of the answer, head and body, at slowRate: a slow loris
   double slowRate = 1000;
   double flip = 0;          ///< one bit of a body is another
   uint64_t expireAfter = 0; ///< requests after which credentials have expired, each pair by itself; 0: never
   std::string methods;      ///< faults only for these, e.g. "GET,HEAD"; empty: all
   std::string match;        ///< faults only for paths that contain this
   std::string wrongRegion = "redirect"; ///< how a request for another region is refused: redirect or malformed
};

struct Settings {
   NetworkSettings network;
   FaultSettings faults;
   std::string webIdentity; ///< the token for which STS gives the role's credentials; empty: none

   /// Values are numbers, "400MB/s", "95MiB/s" (units of rates), or texts; names with '-' or '_'. Throws
   /// std::invalid_argument with the names there are.
   void set(std::string_view name, std::string_view value);
   static bool isName(std::string_view name);
   std::string json() const;
};

} // namespace ouzel::object_server
