#include "common/error/test_point.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "common/sync/mutex.hpp"

namespace ouzel::test_point {

namespace {

struct Point {
   std::string action;
   std::string file; ///< acts while it exists; empty: at the `when`-th time
   uint64_t when = 1;
   std::atomic<uint64_t> times{0};
   Mutex mutex;
   std::string order GUARDED_BY(mutex); ///< the file's content when it was last read

   std::string ordered();
};

/// The action that the file orders now; empty: none.
std::string Point::ordered() {
   std::ifstream in(file);
   if (!in) return {};
   const std::string said{std::istreambuf_iterator<char>(in), {}};
   uint64_t n = 0;
   std::string what;
   if (!(std::istringstream(said) >> n >> what)) return action;
   const MutexLock lock(mutex);
   if (said != order) times = 0;
   order = said;
   ++times;
   if (what == "count") std::ofstream(file + ".count") << times;
   return times == n ? what : std::string();
}

void hold(const std::string& file) {
   std::ofstream(file + ".held").put('x');
   while (::access(file.c_str(), F_OK) == 0)
      ::usleep(500);
}

/// Read the environment variable: once, before there are threads.
std::map<std::string, Point, std::less<>> readPoints() {
   std::map<std::string, Point, std::less<>> points;
   const char* text = std::getenv("OUZEL_TEST_POINTS");
   std::string_view rest = text ? text : "";
   while (!rest.empty()) {
      const std::string_view entry = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
      const size_t equals = entry.find('='), at = entry.find('@');
      if (equals == std::string_view::npos) continue;
      Point& point = points[std::string(entry.substr(0, equals))];
      point.action = entry.substr(equals + 1, at == std::string_view::npos ? at : at - equals - 1);
      if (at == std::string_view::npos) continue;
      const std::string when(entry.substr(at + 1));
      if (when.starts_with('/'))
         point.file = when;
      else
         point.when = std::strtoull(when.c_str(), nullptr, 10);
   }
   return points;
}

std::map<std::string, Point, std::less<>>& points() {
   static std::map<std::string, Point, std::less<>> all = readPoints();
   return all;
}

} // namespace

std::atomic<bool> isArmed{std::getenv("OUZEL_TEST_POINTS") != nullptr && !points().empty()};

int reached(const char* name) {
   const auto it = points().find(std::string_view(name));
   if (it == points().end()) return 0;
   Point& point = it->second;
   std::string action = point.action;
   if (!point.file.empty())
      action = point.ordered();
   else if (++point.times != point.when)
      return 0;
   if (action.empty() || action == "count") return 0;
   if (action == "kill") {
      ::kill(::getpid(), SIGKILL);
      ::pause(); // the thread must not go on before the signal arrives
   }
   if (action == "hold") {
      hold(point.file);
      return 0;
   }
   if (action == "stop") { // until a test sends SIGCONT
      ::kill(::getpid(), SIGSTOP);
      return 0;
   }
   return action == "enospc" ? ENOSPC : EIO;
}

} // namespace ouzel::test_point
