#include "io/s3/retriever_loop.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "io/s3/unix_time.hpp"

// The loop's thread: takes requests in, starts flights, waits. The end of flights is handled in retriever_outcome.cpp.

namespace ouzel::io {

namespace {
constexpr int64_t millisecond = 1'000'000;
constexpr int64_t tickNanos = 5 * millisecond;
constexpr int64_t busySpanNanos = 50 * millisecond;
constexpr int64_t idleMax = 15'000 * millisecond; ///< below the servers' own limits; S3 closes after about 20 s
constexpr size_t uploadsMax = 16, smallMax = 64;
} // namespace

void Retriever::Loop::run() {
   // Blocks SIGPIPE for this thread: OpenSSL cannot suppress the signal for each write, and a write to a closed
   // connection must not end the process.
   sigset_t signals;
   sigemptyset(&signals);
   sigaddset(&signals, SIGPIPE);
   pthread_sigmask(SIG_BLOCK, &signals, nullptr);

   std::array<SocketCompletion, 64> completions;
   while (true) {
      const bool isQuiet = !takeInbox();
      int64_t now = steadyNanos();
      if (!isDraining_)
         startDue(now);
      else if (flights_.empty()) { // no flight, so no completion would end a wait
         if (isQuiet) break;
         continue;
      }
      const size_t count = ring_->wait(completions, waitNanos(now));
      now = steadyNanos();
      for (size_t i = 0; i < count; ++i) {
         auto* const flight = static_cast<Flight*>(reinterpret_cast<Exchange*>(completions[i].userData));
         flight->step(completions[i].result, now);
         if (flight->isOver()) onOver(*flight, now);
      }
      if (now - lastTick_ >= tickNanos) {
         tick(now);
         measureBusy(now);
      }
   }
   idle_.clear(); // closed here, where SIGPIPE is blocked: TLS sends a farewell
}

bool Retriever::Loop::takeInbox() {
   std::vector<std::unique_ptr<Job>> submitted;
   std::vector<Id> cancelled;
   bool isStopping;
   {
      const MutexLock lock(mutex_);
      submitted.swap(submitted_);
      cancelled.swap(cancelled_);
      isStopping = isStopping_;
   }
   for (auto& job : submitted) {
      ready_[static_cast<size_t>(job->lane)].push_back(job.get());
      job->isQueued = true;
      const Id id = job->id;
      DCHECK(!jobs_.contains(id));
      jobs_.emplace(id, std::move(job));
   }
   for (const Id id : cancelled)
      if (const auto found = jobs_.find(id); found != jobs_.end()) cancelJob(*found->second);
   if (credentialsChanged_.exchange(false))
      for (Job* job : delayed_)
         if (job->waitsForCredentials) job->notBefore = 0;
   if (isStopping) drain();
   return !submitted.empty();
}

/// Ends all jobs with 57014.
void Retriever::Loop::drain() {
   isDraining_ = true;
   std::vector<Job*> all;
   for (const auto& [id, job] : jobs_)
      all.push_back(job.get());
   for (Job* job : all) {
      if (job->isCancelled) continue;
      job->problem = "the server is shutting down";
      // The flight uses the job's memory until it is over; onPrimaryOver() then fails the job.
      if (job->primary != nullptr)
         job->primary->abort(Exchange::Failure::Aborted);
      else
         fail(*job, sqlstate::queryCanceled);
   }
   for (const auto& flight : flights_)
      if (flight->isHedge) flight->abort(Exchange::Failure::Aborted);
}

void Retriever::Loop::cancelJob(Job& job) {
   job.isCancelled = true;
   if (job.primary != nullptr)
      job.primary->abort(Exchange::Failure::Aborted);
   else
      forget(job);
}

int64_t Retriever::Loop::waitNanos(int64_t now) const {
   if (!flights_.empty()) return tickNanos;
   int64_t wait = idle_.empty() ? -1 : idleMax; // idle connections are closed then
   for (const Job* job : delayed_) {
      const int64_t until = std::clamp<int64_t>(job->notBefore - now, 0, 1000 * millisecond);
      if (wait < 0 || until < wait) wait = until;
   }
   return wait;
}

size_t Retriever::Loop::limitOf(Lane lane) const {
   switch (lane) {
   case Lane::Bulk: return governor_.limit();
   case Lane::Upload: return uploadsMax;
   case Lane::Small: break;
   }
   return smallMax;
}

void Retriever::Loop::startDue(int64_t now) {
   // Jobs that wait for another try go first: they are older.
   std::vector<Job*> due;
   std::erase_if(delayed_, [&](Job* job) {
      if (job->notBefore > now) return false;
      due.push_back(job);
      return true;
   });
   for (Job* job : due) {
      job->waitsForCredentials = false;
      ready_[static_cast<size_t>(job->lane)].push_front(job);
   }
   for (size_t lane = 0; lane < lanes; ++lane) {
      auto& queue = ready_[lane];
      while (!queue.empty() && inFlight_[lane] < limitOf(static_cast<Lane>(lane))) {
         Job& job = *queue.front();
         queue.pop_front();
         job.isQueued = false;
         start(job, now, false);
      }
      if (!queue.empty() && lane == static_cast<size_t>(Lane::Bulk)) governor_.onLimited();
   }
}

std::unique_ptr<Connection> Retriever::Loop::connectionFor(const Job& job, int64_t now) {
   while (!idle_.empty() && !job.needsFreshConnection) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      if (now - connection->idleSince > idleMax) {
         idle_.clear(); // the other idle connections are older
         break;
      }
      if (connection->book == book_ && !book_->isAvoided(connection->address) && !peerIsGone(connection->handle()))
         return connection;
   }
   counters_.connections.fetch_add(1, std::memory_order_relaxed);
   return std::make_unique<Connection>(book_, book_->choose());
}

void Retriever::Loop::start(Job& job, int64_t now, bool isHedge) {
   DCHECK(!isDraining_);
   DCHECK(!job.isQueued);
   DCHECK(isHedge ? job.hedge == nullptr : job.primary == nullptr);
   DCHECK(!isHedge || job.request.mayHedge);
   if (job.firstStartAt == 0) job.firstStartAt = now;
   const S3Request reason = job.asksWhy ? requestForReason(job.request) : S3Request();
   const S3Request& request = job.asksWhy ? reason : job.request;
   const CredentialsKeeper::Current current = credentials_.current();
   ExchangeOrder order;
   order.head = requestText(request, location_, *current.credentials, unixSeconds() + clockOffset_);
   order.body = request.body;
   std::erase_if(order.body, [](std::string_view part) { return part.empty(); });
   order.isHead = request.method == "HEAD";
   order.target = request.target;
   order.targetSize = request.targetSize;
   order.bodySizeMax = std::max(request.bodySizeMax, request.targetSize);
   std::unique_ptr<char[]> ownTarget;
   if (isHedge && request.target != nullptr) {
      ownTarget.reset(new char[request.targetSize]);
      order.target = ownTarget.get();
   }
   auto flight =
       std::make_unique<Flight>(*ring_, connectionFor(job, now), tls_.get(), location_.serverName(), std::move(order));
   flight->job = &job;
   flight->ownTarget = std::move(ownTarget);
   flight->credentialsVersion = current.version;
   flight->isHedge = isHedge;
   flight->kind = request.kind;
   flight->patience = request.patience;
   flight->position = flights_.size();
   ++job.requests;
   if (isHedge) {
      ++job.hedges;
      job.hedge = flight.get();
   } else {
      ++job.attempts;
      job.primary = flight.get();
      ++inFlight_[static_cast<size_t>(job.lane)];
      counters_.queued.fetch_sub(1, std::memory_order_relaxed);
   }
   Flight& started = *flight;
   flights_.push_back(std::move(flight));
   counters_.of(request.kind).active.fetch_add(1, std::memory_order_relaxed);
   counters_.of(request.kind).requests.fetch_add(1, std::memory_order_relaxed);
   started.start(now);
   if (started.isOver()) onOver(started, now);
}

/// Tells the spread which share of a core this thread uses.
void Retriever::Loop::measureBusy(int64_t now) {
   if (count_ == 1 || flights_.empty() || now - busySince_ < busySpanNanos) return;
   const int64_t used = threadCpuNanos();
   if (busySince_ != 0)
      spread_.setBusy(index_, static_cast<double>(used - busyNanos_) / static_cast<double>(now - busySince_));
   busySince_ = now;
   busyNanos_ = used;
}

bool Retriever::Loop::isStraggler(const Flight& flight, int64_t now) const {
   if (flight.firstByteAt() == 0)
      return now - (flight.sentAt() != 0 ? flight.sentAt() : flight.startedAt()) > latency_.firstByteBound();
   return now - flight.startedAt() > latency_.totalBound(flight.job->request.targetSize);
}

/// Aborts flights without progress, hedges stragglers, closes idle connections.
void Retriever::Loop::tick(int64_t now) {
   lastTick_ = now;
   std::vector<Job*> late;
   for (const auto& flight : flights_) {
      flight->checkProgress(now, options_.connectTimeoutMs * millisecond,
                            options_.firstByteTimeoutMs * flight->patience * millisecond,
                            options_.progressTimeoutMs * millisecond);
      Job* const job = flight->job;
      const bool mayHedge = options_.hedge && !isDraining_ && job != nullptr && job->request.mayHedge &&
                            !flight->isHedge && job->hedge == nullptr && !job->isCancelled && !job->overtaker;
      if (mayHedge && flight->failure() == Exchange::Failure::None && isStraggler(*flight, now)) late.push_back(job);
   }
   for (Job* job : late) {
      if (hedgeTokens_ < 1) break;
      hedgeTokens_ -= 1;
      counters_.of(job->request.kind).hedges.fetch_add(1, std::memory_order_relaxed);
      start(*job, now, true);
   }
   std::erase_if(idle_, [&](const auto& connection) { return now - connection->idleSince > idleMax; });
}

} // namespace ouzel::io
