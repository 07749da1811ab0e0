#pragma once
#include <string>
#include <vector>

namespace ouzel::fuzz {

/// The SQL of one .slt file.
struct SltFile {
   std::vector<std::string> setup;   ///< statements that make tables, views and functions, in order
   std::vector<std::string> records; ///< the other statements
};

/// Reads all files below `directory`, ordered by path.
std::vector<SltFile> readSltFiles(const std::string& directory);

} // namespace ouzel::fuzz
