#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/protocol/support.hpp"

namespace ouzel::wire {

/// A server with these lines in its configuration file. Its log's lines begin with `%i %e `, unless the lines say
/// otherwise.
class LoggingServer {
public:
   explicit LoggingServer(const std::string& configuration, std::vector<std::string> flags = {});
   ~LoggingServer();
   /// Write the configuration file anew.
   void configure(const std::string& configuration) const;
   ServerProcess& process() { return *server_; }
   operator const ServerProcess&() const { return *server_; }

   /// What was logged since the last call, once it has the text `last`, without durations.
   std::string said(const std::string& last);

private:
   std::string file_;
   std::unique_ptr<ServerProcess> server_;
   size_t seen_ = 0;
};

} // namespace ouzel::wire
