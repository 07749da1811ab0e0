#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"
#include "io/spill/spill_device.hpp"

// Devices that keep each written staging area as a value of its own: the memory of another machine, or a bucket.

namespace ouzel::io {

class AreaFile;

/// A written area: the number of its file, and its offset there.
struct AreaKey {
   uint64_t file, offset;
};

/// Counts the bytes of areas, and removes them in the background.
class AreaDevice : public SpillDevice {
public:
   /// `separator`: between the parts of names.
   AreaDevice(std::string itsName, Prior itsPrior, char separator);

   std::unique_ptr<SpillFile> makeFile() override;
   [[noreturn]] void throwFailure(Doing doing, int error) const override;
   std::string damageText() const override;

   /// The name of an area's value: "ouzel-spill:<16 hex digits of this process>:<file>:<offset / 512>".
   std::string nameOf(AreaKey key) const;

   // For AreaFile.
   void addFile(AreaFile& file);
   void removeFile(AreaFile& file);
   /// Counts bytes as allocated. False: there are not so many.
   bool reserve(uint64_t bytes);
   struct Removal {
      AreaKey key;
      uint64_t bytes; ///< that are free then
   };
   /// Removes areas in the background.
   void remove(std::span<const Removal> removals);
   /// Waits until the removals so far are done. False: there were none.
   bool awaitSpace() override;

protected:
   /// Removes areas now, if the device can be reached. Called by one thread at a time. False: some may be left, and are
   /// to be removed later.
   virtual bool removeNow(std::span<const std::string> names) = 0;
   /// Waits for removals, the last ones only as long as none fails. A device's destructor has to call this first.
   void stopRemoving();
   bool isStopping() const { return isStopping_.load(std::memory_order_relaxed); }
   /// The keys of all areas.
   std::vector<AreaKey> keys();

private:
   void runRemovals();
   /// Removes areas, and keeps for later what is left.
   void removeRound(std::span<const AreaKey> areas);
   void removeLeftovers();

   // PROPERTIES
   const char separator_;
   const std::string prefix_;

   // STATE
   Mutex mutex_; // guards the members below
   CondVar removed_;
   uint64_t filesMade_ GUARDED_BY(mutex_) = 0;
   std::set<AreaFile*> files_ GUARDED_BY(mutex_);
   std::vector<Removal> removals_ GUARDED_BY(mutex_); ///< to be done
   uint64_t removalsAsked_ GUARDED_BY(mutex_) = 0, removalsDone_ GUARDED_BY(mutex_) = 0;
   bool isRemoving_ GUARDED_BY(mutex_) = false;
   std::atomic<bool> isStopping_{false};
   // Of the remover's thread.
   std::vector<AreaKey> leftovers_;            ///< to be removed later
   int64_t leftoversTried_ = 0;                ///< steadyNanos()
   bool hasGivenUp_ = false;                   ///< a removal has failed while stopping
   std::unique_ptr<ThreadTaskRunner> remover_; ///< used with the mutex, and by stopRemoving()
};

} // namespace ouzel::io
