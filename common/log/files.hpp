#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/log/settings.hpp"

namespace ouzel {

/// Where the log's bytes go: stderr, or files that take turns by age and size. The text file is put in the place of
/// stderr, so that what libraries and a dying process write to stderr is in it too.
///
/// Threads: one at a time.
class LogFiles {
public:
   /// Go over to these settings. Opens files when they are wanted; a failure to do so is told on stderr, and lines go
   /// on to where they went. Returns what went wrong; empty: nothing.
   std::string configure(const LogSettings& settings, int64_t now);
   /// Write whole lines. Rotates before, when it is time. Returns how many lines were dropped since nobody reads the
   /// pipe that they go to: the first time after a second, later at once, until somebody reads again.
   uint64_t write(LogFormat format, std::string_view lines, int64_t now);
   /// Whether lines would be dropped at once.
   bool isStalled() const;
   /// Close the files, and open those that the pattern names now; for a file that was renamed.
   std::string reopen(int64_t now);
   /// The path of the file of this format; empty: there is none.
   const std::string& path(LogFormat format) const { return files_[static_cast<size_t>(format)].path; }

private:
   struct File {
      std::string path;
      int handle = -1; ///< -1: none. The text file's is stderr's
      int64_t bytes = 0;
   };

   std::string pathAt(LogFormat format, int64_t time) const;
   /// Open the files of all formats as of `time`. `truncates`: those with a new name are emptied.
   std::string openAll(int64_t time, bool truncates);
   std::string openOne(LogFormat format, const std::string& path, bool truncates);
   /// Give the process its first stderr back.
   void closeAll();
   void rotateIfDue(int64_t now);

   LogSettings settings_;
   File files_[logFormats];
   int stderr_ = -1;              ///< a copy of the process's first stderr, once files are in use
   int64_t rotateAt_ = INT64_MAX; ///< microseconds since 2000
   bool isStalled_ = false;       ///< the last lines for stderr found no reader
   bool endsMidLine_ = false;     ///< a part of a line has gone to stderr, and its end has not
};

inline constexpr int logPatienceMs = 1000; ///< with a pipe that takes nothing
/// Write all bytes; waits for a pipe that is full as long as it takes something every `patienceMs`, and a few times as
/// long in all. Returns how many bytes were written; when these are not all, errno tells why: EAGAIN when the time is
/// over. Signal-safe.
size_t writeFully(int handle, std::string_view bytes, int patienceMs = logPatienceMs) noexcept;

} // namespace ouzel
