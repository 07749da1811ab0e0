#pragma once
#include <atomic>
#include <shared_mutex>

#include "common/thread/repeating_task.hpp"
#include "engine/core/database.hpp"

namespace ouzel::engine {

/// Keeps a read-only server at the newest checkpoint of the server that writes. Thread-safe.
///
/// Catalog and rows of a checkpoint are published in two steps. look() holds `together_` exclusively around both; a
/// statement holds it shared while it takes its two snapshots, so that the snapshots are of one checkpoint.
class Following {
public:
   static constexpr int64_t periodMs = 500;

   explicit Following(Database::Internals& database) : database_(database) {}

   /// Start a thread that calls look() every periodMs.
   void start();
   /// Look for a newer checkpoint and publish it. False: there is none. Throws the errors of storage::Database::follow.
   bool look();
   /// Hold this while taking a snapshot of the catalog and one of the rows: both are then of one checkpoint.
   std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(together_); }
   /// Call before a statement's snapshot. When an earlier statement missed a block that the writer has removed, look
   /// now.
   void beforeStatement();

private:
   /// look() that logs errors: the first one of a series of failures. False: it failed.
   bool tryLook() noexcept;
   /// Sessions in databases that the writer has dropped end, as on a standby of PostgreSQL.
   void endSessionsOfDropped();

   Database::Internals& database_;
   /// Held exclusively while catalog and rows change. It guards no member: catalog and rows have mutexes of their own.
   std::shared_mutex together_;
   std::atomic<bool> hasFailed_{false};
   RepeatingTask repetition_; ///< last: ends first
};

} // namespace ouzel::engine
