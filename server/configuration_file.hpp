#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Files that options name and that are read before anything else: settings, passwords. All throw UsageError.

namespace ouzel::server {

struct ConfigurationLine {
   size_t number; ///< from 1
   std::string name, value;
};
/// `name = value` lines as in postgresql.conf: # comments, optional quotes ('' inside is one quote), = optional.
std::vector<ConfigurationLine> parseConfiguration(std::string_view text, const std::string& fileName);
/// The text of a configuration file.
std::string readConfiguration(const std::string& path);
/// The first line, without its end.
std::string readPassword(const std::string& path);
/// Whether all users of the machine may read this file.
bool isReadableByAll(const std::string& path);

} // namespace ouzel::server
