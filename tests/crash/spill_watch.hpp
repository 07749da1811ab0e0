#pragma once
#include <string>
#include <vector>

#include "tests/crash/server_process.hpp"

// What a server must have given back when no query spills.

namespace ouzel::crash {

/// Looks at one server: its views, its handles.
class SpillWatch {
public:
   /// `directory`: of its spill files. What the server holds now is what it may hold at rest.
   SpillWatch(const ServerProcess& server, std::string directory);
   /// Wait until it is at rest again: no file for spilled pages, no space in use, no memory of queries, no handle more
   /// than that of one connection.
   /// Ends the test when that takes too long.
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
