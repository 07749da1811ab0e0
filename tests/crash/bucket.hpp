#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/crash/server_process.hpp"

// A bucket for servers under test: an object_server (tests/object_server) over a directory of its own, so that the test
// can read the bucket's files directly.

namespace ouzel::crash {

class Bucket {
public:
   /// `settings`: object_server's, such as "error=0.02,conflict=0.02". The bucket's files are in `directory`.
   Bucket(const std::string& objectServer, const std::string& directory, const std::string& settings);
   ~Bucket();
   Bucket(const Bucket&) = delete;
   Bucket& operator=(const Bucket&) = delete;

   /// The address for a server's --data.
   const std::string& address() const { return address_; }
   /// The access keys of the bucket, as environment variables.
   static ServerProcess::Environment environment();
   /// Number of multipart uploads that are neither completed nor aborted.
   size_t pendingUploads() const;
   size_t objects() const;
   /// Objects that the newest manifest does not need, and pending uploads. REQUIRES: no server runs.
   std::vector<std::string> leftovers() const;

private:
   std::string root_, address_;
   pid_t pid_ = 0;
};

} // namespace ouzel::crash
