#pragma once
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

/// A redis-server process for one test.
class RedisServer {
public:
   /// Whether the program is installed; if not, says that the test is skipped.
   static bool isInstalled();

   explicit RedisServer(std::vector<std::string> options = {});
   ~RedisServer();
   RedisServer(const RedisServer&) = delete;

   uint16_t port() const { return port_; }
   const std::string& directory() const { return directory_; }
   std::string url(const std::string& options = "") const;
   void kill();
   /// Starts it anew, at the same port, without keys.
   void start();
   void pause() const;
   void resume() const;
   /// What redis-cli says, without the line end.
   std::string ask(const std::string& command) const;
   long keys() const { return std::stol(ask("DBSIZE")); }
   /// Waits until there is no key, at most some seconds.
   bool isEmptySoon(int seconds = 5) const;

private:
   std::vector<std::string> options_;
   std::string directory_;
   uint16_t port_ = 0;
   pid_t process_ = 0;
};
