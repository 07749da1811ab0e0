#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/crash/server_process.hpp"

// A bucket for servers under test: an object_server of tests/object_server over a directory of its own, which lets us
// look at what is in the bucket without asking anybody.

namespace ouzel::crash {

class Bucket {
public:
   /// `settings`: of object_server, as "error=0.02,conflict=0.02". Keeps its files in `directory`.
   Bucket(const std::string& objectServer, const std::string& directory, const std::string& settings);
   ~Bucket();
   Bucket(const Bucket&) = delete;
   Bucket& operator=(const Bucket&) = delete;

   /// What a server's --data is.
   const std::string& address() const { return address_; }
   /// The keys of the bucket.
   static ServerProcess::Environment environment();
   /// Uploads in parts that are neither completed nor called off.
   size_t pendingUploads() const;
   size_t objects() const;
   /// Objects that the database of the newest manifest has no use for, and pending uploads. REQUIRES: no server runs.
   std::vector<std::string> leftovers() const;

private:
   std::string root_, address_;
   pid_t pid_ = 0;
};

} // namespace ouzel::crash
