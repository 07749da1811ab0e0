#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "io/net/socket.hpp"

namespace ouzel::io {

/// Waits for events of many sockets (epoll). add(), arm() and wake() may be called from any thread, wait() from one.
///
/// A registration fires once and stays silent until it is armed again. So the thread that got the event owns the socket
/// until it arms the socket again.
class Poller {
public:
   enum class Interest : uint8_t {
      Input,  ///< bytes, end of stream, errors
      Output, ///< room to write, or errors
      HangUp, ///< the peer has closed, or errors
   };
   struct Event {
      uint64_t tag;
      bool isHangUp; ///< the peer has closed its side
   };

   Poller();
   void add(int fd, uint64_t tag, Interest interest);
   void arm(int fd, uint64_t tag, Interest interest);
   /// Waits for events and returns at most 256; none after the time-out or a wake(). Valid until the next call.
   std::span<const Event> wait(int timeoutMs);
   void wake();

private:
   FileDescriptor epoll_, wakeUp_;
   std::vector<Event> events_;
};

} // namespace ouzel::io
