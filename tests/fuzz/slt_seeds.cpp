#include "tests/fuzz/slt_seeds.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace ouzel::fuzz {

namespace {

bool isSetup(const std::string& head, const std::string& sql) {
   if (!head.starts_with("statement ok")) return false;
   for (const char* word : {"create", "insert", "alter", "update", "delete", "analyze"})
      if (strncasecmp(sql.c_str(), word, std::strlen(word)) == 0) return true;
   return false;
}

void addRecord(SltFile& file, const std::string& head, const std::string& sql) {
   if (sql.empty() || (!head.starts_with("statement") && !head.starts_with("query"))) return;
   (isSetup(head, sql) ? file.setup : file.records).push_back(sql);
}

SltFile readSltFile(const std::filesystem::path& path) {
   SltFile file;
   std::ifstream in(path);
   std::string line, head, sql;
   bool isInSql = false;
   while (std::getline(in, line)) {
      if (line.empty()) {
         addRecord(file, head, sql);
         head.clear();
         sql.clear();
         isInSql = false;
      } else if (head.empty()) {
         if (line[0] == '#') continue;
         head = line;
         isInSql = true;
      } else if (line == "----" || line == "COPYDATA") {
         isInSql = false;
      } else if (isInSql) {
         sql += sql.empty() ? line : '\n' + line;
      }
   }
   addRecord(file, head, sql);
   return file;
}

} // namespace

std::vector<SltFile> readSltFiles(const std::string& directory) {
   std::vector<std::filesystem::path> paths;
   for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
      if (entry.path().extension() == ".slt") paths.push_back(entry.path());
   std::sort(paths.begin(), paths.end());
   std::vector<SltFile> files;
   for (const auto& path : paths)
      files.push_back(readSltFile(path));
   return files;
}

} // namespace ouzel::fuzz
