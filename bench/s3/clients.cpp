#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/resource.h>

#include "bench/s3/workload.hpp"

// s3_clients CLIENT HOST PORT BUCKET OBJECT OBJECT_SIZE REQUEST_SIZE OUTSTANDING SECONDS
//
// Measures one client (raw, raw_land, curl_easy, curl_multi, ouzel) and prints a line of JSON. Keys come from
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. CPU time is that of this process, by getrusage.

using namespace ouzel::bench;

namespace ouzel::bench {

Workload::Workload(const Task& task, double seconds)
   : task_(task), seconds_(seconds), frames_(task.requestSize * task.outstanding, 'x') {}

void Workload::start() {
   end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_));
}

bool Workload::next(uint64_t& offset) {
   if (Clock::now() >= end_) return false;
   const uint64_t places = task_.objectSize / task_.requestSize;
   offset = nextOffset_.fetch_add(1, std::memory_order_relaxed) % places * task_.requestSize;
   return true;
}

} // namespace ouzel::bench

namespace {

double seconds(const timeval& value) {
   return static_cast<double>(value.tv_sec) + static_cast<double>(value.tv_usec) * 1e-6;
}

void run(const std::string& client, Workload& workload) {
   if (client == "raw" || client == "raw_land") return runRaw(workload, client == "raw_land");
   if (client == "curl_easy") return runCurlEasy(workload);
   if (client == "curl_multi") return runCurlMulti(workload);
   if (client == "ouzel") return runOuzel(workload);
   throw std::runtime_error("no client " + client);
}

} // namespace

int main(int count, char** arguments) {
   if (count != 10) return std::fprintf(stderr, "see clients.cpp\n"), 2;
   Task task;
   task.host = arguments[2];
   task.port = static_cast<uint16_t>(std::atoi(arguments[3]));
   task.bucket = arguments[4];
   task.object = arguments[5];
   task.objectSize = std::strtoull(arguments[6], nullptr, 10);
   task.requestSize = std::strtoull(arguments[7], nullptr, 10);
   task.outstanding = std::strtoull(arguments[8], nullptr, 10);
   const char *key = std::getenv("AWS_ACCESS_KEY_ID"), *secret = std::getenv("AWS_SECRET_ACCESS_KEY");
   task.accessKey = key ? key : "key";
   task.secret = secret ? secret : "secret";
   task.region = "us-east-1";
   try {
      Workload workload(task, std::atof(arguments[9]));
      rusage before{}, after{};
      getrusage(RUSAGE_SELF, &before);
      const auto begin = Clock::now();
      workload.start();
      run(arguments[1], workload);
      const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
      getrusage(RUSAGE_SELF, &after);
      std::printf("{\"bytes\": %llu, \"seconds\": %.4f, \"user\": %.4f, \"system\": %.4f, \"switches\": %ld}\n",
                  static_cast<unsigned long long>(workload.bytes()), elapsed,
                  seconds(after.ru_utime) - seconds(before.ru_utime),
                  seconds(after.ru_stime) - seconds(before.ru_stime), after.ru_nvcsw - before.ru_nvcsw);
   } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
   }
   return 0;
}
