#pragma once
#include <string>

#include "io/file/file.hpp"

namespace ouzel::storage {

/// A directory for a log that is not needed after the process has ended. It lies where temporary files are kept
/// (TMPDIR, /tmp), and the destructor removes it. The constructor removes directories that killed processes have left.
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
