#include "io/s3/credentials.hpp"

#include <algorithm>
#include <chrono>

#include "common/error/sql_error.hpp"
#include "io/s3/unix_time.hpp"

namespace ouzel::io {

namespace {
/// Credentials are replaced this long before they expire; AWS issues new ones five minutes ahead.
constexpr int64_t refreshAheadSeconds = 240;
constexpr int64_t checkSeconds = 3600;
} // namespace

CredentialsKeeper::CredentialsKeeper(CredentialsSource source) : source_(std::move(source)) {
   current_ = {std::make_shared<const Credentials>(source_()), 1};
   thread_ = std::thread([this] { run(); });
}

CredentialsKeeper::~CredentialsKeeper() {
   {
      const MutexLock lock(mutex_);
      isStopping_ = true;
   }
   changed_.notify_all();
   thread_.join();
}

CredentialsKeeper::Current CredentialsKeeper::current() const {
   const MutexLock lock(mutex_);
   return current_;
}

void CredentialsKeeper::refresh(uint64_t refusedVersion) {
   {
      const MutexLock lock(mutex_);
      if (current_.version != refusedVersion) return;
      isAsked_ = true;
   }
   changed_.notify_all();
}

void CredentialsKeeper::onChange(std::function<void()> notify) {
   const MutexLock lock(mutex_);
   notify_ = std::move(notify);
}

/// Seconds until the thread should ask the source again.
int64_t CredentialsKeeper::nextRefresh() const {
   if (failures_ > 0) return std::min<int64_t>(60, int64_t{1} << std::min(failures_, 6));
   if (current_.credentials->expiresAt == 0) return checkSeconds;
   return std::clamp<int64_t>(current_.credentials->expiresAt - unixSeconds() - refreshAheadSeconds, 1, checkSeconds);
}

void CredentialsKeeper::run() {
   UniqueLock lock(mutex_);
   while (true) {
      const bool isDue = !changed_.wait_for(lock, std::chrono::seconds(nextRefresh()),
                                            [this]() REQUIRES(mutex_) { return isAsked_ || isStopping_; });
      if (isStopping_) return;
      const int64_t expiresAt = current_.credentials->expiresAt;
      if (isDue && (expiresAt == 0 || expiresAt - unixSeconds() > refreshAheadSeconds + 1)) continue;
      isAsked_ = false;
      lock.unlock();
      std::shared_ptr<const Credentials> fresh;
      try {
         fresh = std::make_shared<const Credentials>(source_());
      } catch (const SqlError&) {
         // The old credentials may still be valid; if the store refuses them, the request fails with its answer.
      }
      lock.lock();
      failures_ = fresh ? 0 : failures_ + 1;
      if (fresh) current_.credentials = std::move(fresh);
      ++current_.version;
      if (notify_) notify_();
   }
}

} // namespace ouzel::io
