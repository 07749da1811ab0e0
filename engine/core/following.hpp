#pragma once
#include <atomic>
#include <shared_mutex>

#include "common/thread/repeating_task.hpp"
#include "engine/core/database.hpp"

namespace ouzel::engine {

/// Keeps a read-only server at what the checkpoints of the server that writes have published. Thread-safe.
class Following {
public:
   explicit Following(Database::Internals& database) : database_(database) {}

   /// Look every half a second from now on.
   void start();
   /// Look now; false: nothing is new. Throws what storage::Database::follow throws.
   bool look();
   /// For who takes a snapshot of the catalog and one of the rows: they belong together while this is held.
   std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(together_); }
   /// A statement is about to begin: what one before it missed should not be missed again.
   void beforeStatement();

private:
   /// False: it could not be done. The log is told of the first of several failures.
   bool tryLook() noexcept;

   Database::Internals& database_;
   /// Held alone while both change. It guards no member: each of the two has a mutex of its own.
   std::shared_mutex together_;
   std::atomic<bool> hasFailed_{false};
   RepeatingTask repetition_; ///< last: ends first
};

} // namespace ouzel::engine
