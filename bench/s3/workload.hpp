#pragma once
// The task of all clients of this benchmark: read ranges of one object, a fixed number at a time, until the time is
// over. Each range is received into memory of its own, which has been touched before.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ouzel::bench {

using Clock = std::chrono::steady_clock;

struct Task {
   std::string host, bucket, object, accessKey, secret, region;
   uint16_t port = 0;
   uint64_t objectSize = 0;
   size_t requestSize = 0, outstanding = 1;

   std::string path() const { return "/" + bucket + "/" + object; }
};

/// Thread-safe, except that a frame may be used by one request at a time.
class Workload {
public:
   Workload(const Task& task, double seconds);
   /// The offset of the next range. False: the time is over.
   bool next(uint64_t& offset);
   void finished(size_t size) { bytes_.fetch_add(size, std::memory_order_relaxed); }
   char* frame(size_t index) { return frames_.data() + index * task_.requestSize; }
   uint64_t bytes() const { return bytes_.load(); }
   const Task& task() const { return task_; }
   /// Starts the clock.
   void start();

private:
   const Task& task_;
   const double seconds_;
   Clock::time_point end_;
   std::vector<char> frames_;
   std::atomic<uint64_t> nextOffset_{0}, bytes_{0};
};

/// Each function runs one client. Throws std::runtime_error when a request fails.
void runRaw(Workload& workload,
            bool lands);               ///< blocking sockets, a thread each; `lands`: into frames, else into 256 KiB
void runCurlEasy(Workload& workload);  ///< libcurl, blocking, a thread each
void runCurlMulti(Workload& workload); ///< libcurl, one thread for all
void runOuzel(Workload& workload);     ///< S3Store

} // namespace ouzel::bench
