#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "tests/crash/server_process.hpp"

namespace ouzel::crash {

/// The databases that one client makes, fills and drops until the server is killed, and what must be there afterwards.
class DatabaseWork {
public:
   DatabaseWork(int client, int port) : prefix_("d_" + std::to_string(client) + "_"), port_(port) {}

   /// Makes database `number` with a table of one row, or as a copy of an older one, or drops one. False: the
   /// connection is lost.
   bool step(Client& connection, int64_t number);
   /// Compares what a restarted server has with what was acknowledged, and drops all of it.
   void verify(Client& client, int port) const;

private:
   /// What is known of a database. Statements that were sent and not acknowledged may have had their effect.
   enum class State : uint8_t { CreateSent, Created, Filled, DropSent };

   bool create(Client& connection, const std::string& name, int64_t number);
   bool drop(Client& connection, const std::string& name);

   const std::string prefix_;
   const int port_;
   std::map<std::string, State> states_;
   std::map<std::string, int64_t> rows_; ///< the row of each database that was filled
};

} // namespace ouzel::crash
