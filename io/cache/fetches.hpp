#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/cache/region_index.hpp"

namespace ouzel::io {

class CachedRead;

/// A stretch of an object on its way into the memory of the read that asked for it first, its owner. Other reads that
/// need bytes of the stretch are waiters: the owner copies their bytes when the stretch has arrived.
///
///     UnderWay --deliver--> Delivering (waiters are copied to) --finish--> Over
///         \-----abandon (owner cancelled; waiters fetch on their own)------> Over
///
/// `state`, `waiters` and `owner` are guarded by the mutex of Fetches.
struct Fetch {
   struct Waiter {
      std::shared_ptr<CachedRead> read;
      uint64_t begin, end;
      char* target;
   };
   ObjectKey object;
   uint64_t begin, end;
   char* target;
   std::shared_ptr<CachedRead> owner; ///< null once the state is Over
   // Guarded by the mutex of Fetches:
   enum class State : uint8_t { UnderWay, Delivering, Over };
   State state = State::UnderWay;
   std::vector<Waiter> waiters{};
};

/// The list of all stretches that are being fetched for one store. Calls CachedRead::expect() only, and waits for
/// nothing but copying (leave()). Thread-safe.
class Fetches {
public:
   /// Covers a range by fetches. Where a fetch of another read is under way, `read` becomes its waiter, and the fetch
   /// is appended to `joined`. For the other bytes new fetches are listed and returned, one request each, which the
   /// caller starts. read->expect() is called once for each fetch of both kinds.
   std::vector<std::shared_ptr<Fetch>> join(const ObjectKey& object, uint64_t begin, uint64_t end, char* target,
                                            const std::shared_ptr<CachedRead>& read,
                                            std::vector<std::shared_ptr<Fetch>>& joined);
   /// The request has ended, with the bytes or an error. Later reads cannot join the fetch. Returns its waiters.
   std::vector<Fetch::Waiter> deliver(Fetch& fetch);
   /// The waiters' bytes are copied.
   void finish(Fetch& fetch);
   /// The owner was cancelled. Returns the waiters, which have to fetch their bytes on their own; none when the fetch
   /// is being delivered or over.
   std::vector<Fetch::Waiter> abandon(Fetch& fetch);
   /// Removes `read` from the waiters. After the return no bytes are copied to its target.
   void leave(Fetch& fetch, const CachedRead& read);

private:
   void unlist(const Fetch& fetch) REQUIRES(mutex_);

   Mutex mutex_;
   CondVar over_;
   std::unordered_map<ObjectKey, std::vector<std::shared_ptr<Fetch>>, ObjectKeyHash> byObject_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
