#include "io/s3/retriever.hpp"

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/sync/mutex.hpp"
#include "io/s3/retriever_loop.hpp"

namespace ouzel::io {

namespace {

uint32_t mostThreads(const RetrieverOptions& options) {
   return options.threadsMax != 0 ? options.threadsMax : std::max(std::thread::hardware_concurrency() / 8, 1U);
}

} // namespace

Retriever::Retriever(S3Location location, CredentialsSource source, RetrieverOptions options)
   : location_(std::move(location)), credentials_(std::move(source)), spread_(options.threads, mostThreads(options)) {
   const uint32_t count = std::max(options.threads, mostThreads(options));
   for (uint32_t index = 0; index < count; ++index)
      loops_.push_back(std::make_unique<Loop>(location_, credentials_, options, spread_, index, count));
   credentials_.onChange([this] {
      for (const auto& loop : loops_)
         loop->onCredentialsChange();
   });
}

Retriever::~Retriever() {
   credentials_.onChange(nullptr);
   for (const auto& loop : loops_)
      loop->stop();
   // The last answers of one loop may have submitted requests to a loop that had stopped before.
   for (bool isQuiet = false; !isQuiet;) {
      isQuiet = true;
      for (const auto& loop : loops_)
         if (loop->takeInbox()) isQuiet = false;
   }
}

Retriever::Id Retriever::submit(S3Request request, Done done) {
   DCHECK(done != nullptr);
   DCHECK(request.target != nullptr || request.targetSize == 0);
   size_t uploadSize = 0;
   for (const std::string_view part : request.body)
      uploadSize += part.size();
   Loop& loop = *loops_[spread_.choose(uploadSize + request.targetSize)];
   return loop.submit(std::move(request), uploadSize, std::move(done));
}

void Retriever::cancel(Id id) {
   loops_[id % loops_.size()]->cancel(id);
}

S3Answer Retriever::call(S3Request request) {
   Mutex mutex; // guards isHere and answer
   CondVar arrived;
   bool isHere = false;
   S3Answer answer;
   submit(std::move(request), [&](S3Answer&& given) {
      // Notifies under the lock: once the waiter continues, it destroys mutex and condition.
      const MutexLock lock(mutex);
      answer = std::move(given);
      isHere = true;
      arrived.notify_one();
   });
   UniqueLock lock(mutex);
   arrived.wait(lock, [&] { return isHere; });
   if (answer.error) std::rethrow_exception(answer.error);
   return answer;
}

RetrieverStatistics Retriever::statistics() const {
   RetrieverStatistics result;
   const uint32_t used = spread_.used();
   for (uint32_t index = 0; index < loops_.size(); ++index)
      loops_[index]->addTo(result, index < used);
   return result;
}

const S3Location& Retriever::location() const {
   return location_;
}

// ---- Loop: functions called by other threads than the loop's

Retriever::Loop::Loop(const S3Location& location, CredentialsKeeper& credentials, const RetrieverOptions& options,
                      ThreadSpread& spread, uint32_t index, uint32_t count)
   : options_(options), tls_(location.isEncrypted ? std::make_unique<TlsClientContext>() : nullptr),
     credentials_(credentials), spread_(spread), index_(index), count_(count), lastId_(index), location_(location),
     book_(std::make_shared<AddressBook>(location_.serverName(), location_.port)),
     random_(static_cast<std::minstd_rand::result_type>(steadyNanos())) {
   // A ring belongs to the thread that makes it. So the new thread makes the ring, and the constructor waits for it.
   UniqueLock lock(mutex_);
   std::exception_ptr error;
   thread_ = std::thread([this, &error] {
      try {
         auto ring = std::make_unique<SocketRing>(options_.backend);
         const MutexLock guard(mutex_);
         ring_ = std::move(ring);
         gone_.notify_all();
      } catch (...) {
         const MutexLock guard(mutex_);
         error = std::current_exception();
         gone_.notify_all();
         return;
      }
      run();
   });
   gone_.wait(lock, [&]() REQUIRES(mutex_) { return ring_ || error; });
   if (error) {
      lock.unlock();
      thread_.join();
      std::rethrow_exception(error);
   }
}

void Retriever::Loop::stop() {
   if (!thread_.joinable()) return;
   {
      const MutexLock lock(mutex_);
      isStopping_ = true;
   }
   ring_->wake();
   thread_.join();
}

void Retriever::Loop::onCredentialsChange() {
   credentialsChanged_ = true;
   ring_->wake();
}

Retriever::Id Retriever::Loop::submit(S3Request request, size_t uploadSize, Done done) {
   auto job = std::make_unique<Job>();
   job->size = uploadSize + request.targetSize;
   job->lane = request.target != nullptr && request.targetSize >= 64 << 10 ? Lane::Bulk
               : uploadSize >= 1 << 20                                     ? Lane::Upload
                                                                           : Lane::Small;
   job->request = std::move(request);
   job->done = std::move(done);
   bool isFirst;
   Id id;
   {
      const MutexLock lock(mutex_);
      id = job->id = lastId_ += count_;
      live_.insert(id);
      isFirst = submitted_.empty();
      submitted_.push_back(std::move(job));
   }
   counters_.queued.fetch_add(1, std::memory_order_relaxed);
   if (isFirst) ring_->wake();
   return id;
}

void Retriever::Loop::cancel(Id id) {
   UniqueLock lock(mutex_);
   if (!live_.contains(id)) return;
   cancelled_.push_back(id);
   ring_->wake();
   gone_.wait(lock, [&]() REQUIRES(mutex_) { return !live_.contains(id); });
}

void Retriever::Loop::addTo(RetrieverStatistics& statistics, bool isUsed) const {
   const auto read = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
   for (size_t i = 0; i < requestKinds; ++i) {
      const Counters::Kind& counted = counters_.kinds[i];
      RetrieverStatistics::Kind& kind = statistics.kinds[i];
      const auto add = [&](uint64_t RetrieverStatistics::Kind::*of, const std::atomic<uint64_t>& counter) {
         const uint64_t value = read(counter);
         kind.*of += value;
         return value;
      };
      add(&RetrieverStatistics::Kind::requests, counted.requests);
      add(&RetrieverStatistics::Kind::bytes, counted.bytes);
      add(&RetrieverStatistics::Kind::errors, counted.errors);
      statistics.retries += add(&RetrieverStatistics::Kind::retries, counted.retries);
      statistics.hedges += add(&RetrieverStatistics::Kind::hedges, counted.hedges);
      statistics.hedgesWon += add(&RetrieverStatistics::Kind::hedgesWon, counted.hedgesWon);
      statistics.throttled += add(&RetrieverStatistics::Kind::throttled, counted.throttled);
      statistics.active += add(&RetrieverStatistics::Kind::active, counted.active);
   }
   statistics.connections += read(counters_.connections);
   statistics.queued += read(counters_.queued);
   if (!isUsed) return;
   ++statistics.threads;
   statistics.limit += read(counters_.limit);
   statistics.bandwidth += read(counters_.bandwidth);
   const double latency = read(counters_.baseLatencyMs);
   if (statistics.baseLatencyMs == 0 || (latency != 0 && latency < statistics.baseLatencyMs))
      statistics.baseLatencyMs = latency;
}

} // namespace ouzel::io
