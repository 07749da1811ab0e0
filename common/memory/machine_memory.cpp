#include "common/memory/machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace ouzel {

namespace {

/// The process's group below /sys/fs/cgroup: "/system.slice/ouzel.service", or "" for the topmost.
std::string controlGroup(const std::string& root) {
   constexpr std::string_view unified = "0::";
   std::ifstream groups(root + "/proc/self/cgroup");
   for (std::string line; std::getline(groups, line);)
      if (line.starts_with(unified) && line.size() > unified.size() + 1) return line.substr(unified.size());
   return "";
}

} // namespace

size_t machineMemory(const std::string& root) {
   size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
   // A container may see the name that its group has outside, where it has no such directory; then the topmost one is
   // its own.
   std::string group = controlGroup(root);
   while (true) {
      std::ifstream file(root + "/sys/fs/cgroup" + group + "/memory.max");
      size_t limit = 0;
      if (file >> limit) bytes = std::min(bytes, limit); // "max" is no number
      if (group.empty()) return bytes;
      group.resize(group.rfind('/'));
   }
}

} // namespace ouzel
