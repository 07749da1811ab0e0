#pragma once
#include <string>

#include "io/file/file.hpp"

namespace ouzel::storage {

/// A directory for a log that nobody needs after the process has ended, where temporary files go (TMPDIR, /tmp);
/// removed at the end. What processes that were killed have left is removed by the next one.
class TemporaryLog {
public:
   TemporaryLog();
   ~TemporaryLog();
   TemporaryLog(const TemporaryLog&) = delete;
   TemporaryLog& operator=(const TemporaryLog&) = delete;

   const std::string& path() const { return path_; }

private:
   std::string path_;
   io::File alive_; ///< locked as long as the process lives
};

} // namespace ouzel::storage
