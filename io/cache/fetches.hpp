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

/// A stretch of an object on its way into the memory of the read that asked for it first. Others that need bytes of it
/// wait and get copies.
struct Fetch {
   struct Waiter {
      std::shared_ptr<CachedRead> read;
      uint64_t begin, end;
      char* target;
   };
   ObjectKey object;
   uint64_t begin, end;
   char* target;
   std::shared_ptr<CachedRead> owner; ///< until it is over
   // Under Fetches' mutex:
   enum class State : uint8_t { UnderWay, Delivering, Over };
   State state = State::UnderWay;
   std::vector<Waiter> waiters{};
};

/// All stretches that are being fetched for one store. Calls nobody back and waits for nothing but copying.
/// Thread-safe.
class Fetches {
public:
   /// Cover a range: wait for what is under way, and begin what is not, in stretches that are one request each; these
   /// are returned. For each of either, read->expect() is called.
   std::vector<std::shared_ptr<Fetch>> join(const ObjectKey& object, uint64_t begin, uint64_t end, char* target,
                                            const std::shared_ptr<CachedRead>& read,
                                            std::vector<std::shared_ptr<Fetch>>& joined);
   /// The bytes are here, or never will be. Nobody joins from here on. Returns who waits for them.
   std::vector<Fetch::Waiter> deliver(Fetch& fetch);
   /// They were copied.
   void finish(Fetch& fetch);
   /// Nobody fetches it any more; returns who is left waiting. Nothing when it is over.
   std::vector<Fetch::Waiter> abandon(Fetch& fetch);
   /// A read waits no more. When it returns nothing is copied for it.
   void leave(Fetch& fetch, const CachedRead& read);

private:
   void unlist(const Fetch& fetch) REQUIRES(mutex_);

   Mutex mutex_;
   CondVar over_;
   std::unordered_map<ObjectKey, std::vector<std::shared_ptr<Fetch>>, ObjectKeyHash> byObject_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
