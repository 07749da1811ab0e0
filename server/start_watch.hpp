#pragma once
#include <csignal>
#include <thread>

#include "io/net/socket.hpp"

namespace ouzel::server {

/// Takes signals that end the process while a start is under way, for as long as it lives. A start that ends soon
/// goes on first and is then shut down like any other. One that takes long, as it repeats a log or waits for a lease,
/// is broken off: the next start repeats it.
class StartWatch {
public:
   /// `signals` are blocked.
   explicit StartWatch(const sigset_t& signals);
   /// Hands the signal that has come to who waits for signals next.
   ~StartWatch();

private:
   void watch();

   io::FileDescriptor signals_, ended_;
   int received_ = 0; ///< by the thread, until it is joined
   std::thread thread_;
};

} // namespace ouzel::server
