#include "tests/crash/spill_watch.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace ouzel::crash {

namespace {

constexpr std::chrono::seconds patience{30}; // the server notices a lost client when its thread has time
/// Rings of lanes and read lanes, kept for the next query: one lane for each thread, and as many read lanes.
const int ringsMax = static_cast<int>(2 * std::max(4u, 2 * std::thread::hardware_concurrency()));

} // namespace

SpillWatch::SpillWatch(const ServerProcess& server, std::string directory)
   : server_(server), directory_(std::move(directory)), client_(server.port()) {
   require(client_.isConnected(), "no connection");
   look(); // what the first statement of a session makes stays for those after it, whose memory is some bytes more or
           // less
   atRest_ = look();
   require(atRest_.spillFiles == 0 && atRest_.spillBytes == 0, "the server spills at rest");
}

SpillWatch::Held SpillWatch::look() {
   Held held;
   require(
       client_.run("SELECT sum(bytes_allocated) + sum(bytes_in_use), (SELECT sum(bytes) FROM ouzel_stat_memory WHERE "
                   "name = 'queries') FROM ouzel_stat_spill"),
       client_.message());
   held.spillBytes = std::atol(client_.rows().at(0).at(0).c_str());
   held.queryBytes = std::atol(client_.rows().at(0).at(1).c_str());
   std::error_code gone;
   for (const auto& entry :
        std::filesystem::directory_iterator("/proc/" + std::to_string(server_.processId()) + "/fd", gone)) {
      const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (target.starts_with(directory_))
         ++held.spillFiles;
      else if (target.starts_with("socket:"))
         ++held.sockets;
      else if (target.find("io_uring") != target.npos)
         ++held.rings;
      else if (!gone)
         ++held.others;
   }
   return held;
}

void SpillWatch::requireRest(const std::string& what) {
   const auto end = std::chrono::steady_clock::now() + patience;
   for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const Held held = look();
      if (held.spillBytes == 0 && held.spillFiles == 0 && held.queryBytes <= atRest_.queryBytes &&
          held.sockets <= atRest_.sockets + 1 && held.others <= atRest_.others &&
          held.rings <= atRest_.rings + ringsMax)
         return;
      if (std::chrono::steady_clock::now() < end) continue;
      fail(what + ": not at rest: " + std::to_string(held.spillBytes) + " bytes spilled, " +
           std::to_string(held.spillFiles) + " spill files, " + std::to_string(held.queryBytes) +
           " bytes of queries (" + std::to_string(atRest_.queryBytes) + " at rest), " + std::to_string(held.sockets) +
           " sockets (" + std::to_string(atRest_.sockets) + "), " + std::to_string(held.others) + " other handles (" +
           std::to_string(atRest_.others) + "), " + std::to_string(held.rings) + " rings");
   }
}

} // namespace ouzel::crash
