#include "io/s3/retriever.hpp"

#include <condition_variable>
#include <mutex>

#include "common/env/clock.hpp"
#include "io/s3/retriever_loop.hpp"

namespace ouzel::io {

double requestPrice(RequestKind kind) {
   switch (kind) {
   case RequestKind::Get:
   case RequestKind::Head:
      return 0.40e-6;
   case RequestKind::Put:
   case RequestKind::List:
      return 5e-6;
   case RequestKind::Delete:
      break;
   }
   return 0;
}

double RetrieverStatistics::estimatedCost(RequestKind kind) const {
   return static_cast<double>(of(kind).requests) * requestPrice(kind);
}

double RetrieverStatistics::estimatedCost() const {
   double sum = 0;
   for (size_t kind = 0; kind < requestKinds; ++kind)
      sum += estimatedCost(static_cast<RequestKind>(kind));
   return sum;
}

Retriever::Retriever(S3Location location, CredentialsSource source, RetrieverOptions options)
   : loop_(std::make_unique<Loop>(std::move(location), std::move(source), options)) {}

Retriever::~Retriever() = default;

Retriever::Id Retriever::submit(S3Request request, Done done) {
   return loop_->submit(std::move(request), std::move(done));
}

void Retriever::cancel(Id id) {
   loop_->cancel(id);
}

S3Answer Retriever::call(S3Request request) {
   std::mutex mutex;
   std::condition_variable arrived;
   bool isHere = false;
   S3Answer answer;
   submit(std::move(request), [&](S3Answer&& given) {
      // Told under the lock: the waiter destroys all of this once it may go on.
      const std::lock_guard lock(mutex);
      answer = std::move(given);
      isHere = true;
      arrived.notify_one();
   });
   std::unique_lock lock(mutex);
   arrived.wait(lock, [&] { return isHere; });
   if (answer.error) std::rethrow_exception(answer.error);
   return answer;
}

RetrieverStatistics Retriever::statistics() const {
   return loop_->statistics();
}

const S3Location& Retriever::location() const {
   return loop_->originalLocation();
}

// ---- what callers' threads do with the loop

Retriever::Loop::Loop(S3Location location, CredentialsSource source, RetrieverOptions options)
   : originalLocation_(std::move(location)), options_(options),
     tls_(originalLocation_.isEncrypted ? std::make_unique<TlsClientContext>() : nullptr),
     credentials_(std::move(source)), location_(originalLocation_),
     book_(std::make_shared<AddressBook>(location_.serverName(), location_.port)),
     random_(static_cast<std::minstd_rand::result_type>(steadyNanos())) {
   // A ring belongs to the thread that makes it, which therefore says when it is there.
   std::unique_lock lock(mutex_);
   std::exception_ptr error;
   thread_ = std::thread([this, &error] {
      try {
         auto ring = std::make_unique<SocketRing>(options_.backend);
         const std::lock_guard guard(mutex_);
         ring_ = std::move(ring);
         gone_.notify_all();
      } catch (...) {
         const std::lock_guard guard(mutex_);
         error = std::current_exception();
         gone_.notify_all();
         return;
      }
      run();
   });
   gone_.wait(lock, [&] { return ring_ || error; });
   if (error) {
      lock.unlock();
      thread_.join();
      std::rethrow_exception(error);
   }
   credentials_.onChange([this] {
      credentialsChanged_ = true;
      ring_->wake();
   });
}

Retriever::Loop::~Loop() {
   {
      const std::lock_guard lock(mutex_);
      isStopping_ = true;
   }
   ring_->wake();
   thread_.join();
   credentials_.onChange(nullptr);
}

Retriever::Id Retriever::Loop::submit(S3Request request, Done done) {
   auto job = std::make_unique<Job>();
   size_t uploadSize = 0;
   for (const std::string_view part : request.body)
      uploadSize += part.size();
   job->lane = request.target != nullptr && request.targetSize >= 64 << 10 ? Lane::Bulk
               : uploadSize >= 1 << 20                                     ? Lane::Upload
                                                                           : Lane::Small;
   job->request = std::move(request);
   job->done = std::move(done);
   bool isFirst;
   Id id;
   {
      const std::lock_guard lock(mutex_);
      id = job->id = ++lastId_;
      live_.insert(id);
      isFirst = submitted_.empty();
      submitted_.push_back(std::move(job));
   }
   counters_.queued.fetch_add(1, std::memory_order_relaxed);
   if (isFirst) ring_->wake();
   return id;
}

void Retriever::Loop::cancel(Id id) {
   std::unique_lock lock(mutex_);
   if (!live_.contains(id)) return;
   cancelled_.push_back(id);
   ring_->wake();
   gone_.wait(lock, [&] { return !live_.contains(id); });
}

RetrieverStatistics Retriever::Loop::statistics() const {
   const auto read = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
   RetrieverStatistics result;
   for (size_t i = 0; i < requestKinds; ++i) {
      const Counters::Kind& counted = counters_.kinds[i];
      RetrieverStatistics::Kind& kind = result.kinds[i];
      kind = {read(counted.requests), read(counted.bytes),     read(counted.errors),    read(counted.retries),
              read(counted.hedges),   read(counted.hedgesWon), read(counted.throttled), read(counted.active)};
      result.retries += kind.retries;
      result.hedges += kind.hedges;
      result.hedgesWon += kind.hedgesWon;
      result.throttled += kind.throttled;
      result.active += kind.active;
   }
   result.connections = read(counters_.connections);
   result.queued = read(counters_.queued);
   result.limit = read(counters_.limit);
   result.bandwidth = read(counters_.bandwidth);
   result.baseLatencyMs = read(counters_.baseLatencyMs);
   return result;
}

} // namespace ouzel::io
