#pragma once
#include <functional>
#include <string>

#include "common/sync/mutex.hpp"
#include "storage/database/checkpoint.hpp"
#include "storage/database/checkpoint_group.hpp"
#include "storage/database/compactor.hpp"

namespace ouzel::storage {

/// Decides when there is a checkpoint, and lets one run at a time: for commits that wait for the store (a thread of its
/// CheckpointGroup), when the log or the memory of deltas has grown (a background task), or when somebody asks.
///
/// Ownership: owned by the Database; owns what is known of the store, the compactor and the group.
/// Threads: any. storedMutex_ is held during a whole checkpoint, compaction included; it is the first lock anybody
/// takes. scheduleMutex_ is a leaf.
class Checkpointer {
public:
   /// Of a database opened read-only it only knows the store.
   Checkpointer(const CheckpointParts& parts, StoredState stored);
   ~Checkpointer() { stop(); }
   Checkpointer(const Checkpointer&) = delete;
   Checkpointer& operator=(const Checkpointer&) = delete;

   /// REQUIRES: called once, before the first checkpoint can be.
   void setImageSource(std::function<std::string()> source) { imageSource_ = std::move(source); }
   /// Compact, make the state of now that in the store, let go of the log before. Throws 25006 when opened read-only.
   void checkpoint(CheckpointKind kind);
   /// After a commit: start a checkpoint in the background when it is time.
   void startIfDue();
   /// See Database.
   void waitForStore(Lsn lsn);
   /// No checkpoint for commits runs any more. REQUIRES: no commit waits for one.
   void stop() { group_.stop(); }
   /// Objects that the newest manifest names, blocks excepted.
   size_t referencedCount();

private:
   CheckpointGroup::Work groupWork();
   bool isDue() const;
   void runScheduled();

   // PROPERTIES
   const CheckpointParts parts_;
   std::function<std::string()> imageSource_; ///< empty until the catalog has set it
   // STATE
   Mutex storedMutex_; ///< guards what follows; one checkpoint at a time
   StoredState stored_;
   Compactor compactor_;

   Mutex scheduleMutex_; ///< guards what follows
   bool isScheduled_ = false;
   uint64_t retryAtLogBytes_ = 0; ///< after a failed checkpoint, how long the log is to be before the next one

   CheckpointGroup group_; ///< stops first: its thread uses the rest
};

} // namespace ouzel::storage
