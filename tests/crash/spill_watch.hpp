#pragma once
#include <string>
#include <vector>

#include "tests/crash/server_process.hpp"

// Checks that a server has released all resources of spilling when no query spills.

namespace ouzel::crash {

/// Watches one server: its system views and its open descriptors.
class SpillWatch {
public:
   /// `directory` has the server's spill files. The descriptors that the server has open now are allowed at rest.
   SpillWatch(const ServerProcess& server, std::string directory);
   /// Waits until the server is at rest: no spill file, no space in use, no memory of queries, and at most one
   /// connection's descriptor more than at the start. Ends the test when that takes too long.
   void requireRest(const std::string& what);
   Client& client() { return client_; }

private:
   struct Held {
      long spillBytes = 0, queryBytes = 0;
      int spillFiles = 0, sockets = 0, others = 0, rings = 0;
   };
   Held look();

   const ServerProcess& server_;
   const std::string directory_;
   Client client_;
   Held atRest_;
};

} // namespace ouzel::crash
