#include <algorithm>
#include <cstring>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/s3/retriever_loop.hpp"
#include "io/s3/unix_time.hpp"

// The end of a flight and its effect on the job: delivery, repetition, failure.

namespace ouzel::io {

namespace {
constexpr int64_t millisecond = 1'000'000;
constexpr size_t idleCountMax = 256;
constexpr size_t bodySizeToJudgeAddress = 256 << 10;
constexpr double hedgeShare = 0.05, hedgeTokensMax = 8;
constexpr uint32_t relocationsMax = 3;
/// What can be done about a problem, by S3's code in it.
std::string adviceOn(std::string_view problem) {
   constexpr std::pair<std::string_view, const char*> advice[] = {
       {"NoSuchBucket", "Make the bucket, or correct its name in its address."},
       {"SignatureDoesNotMatch", "Is AWS_SECRET_ACCESS_KEY right, and the region in the bucket's address?"},
       {"InvalidAccessKeyId", "Is AWS_ACCESS_KEY_ID right, and is it a key of this endpoint?"},
       {"AccessDenied", "These credentials need the right to list, get, put and delete objects below the prefix."},
       {"RequestTimeTooSkewed", "Set this machine's clock."},
       {"could not connect", "Is the endpoint in the bucket's address right, and does a server run there?"},
   };
   for (const auto& [code, text] : advice)
      if (problem.find(code) != std::string_view::npos) return text;
   return "";
}

} // namespace

std::unique_ptr<Retriever::Loop::Flight> Retriever::Loop::removeFlight(Flight& flight) {
   const size_t position = flight.position;
   std::unique_ptr<Flight> taken = std::move(flights_[position]);
   if (position + 1 < flights_.size()) {
      flights_[position] = std::move(flights_.back());
      flights_[position]->position = position;
   }
   flights_.pop_back();
   counters_.of(taken->kind).active.fetch_sub(1, std::memory_order_relaxed);
   if (flights_.empty()) {
      governor_.onIdle();
      busySince_ = 0;
      spread_.setBusy(index_, 0);
   }
   return taken;
}

void Retriever::Loop::onOver(Flight& over, int64_t now) {
   std::unique_ptr<Flight> flight = removeFlight(over);
   if (auto connection = flight->takeConnection(); connection && idle_.size() < idleCountMax)
      idle_.push_back(std::move(connection));
   learn(*flight, now);
   Job* const job = flight->job;
   if (job == nullptr) return;
   if (flight->isHedge) {
      job->hedge = nullptr;
      onHedgeOver(*job, std::move(flight), now);
   } else {
      job->primary = nullptr;
      --inFlight_[static_cast<size_t>(job->lane)];
      counters_.queued.fetch_add(1, std::memory_order_relaxed); // the job waits again, or ends and is subtracted
      onPrimaryOver(*job, *flight, now);
   }
}

/// Updates the latency model, the address book and the governor.
void Retriever::Loop::learn(const Flight& flight, int64_t now) {
   const Exchange::Failure failure = flight.failure();
   if (flight.state() != Exchange::State::Finished) {
      if (failure == Exchange::Failure::Connect || failure == Exchange::Failure::TimedOut)
         book_->onFailure(flight.address());
      if (flight.firstByteAt() == 0 && flight.sentAt() != 0 && failure != Exchange::Failure::Closed)
         latency_.addUnanswered(now - flight.sentAt());
      return;
   }
   const int status = flight.head().status;
   if (flight.job == nullptr || status < 200 || status >= 300) return;
   const S3Request& request = flight.job->request;
   Counters::Kind& kind = counters_.of(request.kind);
   kind.bytes.fetch_add(flight.receivedBytes(), std::memory_order_relaxed);
   for (const std::string_view part : request.body)
      kind.bytes.fetch_add(part.size(), std::memory_order_relaxed);
   if (!request.mayHedge) return;
   const int64_t bodyNanos = std::max<int64_t>(now - flight.firstByteAt(), 1);
   latency_.add(flight.receivedBytes(), flight.firstByteAt() - flight.sentAt(), bodyNanos);
   hedgeTokens_ = std::min(hedgeTokens_ + hedgeShare, hedgeTokensMax);
   if (flight.receivedBytes() >= bodySizeToJudgeAddress)
      book_->onReceived(flight.address(),
                        static_cast<double>(flight.receivedBytes()) * 1e9 / static_cast<double>(bodyNanos));
   if (flight.job->lane == Lane::Bulk) {
      bulkBytes_ += flight.receivedBytes();
      uint64_t received = bulkBytes_;
      for (const auto& other : flights_)
         if (other->job != nullptr && other->job->lane == Lane::Bulk) received += other->receivedBytes();
      governor_.onFinished(flight.receivedBytes(), received, now, latency_);
   }
   counters_.limit.store(governor_.limit(), std::memory_order_relaxed);
   counters_.bandwidth.store(governor_.bandwidth(), std::memory_order_relaxed);
   counters_.baseLatencyMs.store(latency_.baseLatency() / 1e6, std::memory_order_relaxed);
}

void Retriever::Loop::onPrimaryOver(Job& job, Flight& flight, int64_t now) {
   if (job.isCancelled) {
      forget(job);
      return;
   }
   if (job.overtaker) {
      const std::unique_ptr<Flight> winner = std::move(job.overtaker);
      judgeAnswer(job, *winner, now);
      return;
   }
   if (isDraining_ && flight.state() == Exchange::State::Failed) {
      fail(job, sqlstate::queryCanceled);
      return;
   }
   if (flight.state() == Exchange::State::Finished) {
      judgeAnswer(job, flight, now);
      return;
   }
   job.isRepeated = job.isRepeated || flight.hasSentAnything();
   job.problem = flight.failureText();
   if (job.hedge != nullptr) return; // the hedge may still answer
   if (flight.failure() == Exchange::Failure::Certificate) {
      fail(job, sqlstate::ioError);
      return;
   }
   const bool wasStale = flight.wasStale() && !job.needsFreshConnection;
   job.needsFreshConnection = true;
   if (wasStale) --job.attempts;
   retryLater(job, now, wasStale);
}

void Retriever::Loop::onHedgeOver(Job& job, std::unique_ptr<Flight> flight, int64_t now) {
   const bool isGood = flight->state() == Exchange::State::Finished && flight->head().status < 300;
   if (job.isCancelled) return; // the primary flight is being aborted
   if (job.primary == nullptr) {
      if (flight->state() == Exchange::State::Finished)
         judgeAnswer(job, *flight, now);
      else if (isDraining_)
         fail(job, sqlstate::queryCanceled);
      else
         retryLater(job, now);
      return;
   }
   if (!isGood) return;
   counters_.of(job.request.kind).hedgesWon.fetch_add(1, std::memory_order_relaxed);
   job.overtaker = std::move(flight);
   job.primary->abort(Exchange::Failure::Aborted);
}

/// Judges an answer and delivers it or acts on it. REQUIRES: no flight writes to the caller's memory.
void Retriever::Loop::judgeAnswer(Job& job, Flight& flight, int64_t now) {
   DCHECK(job.primary == nullptr);
   dropHedge(job);
   const S3Request reason = job.asksWhy ? requestForReason(job.request) : S3Request();
   const Judgement judgement =
       judge(job.asksWhy ? reason : job.request, flight.head(), flight.body(), flight.wentToTarget(), location_.region);
   if (job.asksWhy) {
      job.asksWhy = false;
      if (judgement.verdict == Verdict::Deliver)
         retryLater(job, now, true); // the reason for the refusal is gone
      else
         act(job, flight, judgement, now);
      return;
   }
   if (judgement.verdict == Verdict::Deliver)
      deliver(job, flight);
   else
      act(job, flight, judgement, now);
}

void Retriever::Loop::deliver(Job& job, Flight& flight) {
   const S3Request& request = job.request;
   if (request.target != nullptr && flight.head().status < 300) {
      if (!flight.wentToTarget())
         std::memcpy(request.target, flight.body().data(), request.targetSize);
      else if (flight.isHedge)
         std::memcpy(request.target, flight.ownTarget.get(), request.targetSize);
   }
   S3Answer answer;
   answer.status = flight.head().status;
   answer.head = flight.head();
   answer.body = std::move(flight.body());
   answer.isRepeated = job.isRepeated;
   end(job, std::move(answer));
}

void Retriever::Loop::act(Job& job, const Flight& flight, const Judgement& judgement, int64_t now) {
   job.problem = judgement.text;
   const bool isServerError = flight.head().status >= 500;
   switch (judgement.verdict) {
   case Verdict::Deliver: break;
   case Verdict::AskWhy:
      if (job.hasAskedWhy) break;
      job.hasAskedWhy = job.asksWhy = true;
      retryLater(job, now, true);
      return;
   case Verdict::Throttled:
      counters_.of(job.request.kind).throttled.fetch_add(1, std::memory_order_relaxed);
      governor_.onThrottled(now);
      [[fallthrough]];
   case Verdict::Retry:
      job.isRepeated = job.isRepeated || isServerError;
      retryLater(job, now);
      return;
   case Verdict::WrongTime:
      if (job.hasSetClock || judgement.theirs < 0) break;
      job.hasSetClock = true;
      clockOffset_ = judgement.theirs - unixSeconds();
      retryLater(job, now, true);
      return;
   case Verdict::Renew:
      if (job.hasRenewed) break;
      job.hasRenewed = true;
      job.waitsForCredentials = credentials_.current().version == flight.credentialsVersion;
      credentials_.refresh(flight.credentialsVersion);
      retryLater(job, now, true);
      return;
   case Verdict::Relocate:
      if (++job.relocations > relocationsMax) break;
      try {
         relocate(judgement.region);
      } catch (const SqlError& error) {
         job.problem += std::string("; ") + error.what();
         break;
      }
      retryLater(job, now, true);
      return;
   case Verdict::Denied: fail(job, sqlstate::insufficientPrivilege); return;
   case Verdict::Refused: break;
   }
   const bool isDenied = judgement.verdict == Verdict::Renew || judgement.verdict == Verdict::WrongTime ||
                         (judgement.verdict == Verdict::AskWhy && flight.head().status == 403);
   if (isDenied)
      fail(job, sqlstate::insufficientPrivilege);
   else
      fail(job, sqlstate::ioError);
}

void Retriever::Loop::relocate(const std::string& region) {
   if (region == location_.region) return; // an earlier answer has already moved the bucket
   S3Location moved = location_.inRegion(region);
   if (moved.serverName() != location_.serverName())
      book_ = std::make_shared<AddressBook>(moved.serverName(), moved.port); // waits for the resolver
   location_ = std::move(moved);
}

void Retriever::Loop::retryLater(Job& job, int64_t now, bool atOnce) {
   if (isDraining_) {
      fail(job, sqlstate::queryCanceled);
      return;
   }
   if (job.attempts >= options_.attemptsMax || now - job.firstStartAt > options_.requestTimeoutMs * millisecond) {
      fail(job, sqlstate::ioError);
      return;
   }
   counters_.of(job.request.kind).retries.fetch_add(1, std::memory_order_relaxed);
   ++job.retries;
   const uint32_t doublings = std::min(job.attempts == 0 ? 0 : job.attempts - 1, 16U);
   const int64_t backoff = std::min(options_.backoffMs << doublings, options_.backoffMsMax) * millisecond;
   // A random part of the backoff, from half to all of it, so that requests that failed together are not repeated
   // together.
   const double share = 0.5 + 0.5 * static_cast<double>(random_() % 1024) / 1024;
   job.notBefore = job.waitsForCredentials ? now + options_.requestTimeoutMs * millisecond / 2
                   : atOnce                ? now
                                           : now + static_cast<int64_t>(static_cast<double>(backoff) * share);
   job.isQueued = true;
   delayed_.push_back(&job);
}

void Retriever::Loop::fail(Job& job, SqlState state) {
   counters_.of(job.request.kind).errors.fetch_add(1, std::memory_order_relaxed);
   S3Answer answer;
   answer.isRepeated = job.isRepeated;
   std::string text = describeFailure(job.request, location_) + ": " + job.problem;
   if (job.attempts > 1) text += " (tried " + std::to_string(job.attempts) + " times)";
   answer.error = std::make_exception_ptr(SqlError(state, text).hint(adviceOn(job.problem)));
   end(job, std::move(answer));
}

void Retriever::Loop::end(Job& job, S3Answer&& answer) {
   answer.requests = job.requests;
   answer.retries = job.retries;
   answer.hedges = job.hedges;
   job.done(std::move(answer));
   forget(job);
}

void Retriever::Loop::dropHedge(Job& job) {
   if (job.hedge == nullptr) return;
   job.hedge->job = nullptr;
   job.hedge->abort(Exchange::Failure::Aborted);
   job.hedge = nullptr;
}

/// Removes a job that has ended. REQUIRES: no flight writes to the caller's memory.
void Retriever::Loop::forget(Job& job) {
   DCHECK(job.primary == nullptr);
   dropHedge(job);
   if (job.isQueued) {
      std::erase(delayed_, &job);
      std::erase(ready_[static_cast<size_t>(job.lane)], &job);
   }
   counters_.queued.fetch_sub(1, std::memory_order_relaxed);
   spread_.ended(index_, job.size);
   const Id id = job.id;
   jobs_.erase(id);
   const MutexLock lock(mutex_);
   live_.erase(id);
   gone_.notify_all();
}

} // namespace ouzel::io
