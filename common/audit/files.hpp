#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/audit/chain.hpp"
#include "common/audit/settings.hpp"

namespace ouzel {

/// The audit's files. Each record is written as one whole line, or not at all; a line that a crash has cut is ended
/// before the next one. The numbers and the chain of records go on from file to file and from start to start.
///
/// Threads: one at a time.
class AuditFiles {
public:
   AuditFiles() = default;
   ~AuditFiles();
   AuditFiles(const AuditFiles&) = delete;
   AuditFiles& operator=(const AuditFiles&) = delete;

   /// Go over to these settings: open a file, or, when the audit is off, close it. Returns what went wrong, and then
   /// nothing has changed; empty: nothing.
   std::string configure(const AuditSettings& settings, int64_t now);
   /// The number of the last record that was found when the files were opened; 0: there was none.
   uint64_t lastNumber() const { return lastNumber_; }

   struct Written {
      size_t bytes = 0;    ///< of `lines`: whole ones
      std::string failure; ///< why not all; empty: all
   };
   /// Write lines of records, each "{...}\n", and give them their hashes. Rotates before, when it is time.
   Written write(std::string_view lines, int64_t now);
   const std::string& path() const { return path_; }

private:
   /// Where a line ends among the lines to write and in what is written, and the chain's hash behind it.
   struct Line {
      size_t end, outEnd;
      std::string hash;
   };
   std::string link(std::string_view lines, std::vector<Line>& marks);
   /// Find the last record of all files that the pattern of names fits.
   void findLast(const LogFileSettings& settings);
   /// Empty: `path` is the file from here on.
   std::string open(const std::string& path);
   void rotateIfDue(int64_t now);

   AuditSettings settings_;
   AuditChain chain_;
   std::string path_;
   int handle_ = -1; ///< -1: the audit is off
   int64_t bytes_ = 0;
   int64_t rotateAt_ = INT64_MAX; ///< microseconds since 2000
   uint64_t lastNumber_ = 0;
   bool endsMidLine_ = false; ///< a part of a line is in the file, and its end is not
};

/// The last whole record of a file: its number and hash. Number 0: there is none.
struct LastRecord {
   uint64_t number = 0;
   std::string hash; ///< empty: it has none
};
LastRecord lastRecord(const std::string& path);

} // namespace ouzel
