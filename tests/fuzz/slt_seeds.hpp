#pragma once
#include <string>
#include <vector>

namespace ouzel::fuzz {

/// The SQL of one .slt file.
struct SltFile {
   std::vector<std::string> setup;   ///< what makes its tables, views and functions, in order
   std::vector<std::string> records; ///< everything else
};

/// All files below `directory`, ordered by path.
std::vector<SltFile> readSltFiles(const std::string& directory);

} // namespace ouzel::fuzz
