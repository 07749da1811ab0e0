#pragma once
#include <functional>
#include <string>

#include "common/sync/mutex.hpp"
#include "storage/base/write_use.hpp"
#include "storage/database/checkpoint.hpp"
#include "storage/database/checkpoint_group.hpp"
#include "storage/database/compactor.hpp"

namespace ouzel::storage {

/// Decides when a checkpoint starts, and runs one at a time. A checkpoint starts for commits that wait for the store
/// (on the thread of the CheckpointGroup), when the log or the memory of deltas has grown (as a background task), or on
/// request.
///
/// Ownership: owned by the Database; owns the StoredState, the Compactor and the CheckpointGroup.
/// Threads: any. storedMutex_ is held during a whole checkpoint, compaction included; it is the first lock to be taken.
/// scheduleMutex_ is a leaf.
class Checkpointer {
public:
   /// Of a database opened read-only it only holds the StoredState.
   Checkpointer(const CheckpointParts& parts, StoredState stored);
   ~Checkpointer() { stop(); }
   Checkpointer(const Checkpointer&) = delete;
   Checkpointer& operator=(const Checkpointer&) = delete;

   /// The source of the catalog's bytes. REQUIRES: called once, before the first checkpoint.
   void setImageSource(std::function<std::string()> source) { imageSource_ = std::move(source); }
   /// Compact, write the current state to the store, remove the log before it. Throws 25006 when opened read-only.
   void checkpoint(CheckpointKind kind);
   /// Called after a commit: start a checkpoint in the background when it is due.
   void startIfDue();
   /// See Database.
   void waitForStore(Lsn lsn);
   /// Stop the thread of the CheckpointGroup. REQUIRES: no commit waits for a checkpoint.
   void stop() { group_.stop(); }
   /// Objects that the newest manifest names, blocks excepted.
   size_t referencedCount();
   CheckpointUse use();

private:
   CheckpointGroup::Work groupWork();
   bool isDue() const;
   void runScheduled();
   void count(CheckpointKind kind, int64_t nanos);

   // PROPERTIES
   const CheckpointParts parts_;
   std::function<std::string()> imageSource_; ///< empty until the catalog has set it
   // STATE
   Mutex storedMutex_; ///< guards the members below; one checkpoint at a time
   StoredState stored_ GUARDED_BY(storedMutex_);
   Compactor compactor_ GUARDED_BY(storedMutex_);

   Mutex scheduleMutex_; ///< guards the members below
   bool isScheduled_ GUARDED_BY(scheduleMutex_) = false;
   /// After a failed checkpoint: the next one waits until the log has so many bytes.
   uint64_t retryAtLogBytes_ GUARDED_BY(scheduleMutex_) = 0;
   CheckpointUse use_ GUARDED_BY(scheduleMutex_);

   CheckpointGroup group_; ///< last: its thread stops before the members it uses are destroyed
};

} // namespace ouzel::storage
