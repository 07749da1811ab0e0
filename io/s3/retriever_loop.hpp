#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "io/http/exchange.hpp"
#include "io/s3/request_governor.hpp"
#include "io/s3/request_text.hpp"
#include "io/s3/retriever.hpp"

namespace ouzel::io {

/// A thread of the retriever and what it drives. Others reach it through the inbox only.
///
/// A job is one request of a caller; a flight is one exchange for it. A job waits in its lane for a place, then has a
/// primary flight, perhaps a second one (hedge) that receives into memory of its own, or waits for a later try.
/// Invariants:
///  1. Only a job's primary flight touches the caller's memory; a job ends (done() or forgotten) only without one.
///  2. A flight whose job has ended (an overtaken hedge) has no job and is dropped when its operation comes back.
class Retriever::Loop {
public:
   /// `credentials` and `spread`, where the loop is number `index` of `count`, outlive it.
   Loop(const S3Location& location, CredentialsKeeper& credentials, const RetrieverOptions& options,
        ThreadSpread& spread, uint32_t index, uint32_t count);
   ~Loop() { stop(); }
   Loop(const Loop&) = delete;
   Loop& operator=(const Loop&) = delete;

   /// Ends the thread and everything that is under way.
   void stop();
   /// What was submitted and cancelled since; the thread does it, and who has stopped it. False: nothing has come.
   bool takeInbox();
   /// `uploadSize`: of the request's body. The identifier modulo `count` is `index`.
   Id submit(S3Request request, size_t uploadSize, Done done);
   void cancel(Id id);
   void onCredentialsChange();
   /// Add what this loop has counted, and has learned if it is in use.
   void addTo(RetrieverStatistics& statistics, bool isUsed) const;

private:
   /// Requests that compete for places with their like only, so that a look-up does not wait behind a large scan.
   enum class Lane : uint8_t { Bulk, Upload, Small };
   static constexpr size_t lanes = 3;
   struct Flight;
   struct Job {
      Id id = 0;
      S3Request request;
      size_t size = 0; ///< of the bodies, as the spread has counted them
      Done done;
      uint32_t requests = 0, retries = 0, hedges = 0; ///< sent so far
      Lane lane = Lane::Small;
      uint32_t attempts = 0, relocations = 0;
      bool isRepeated = false, hasRenewed = false, hasSetClock = false, asksWhy = false, hasAskedWhy = false,
           needsFreshConnection = false;
      bool isCancelled = false, waitsForCredentials = false, isQueued = false;
      int64_t firstStartAt = 0, notBefore = 0;
      Flight* primary = nullptr;
      Flight* hedge = nullptr;
      /// What the hedge brought, while the primary is being called off.
      std::unique_ptr<Flight> overtaker;
      std::string problem; ///< of the last attempt
   };
   struct Flight final : Exchange {
      using Exchange::Exchange;
      Job* job = nullptr;
      std::unique_ptr<char[]> ownTarget; ///< a hedge's
      uint64_t credentialsVersion = 0;
      bool isHedge = false;
      RequestKind kind{};
      uint32_t patience = 1;
      size_t position = 0; ///< in flights_
   };

   void run();
   void drain();
   void cancelJob(Job& job);
   int64_t waitNanos(int64_t now) const;
   void startDue(int64_t now);
   void start(Job& job, int64_t now, bool isHedge);
   std::unique_ptr<Connection> connectionFor(const Job& job, int64_t now);
   void tick(int64_t now);
   void measureBusy(int64_t now);
   bool isStraggler(const Flight& flight, int64_t now) const;
   std::unique_ptr<Flight> removeFlight(Flight& flight);
   void onOver(Flight& over, int64_t now);
   void onPrimaryOver(Job& job, Flight& flight, int64_t now);
   void onHedgeOver(Job& job, std::unique_ptr<Flight> flight, int64_t now);
   void learn(const Flight& flight, int64_t now);
   void dropHedge(Job& job);
   void settle(Job& job, Flight& flight, int64_t now);
   void deliver(Job& job, Flight& flight);
   void act(Job& job, const Flight& flight, const Judgement& judgement, int64_t now);
   void retryLater(Job& job, int64_t now, bool atOnce = false);
   void relocate(const std::string& region);
   void fail(Job& job, SqlState state);
   void end(Job& job, S3Answer&& answer);
   void forget(Job& job);
   size_t limitOf(Lane lane) const;

   // PROPERTIES
   const RetrieverOptions options_;
   const std::unique_ptr<TlsClientContext> tls_; ///< null: plain
   CredentialsKeeper& credentials_;
   ThreadSpread& spread_;
   const uint32_t index_, count_;

   // STATE shared with callers
   mutable Mutex mutex_;
   CondVar gone_;
   std::vector<std::unique_ptr<Job>> submitted_ GUARDED_BY(mutex_); // under mutex_, as the next four
   std::vector<Id> cancelled_ GUARDED_BY(mutex_);
   std::unordered_set<Id> live_ GUARDED_BY(mutex_);
   Id lastId_ GUARDED_BY(mutex_) = 0;
   bool isStopping_ GUARDED_BY(mutex_) = false;
   std::atomic<bool> credentialsChanged_{false};

   struct Counters {
      struct Kind {
         std::atomic<uint64_t> requests{0}, bytes{0}, errors{0}, retries{0}, hedges{0}, hedgesWon{0}, throttled{0},
             active{0};
      };
      std::array<Kind, requestKinds> kinds;
      std::atomic<uint64_t> connections{0}, queued{0}, limit{RequestGovernor::limitAtFirst};
      std::atomic<double> bandwidth{0}, baseLatencyMs{0};
      Kind& of(RequestKind kind) { return kinds[static_cast<size_t>(kind)]; }
   } counters_;

   // STATE of the thread
   S3Location location_;               ///< where the bucket was found
   std::shared_ptr<AddressBook> book_; ///< shared with connections
   std::unique_ptr<SocketRing> ring_;
   std::unordered_map<Id, std::unique_ptr<Job>> jobs_;
   std::array<std::deque<Job*>, lanes> ready_;
   std::array<size_t, lanes> inFlight_{};
   std::vector<Job*> delayed_;
   std::vector<std::unique_ptr<Flight>> flights_;
   std::vector<std::unique_ptr<Connection>> idle_; ///< the last used at the end
   RequestGovernor governor_;
   uint64_t bulkBytes_ = 0; ///< of bodies of the bulk lane that are complete
   LatencyModel latency_;
   double hedgeTokens_ = 2;
   int64_t clockOffset_ = 0; ///< seconds, of the store's clock to ours
   int64_t lastTick_ = 0;
   int64_t busySince_ = 0, busyNanos_ = 0; ///< beginning of the measured span (0: none), the thread's CPU time then
   bool isDraining_ = false;
   std::minstd_rand random_;
   std::thread thread_;
};

} // namespace ouzel::io
