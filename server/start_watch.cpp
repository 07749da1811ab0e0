#include "server/start_watch.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/log/log.hpp"

namespace ouzel::server {

namespace {
constexpr int patienceMs = 2000; // for a start that is nearly done
}

StartWatch::StartWatch(const sigset_t& signals) {
   sigset_t ends = signals;
   sigdelset(&ends, SIGHUP);
   signals_ = io::FileDescriptor(::signalfd(-1, &ends, SFD_CLOEXEC));
   ended_ = io::FileDescriptor(::eventfd(0, EFD_CLOEXEC));
   if (signals_.isOpen() && ended_.isOpen()) thread_ = std::thread([this] { watch(); });
}

StartWatch::~StartWatch() {
   if (!thread_.joinable()) return;
   const uint64_t one = 1;
   static_cast<void>(!::write(ended_.get(), &one, sizeof one));
   thread_.join();
   if (received_ != 0) ::kill(::getpid(), received_);
}

void StartWatch::watch() {
   pollfd entries[] = {{ended_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
   while (::poll(entries, 2, -1) <= 0) {
   }
   if (entries[1].revents == 0) return;
   signalfd_siginfo info{};
   if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
   received_ = static_cast<int>(info.ssi_signo);
   if (io::waitReadable(ended_.get(), patienceMs)) return;
   logLine(LogLevel::Log, fmt::format("received SIG{} during the start, which is broken off", sigabbrev_np(received_)));
   flushLog();
   ::_exit(EXIT_SUCCESS);
}

} // namespace ouzel::server
