#pragma once
// Owns a file descriptor.
#include <unistd.h>
#include <utility>

namespace ouzel::object_server {

class Descriptor {
public:
   Descriptor() = default;
   explicit Descriptor(int fd) : fd_(fd) {}
   Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
   Descriptor& operator=(Descriptor&& other) noexcept {
      if (this != &other) {
         reset();
         fd_ = std::exchange(other.fd_, -1);
      }
      return *this;
   }
   ~Descriptor() { reset(); }

   int get() const { return fd_; }
   explicit operator bool() const { return fd_ >= 0; }
   void reset() {
      if (fd_ >= 0) ::close(fd_);
      fd_ = -1;
   }

private:
   int fd_ = -1;
};

} // namespace ouzel::object_server
