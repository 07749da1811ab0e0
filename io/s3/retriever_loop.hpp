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

/// A thread of the retriever and its event loop: jobs, flights, connections, a ring. Other threads reach them only
/// through the inbox (submitted_, cancelled_).
///
/// A job is one request of a caller. A flight is one exchange for a job.
///
///     ready_[lane] --place free--> primary flight (and perhaps a hedge) --answer--> done() --> forgotten
///          ^                                  |
///          +------ delayed_ <--try again------+
///
/// A job waits in the queue of its lane until the lane's limit allows another flight. A hedge is a second flight for a
/// straggler and receives into its own memory.
///  1. Only a job's primary flight writes to the caller's memory. A job ends (done() or cancelled) only without one.
///  2. A flight whose job has ended (an overtaken hedge) has a null job; it is destroyed when its operation completes.
class Retriever::Loop {
public:
   /// The loop is number `index` of `count` loops. `credentials` and `spread` outlive it.
   Loop(const S3Location& location, CredentialsKeeper& credentials, const RetrieverOptions& options,
        ThreadSpread& spread, uint32_t index, uint32_t count);
   ~Loop() { stop(); }
   Loop(const Loop&) = delete;
   Loop& operator=(const Loop&) = delete;

   /// Ends all jobs and joins the thread.
   void stop();
   /// Takes submitted and cancelled jobs from the inbox. Called by the loop's thread, and after stop() by the thread
   /// that stopped it. False: no job was submitted.
   bool takeInbox();
   /// `uploadSize`: bytes of the request's body. The returned identifier modulo `count` is `index`.
   Id submit(S3Request request, size_t uploadSize, Done done);
   void cancel(Id id);
   void onCredentialsChange();
   /// Adds this loop's counters and, if the loop is in use, its measurements.
   void addTo(RetrieverStatistics& statistics, bool isUsed) const;

private:
   /// Class of a request. Each class has its own limit, so that a look-up does not wait behind a large scan.
   enum class Lane : uint8_t { Bulk, Upload, Small };
   static constexpr size_t lanes = 3;
   struct Flight;
   struct Job {
      Id id = 0;
      S3Request request;
      size_t size = 0; ///< bytes of the bodies, as counted by the spread
      Done done;
      uint32_t requests = 0, retries = 0, hedges = 0; ///< as in S3Answer
      Lane lane = Lane::Small;
      uint32_t attempts = 0, relocations = 0;
      bool isRepeated = false, hasRenewed = false, hasSetClock = false, asksWhy = false, hasAskedWhy = false,
           needsFreshConnection = false;
      bool isCancelled = false, waitsForCredentials = false, isQueued = false;
      int64_t firstStartAt = 0, notBefore = 0;
      Flight* primary = nullptr;
      Flight* hedge = nullptr;
      /// The finished hedge, while the primary flight is being aborted.
      std::unique_ptr<Flight> overtaker;
      std::string problem; ///< failure of the last attempt
   };
   struct Flight final : Exchange {
      using Exchange::Exchange;
      Job* job = nullptr;
      std::unique_ptr<char[]> ownTarget; ///< hedges only
      uint64_t credentialsVersion = 0;
      bool isHedge = false;
      RequestKind kind{};
      uint32_t patience = 1;
      size_t position = 0; ///< index in flights_
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
   void judgeAnswer(Job& job, Flight& flight, int64_t now);
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
   std::vector<std::unique_ptr<Job>> submitted_ GUARDED_BY(mutex_);
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
   S3Location location_;               ///< with the region in which the bucket was found
   std::shared_ptr<AddressBook> book_; ///< shared with connections
   std::unique_ptr<SocketRing> ring_;
   std::unordered_map<Id, std::unique_ptr<Job>> jobs_;
   std::array<std::deque<Job*>, lanes> ready_;
   std::array<size_t, lanes> inFlight_{};
   std::vector<Job*> delayed_;
   std::vector<std::unique_ptr<Flight>> flights_;
   std::vector<std::unique_ptr<Connection>> idle_; ///< the most recently used is last
   RequestGovernor governor_;
   uint64_t bulkBytes_ = 0; ///< in complete bodies of the bulk lane
   LatencyModel latency_;
   double hedgeTokens_ = 2;
   int64_t clockOffset_ = 0; ///< seconds from this machine's clock to the store's
   int64_t lastTick_ = 0;
   int64_t busySince_ = 0, busyNanos_ = 0; ///< start of the measured span (0: none); thread's CPU time then
   bool isDraining_ = false;
   std::minstd_rand random_;
   std::thread thread_;
};

} // namespace ouzel::io
