// libcurl as applications use it for S3: one easy handle for each thread, as in the SDKs, or all handles in one thread.
// libcurl signs the requests and keeps connections. Its receive buffer is set to the largest size, which makes it
// faster.
#include <cstring>
#include <curl/curl.h>
#include <stdexcept>
#include <thread>

#include "bench/s3/workload.hpp"

namespace ouzel::bench {

namespace {

/// A handle and the memory for its body.
struct Transfer {
   CURL* handle = nullptr;
   char* target = nullptr;
   size_t filled = 0, size = 0;

   static size_t write(char* bytes, size_t, size_t count, void* self) {
      auto& transfer = *static_cast<Transfer*>(self);
      if (transfer.filled + count > transfer.size) return 0;
      std::memcpy(transfer.target + transfer.filled, bytes, count);
      transfer.filled += count;
      return count;
   }

   void prepare(Workload& workload, size_t index) {
      const Task& task = workload.task();
      handle = curl_easy_init();
      target = workload.frame(index);
      size = task.requestSize;
      const std::string url = "http://" + task.host + ":" + std::to_string(task.port) + task.path();
      const std::string sign = "aws:amz:" + task.region + ":s3", user = task.accessKey + ":" + task.secret;
      curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
      curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, sign.c_str());
      curl_easy_setopt(handle, CURLOPT_USERPWD, user.c_str());
      curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 512L << 10);
      curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &write);
      curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
      curl_easy_setopt(handle, CURLOPT_PRIVATE, this);
      curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
   }
   void setRange(uint64_t offset) {
      filled = 0;
      const std::string range = std::to_string(offset) + "-" + std::to_string(offset + size - 1);
      curl_easy_setopt(handle, CURLOPT_RANGE, range.c_str());
   }
   void check(CURLcode result) const {
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      if (result != CURLE_OK || status != 206 || filled != size)
         throw std::runtime_error(std::string("libcurl: ") + curl_easy_strerror(result) + ", status " +
                                  std::to_string(status));
   }
};

} // namespace

void runCurlEasy(Workload& workload) {
   curl_global_init(CURL_GLOBAL_DEFAULT);
   std::vector<std::thread> threads;
   for (size_t i = 0; i < workload.task().outstanding; ++i)
      threads.emplace_back([&, i] {
         Transfer transfer;
         transfer.prepare(workload, i);
         uint64_t offset = 0;
         while (workload.next(offset)) {
            transfer.setRange(offset);
            transfer.check(curl_easy_perform(transfer.handle));
            workload.finished(transfer.size);
         }
         curl_easy_cleanup(transfer.handle);
      });
   for (std::thread& thread : threads)
      thread.join();
}

void runCurlMulti(Workload& workload) {
   curl_global_init(CURL_GLOBAL_DEFAULT);
   CURLM* multi = curl_multi_init();
   curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 512L);
   std::vector<Transfer> transfers(workload.task().outstanding);
   size_t active = 0;
   const auto begin = [&](Transfer& transfer) {
      uint64_t offset = 0;
      if (!workload.next(offset)) return;
      transfer.setRange(offset);
      curl_multi_add_handle(multi, transfer.handle);
      ++active;
   };
   for (size_t i = 0; i < transfers.size(); ++i) {
      transfers[i].prepare(workload, i);
      begin(transfers[i]);
   }
   while (active > 0) {
      int running = 0, left = 0;
      curl_multi_perform(multi, &running);
      while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
         if (message->msg != CURLMSG_DONE) continue;
         Transfer* transfer = nullptr;
         curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
         transfer->check(message->data.result);
         curl_multi_remove_handle(multi, transfer->handle);
         --active;
         workload.finished(transfer->size);
         begin(*transfer);
      }
      if (active > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
   }
   for (Transfer& transfer : transfers)
      curl_easy_cleanup(transfer.handle);
   curl_multi_cleanup(multi);
}

} // namespace ouzel::bench
