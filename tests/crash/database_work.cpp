#include "tests/crash/database_work.hpp"

namespace ouzel::crash {

namespace {

constexpr size_t databasesMax = 3;

/// Runs a statement that only the end of the server may keep from its effect. False: the connection is lost.
bool runOrLose(Client& client, const std::string& statement) {
   if (client.run(statement)) return true;
   if (client.isConnected() && !client.sqlstate().empty()) fail(statement + ": " + client.message());
   return false;
}

} // namespace

bool DatabaseWork::step(Client& connection, int64_t number) {
   const auto oldest = states_.begin();
   if (states_.size() >= databasesMax) return drop(connection, oldest->first);
   return create(connection, prefix_ + std::to_string(number), number);
}

bool DatabaseWork::create(Client& connection, const std::string& name, int64_t number) {
   states_[name] = State::CreateSent;
   const auto filled = rows_.begin();
   if (filled != rows_.end() && number % 2 == 0) {
      const int64_t row = filled->second;
      if (!runOrLose(connection, "CREATE DATABASE " + name + " TEMPLATE " + filled->first)) return false;
      states_[name] = State::Filled;
      rows_[name] = row;
      return true;
   }
   if (!runOrLose(connection, "CREATE DATABASE " + name)) return false;
   states_[name] = State::Created;
   Client inside(port_, name);
   if (!inside.isConnected()) {
      if (connection.run("SELECT 1")) fail("cannot connect to database " + name + ": " + inside.message());
      return false;
   }
   if (!runOrLose(inside, "CREATE TABLE t (a bigint PRIMARY KEY)")) return false;
   if (!runOrLose(inside, "INSERT INTO t VALUES (" + std::to_string(number) + ")")) return false;
   states_[name] = State::Filled;
   rows_[name] = number;
   return true;
}

bool DatabaseWork::drop(Client& connection, const std::string& name) {
   const std::string dropped = name;
   states_[dropped] = State::DropSent;
   if (!runOrLose(connection, "DROP DATABASE " + dropped + " WITH (FORCE)")) return false;
   states_.erase(dropped);
   rows_.erase(dropped);
   return true;
}

void DatabaseWork::verify(Client& client, int port) const {
   require(client.run("SELECT datname FROM pg_database WHERE datname LIKE '" + prefix_ + "%'"), client.message());
   std::map<std::string, bool> there;
   for (const auto& row : client.rows())
      there[row.at(0)] = true;
   for (const auto& [name, isThere] : there)
      if (!states_.contains(name)) fail("database " + name + " was dropped and is there");
   for (const auto& [name, state] : states_) {
      if (!there[name]) {
         if (state == State::Created || state == State::Filled) fail("database " + name + " is lost");
         continue;
      }
      {
         Client inside(port, name);
         if (!inside.isConnected()) fail("cannot connect to database " + name + ": " + inside.message());
         const auto row = rows_.find(name);
         const bool hasRow = inside.run("SELECT a FROM t");
         if (row != rows_.end() &&
             (!hasRow || inside.rows() != std::vector<std::vector<std::string>>{{std::to_string(row->second)}}))
            fail("the table of database " + name + " has lost its row");
      }
      require(client.run("DROP DATABASE " + name), client.message());
   }
}

} // namespace ouzel::crash
