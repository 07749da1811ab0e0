#include "server/configuration_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/net/socket.hpp"
#include "server/usage_error.hpp"

namespace ouzel::server {

namespace {

constexpr size_t configurationSizeMax = size_t{1} << 20; // a longer file is another one
constexpr size_t passwordSizeMax = 4096;                 // a longer line holds no password

[[noreturn, gnu::cold]] void fail(const char* what, const std::string& path, const std::string& why) {
   throw UsageError(fmt::format("cannot read {} \"{}\": {}", what, path, why));
}

/// The first bytes of a file, `size` at most; some devices have no end.
std::string readBeginning(const char* what, const std::string& path, size_t size) {
   // A reload must not wait for ever for who writes a pipe.
   constexpr int patienceMs = 5'000;
   const io::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
   if (!file.isOpen()) fail(what, path, std::strerror(errno));
   std::string text(size, '\0');
   size_t filled = 0;
   while (filled < size) {
      const ssize_t got = ::read(file.get(), text.data() + filled, size - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) {
         pollfd ready{file.get(), POLLIN, 0};
         if (::poll(&ready, 1, patienceMs) <= 0) fail(what, path, "nothing comes from it");
         continue;
      }
      if (got < 0) fail(what, path, std::strerror(errno));
      if (got == 0) break;
      filled += static_cast<size_t>(got);
   }
   text.resize(filled);
   return text;
}

} // namespace

std::string readConfiguration(const std::string& path) {
   std::string text = readBeginning("configuration file", path, configurationSizeMax + 1);
   if (text.size() > configurationSizeMax) fail("configuration file", path, "it has more than 1 MB");
   return text;
}

std::string readPassword(const std::string& path) {
   std::string text = readBeginning("password file", path, passwordSizeMax + 1);
   text.resize(std::min(text.find('\n'), text.size()));
   if (text.ends_with('\r')) text.pop_back();
   if (text.empty() || text.size() > passwordSizeMax || text.find('\0') != std::string::npos)
      throw UsageError(fmt::format("the first line of \"{}\" is no password", path));
   return text;
}

bool isReadableByAll(const std::string& path) {
   struct stat status {};
   return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH) != 0;
}

std::vector<ConfigurationLine> parseConfiguration(std::string_view text, const std::string& fileName) {
   std::vector<ConfigurationLine> settings;
   const auto isBlank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
   const auto isControl = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r'; };
   size_t lineNumber = 0;
   while (!text.empty()) {
      ++lineNumber;
      const size_t lineEnd = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, lineEnd);
      text.remove_prefix(std::min(lineEnd + 1, text.size()));
      const auto fail = [&] {
         throw UsageError(fmt::format("{}:{}: expected \"name = value\"", fileName, lineNumber));
      };
      const auto skipBlanks = [&] {
         while (!line.empty() && isBlank(line.front()))
            line.remove_prefix(1);
      };
      skipBlanks();
      if (line.empty() || line.front() == '#') continue;
      if (std::any_of(line.begin(), line.end(), isControl))
         throw UsageError(fmt::format("{}:{}: there are bytes that are no text; is this a configuration file?",
                                      fileName, lineNumber));
      const size_t nameEnd = std::min(line.find_first_of(" \t\r=#"), line.size());
      std::string name(line.substr(0, nameEnd)), value;
      line.remove_prefix(nameEnd);
      skipBlanks();
      if (line.starts_with('=')) line.remove_prefix(1);
      skipBlanks();
      if (name.empty() || line.empty() || line.front() == '#') fail();
      if (line.front() == '\'') {
         size_t at = 1;
         for (; at < line.size(); ++at) {
            if (line[at] == '\'' && at + 1 < line.size() && line[at + 1] == '\'')
               ++at;
            else if (line[at] == '\'')
               break;
            value += line[at];
         }
         if (at >= line.size()) fail();
         line.remove_prefix(at + 1);
      } else {
         const size_t valueEnd = std::min(line.find('#'), line.size());
         value = line.substr(0, valueEnd);
         while (!value.empty() && isBlank(value.back()))
            value.pop_back();
         line.remove_prefix(valueEnd);
      }
      skipBlanks();
      if (!line.empty() && line.front() != '#') fail();
      settings.push_back({lineNumber, std::move(name), std::move(value)});
   }
   return settings;
}

} // namespace ouzel::server
