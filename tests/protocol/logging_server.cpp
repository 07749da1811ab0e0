#include "tests/protocol/logging_server.hpp"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace ouzel::wire {

LoggingServer::LoggingServer(const std::string& configuration, std::vector<std::string> flags) {
   static int count = 0;
   const std::string name = "ouzel-wire-log-" + std::to_string(getpid()) + "-" + std::to_string(count++);
   file_ = (std::filesystem::temp_directory_path() / name).string();
   configure(configuration);
   flags.insert(flags.end(), {"--config", file_});
   server_ = std::make_unique<ServerProcess>(flags);
   seen_ = server_->log().size();
}

LoggingServer::~LoggingServer() {
   std::filesystem::remove(file_);
}

void LoggingServer::configure(const std::string& configuration) const {
   std::ofstream(file_) << "log_line_prefix = '%i %e '\n" << configuration;
}

std::string LoggingServer::said(const std::string& last) {
   // The text has to be new, and its line complete.
   std::string fresh;
   for (int waitedMs = 0; waitedMs < 20'000; waitedMs += 5) {
      const std::string log = server_->log();
      fresh = log.substr(std::min(seen_, log.size()));
      if (fresh.find(last) != std::string::npos && fresh.ends_with('\n')) break;
      usleep(5000);
   }
   seen_ += fresh.size();
   for (size_t at = 0; (at = fresh.find("duration: ", at)) != std::string::npos;) {
      at += 10;
      fresh.replace(at, fresh.find(" ms", at) - at, "N");
   }
   return fresh;
}

} // namespace ouzel::wire
