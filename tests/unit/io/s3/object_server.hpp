#pragma once
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

/// A process of tests/object_server for one test: S3 with faults, over a directory that the destructor removes.
class ObjectServer {
public:
   static constexpr const char* bucket = "bucket";

   explicit ObjectServer(std::vector<std::string> options = {});
   ~ObjectServer();
   ObjectServer(const ObjectServer&) = delete;

   std::string url(const std::string& prefix = "", const std::string& scheme = "http",
                   const std::string& host = "127.0.0.1") const;
   /// Changes settings, such as "error=0.1&stall_ms=100".
   void set(const std::string& settings) const;
   std::string control() const;
   uint16_t port() const { return port_; }
   void pause() const;
   void resume() const;

private:
   std::string directory_;
   uint16_t port_ = 0;
   pid_t process_ = 0;
};
