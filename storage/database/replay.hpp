#pragma once
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/database/database_state.hpp"

namespace ouzel::storage {

/// Applies log records at a start; nobody else uses the tables yet. The caller's thread reads records, makes and drops
/// tables and segments, and collects rows and deletes by segment; other threads apply what was collected, the order
/// within each segment kept, while the caller collects the next lot. Call finish() at the end.
class Replay {
public:
   explicit Replay(Database::State& state) : state_(state) {}
   ~Replay();

   /// Throws XX001 when the record does not fit.
   void apply(Log::Frame&& frame);
   /// Wait until everything has been applied.
   void finish();
   /// Blocks that the log loads.
   const std::set<std::string>& namedObjects() const { return namedObjects_; }

private:
   struct Work {
      Timestamp timestamp;
      LocalWrites::LoggedRows rows; ///< none when its rowCount is 0
      std::vector<uint32_t> deletes;
   };
   /// A segment that the log has named.
   struct Target {
      SegmentPtr segment;
      StorageId table;
      std::vector<Value> missing;
      std::vector<Work> collected, applying;
   };

   void addTable(StorageId id, std::vector<ColumnDefinition> columns);
   TableCore& coreOf(StorageId id);
   void addColumn(const CommitRecord::AddedColumn& added);
   void dropTable(StorageId id);
   SegmentPtr openBlock(const LocalWrites::LoggedBlock& logged, Timestamp timestamp);
   void rewrite(TableCore& core, const CommitRecord::Rewrite& logged, Timestamp timestamp);
   Target& targetOf(TableCore& core, SegmentId id, bool mayMake);
   void collect(Target& target, Work work, size_t bytes);
   void startApplying();
   void waitForApplying();
   static void applyTo(Target& target);

   Database::State& state_;
   std::set<std::string> namedObjects_;
   std::unordered_map<SegmentId, std::unique_ptr<Target>> targets_;
   std::vector<Target*> collected_, applying_;
   size_t collectedBytes_ = 0;

   std::mutex mutex_; ///< guards what follows
   std::condition_variable idle_;
   bool isApplying_ = false;
   std::exception_ptr error_;
};

} // namespace ouzel::storage
