#include "storage/table/delete_marks.hpp"

#include <algorithm>
#include <thread>

#include "common/error/check.hpp"

namespace ouzel::storage {

DeleteMarks::~DeleteMarks() {
   Slots* slots = slots_.load();
   if (!slots) return;
   for (auto& vector : slots->vectors)
      delete vector.load();
   delete slots;
}

DeleteMarks::VectorMarks& DeleteMarks::vectorFor(uint32_t index) {
   if (const Slots* slots = slots_.load(std::memory_order_acquire))
      if (VectorMarks* marks = slots->vectors[index].load(std::memory_order_acquire)) return *marks;
   const MutexLock lock(slotsMutex_);
   Slots* slots = slots_.load(std::memory_order_relaxed);
   if (!slots) {
      slots = new Slots();
      slots_.store(slots);
   }
   VectorMarks* marks = slots->vectors[index].load(std::memory_order_relaxed);
   if (!marks) {
      marks = new VectorMarks();
      slots->vectors[index].store(marks);
   }
   return *marks;
}

void DeleteMarks::beginMove() {
   DCHECK(movedAt_.load() == 0); // rows move once: their segment is retired then
   movedAt_.store(moving);
}

void DeleteMarks::endMove(Timestamp timestamp) {
   DCHECK(timestamp != moving);
   {
      const MutexLock lock(moveMutex_);
      DCHECK(movedAt_.load() == moving);
      movedAt_.store(timestamp);
   }
   moveEnded_.notify_all();
}

Timestamp DeleteMarks::awaitMove() {
   UniqueLock lock(moveMutex_);
   moveEnded_.wait(lock, [&] { return movedAt_.load() != moving; });
   return movedAt_.load();
}

DeleteMarks::Outcome DeleteMarks::mark(uint32_t row, const Snapshot& snapshot, uint32_t command, LockStrength strength,
                                       DeleteWord& seen) {
   DCHECK(snapshot.transactionId != 0);
   DCHECK(strength >= LockStrength::NoKeyUpdate);
   auto& word = vectorFor(row / vectorRows).words[row % vectorRows];
   const DeleteWord mine = openWord(snapshot.transactionId, command, strength);
   do {
      seen = 0;
      if (word.compare_exchange_strong(seen, mine)) {
         if (mayKeep(word, 0)) return Outcome::Marked;
         continue;
      }
      // Two workers of one statement may both find the lock: only one of them deletes the row.
      DeleteWord lock = seen;
      const DeleteWord kept = strengthOf(lock) == LockStrength::Update ? mine & ~keepsKeyBit : mine;
      if (isLock(lock) && isOpenBy(lock, snapshot.transactionId) && word.compare_exchange_strong(seen, kept)) {
         if (mayKeep(word, lock)) return Outcome::Marked;
         continue;
      }
      if (isOpenBy(seen, snapshot.transactionId)) return Outcome::Gone;
      if ((seen & openBit) == 0 && seen != 0 && seen <= snapshot.commitTimestamp) return Outcome::Gone;
      return Outcome::Conflict;
   } while ((seen = awaitMove()) == 0);
   return Outcome::Moved;
}

DeleteMarks::Outcome DeleteMarks::lock(uint32_t row, const Snapshot& snapshot, uint32_t command, LockStrength strength,
                                       DeleteWord& seen) {
   DCHECK(snapshot.transactionId != 0);
   DCHECK(strength >= LockStrength::NoKeyUpdate);
   auto& word = vectorFor(row / vectorRows).words[row % vectorRows];
   const DeleteWord mine = lockWord(snapshot.transactionId, command, strength);
   do {
      seen = 0;
      if (word.compare_exchange_strong(seen, mine)) {
         if (mayKeep(word, 0)) return Outcome::Marked;
         continue;
      }
      DeleteWord weaker = seen;
      if (isLock(weaker) && isOpenBy(weaker, snapshot.transactionId) && strengthOf(weaker) < strength &&
          word.compare_exchange_strong(seen, mine)) {
         if (mayKeep(word, weaker)) return Outcome::Marked;
         continue;
      }
      if (isOpenBy(seen, snapshot.transactionId)) return isLock(seen) ? Outcome::Held : Outcome::Gone;
      if ((seen & openBit) == 0 && seen != 0 && seen <= snapshot.commitTimestamp) return Outcome::Gone;
      return Outcome::Conflict;
   } while ((seen = awaitMove()) == 0);
   return Outcome::Moved;
}

DeleteMarks::Outcome DeleteMarks::share(uint32_t row, const Snapshot& snapshot, LockStrength strength,
                                        DeleteWord& seen) const {
   DCHECK(strength <= LockStrength::Share);
   const Slots* slots = slots_.load();
   const VectorMarks* marks = slots ? slots->vectors[row / vectorRows].load() : nullptr;
   seen = marks ? marks->words[row % vectorRows].load() : 0;
   if (movedAt_.load() != 0) return Outcome::Moved;
   if (seen == 0) return Outcome::Marked;
   if (isOpenBy(seen, snapshot.transactionId)) return isLock(seen) ? Outcome::Held : Outcome::Gone;
   if ((seen & openBit) == 0) return seen <= snapshot.commitTimestamp ? Outcome::Gone : Outcome::Conflict;
   return conflicts(strengthOf(seen), strength) ? Outcome::Conflict : Outcome::Marked;
}

void DeleteMarks::replaceMark(uint32_t row, DeleteWord word) {
   if (word != 0 && (word & openBit) == 0) committed_.fetch_add(1, std::memory_order_relaxed);
   vectorFor(row / vectorRows).words[row % vectorRows].store(word, std::memory_order_release);
}

void DeleteMarks::setShadow(uint32_t row, DeleteWord word) {
   DCHECK(movedAt_.load() != 0);
   auto& slot = vectorFor(row / vectorRows).words[row % vectorRows];
   // A mark in the way was set by a thread that did not know of the move, and is about to be taken back.
   for (DeleteWord none = 0; !slot.compare_exchange_weak(none, word); none = 0)
      std::this_thread::yield();
}

DeleteWord DeleteMarks::word(uint32_t row) const {
   const VectorMarks* marks = vector(row / vectorRows);
   return marks ? marks->words[row % vectorRows].load(std::memory_order_acquire) : 0;
}

bool DeleteMarks::hasOpen(uint32_t rows) const {
   for (uint32_t first = 0; first < rows; first += vectorRows) {
      const Slots* slots = slots_.load();
      const VectorMarks* marks = slots ? slots->vectors[first / vectorRows].load() : nullptr;
      if (!marks) continue;
      const uint32_t here = std::min(vectorRows, rows - first);
      DeleteWord all = 0;
      for (uint32_t i = 0; i < here; ++i)
         all |= marks->words[i].load();
      if ((all & openBit) != 0) return true;
   }
   return false;
}

uint32_t DeleteMarks::count(uint32_t rows, const Snapshot& snapshot) const {
   uint32_t deleted = 0;
   if (isEmpty()) return 0;
   for (uint32_t first = 0; first < rows; first += vectorRows) {
      const VectorMarks* marks = vector(first / vectorRows);
      if (!marks) continue;
      const uint32_t here = std::min(vectorRows, rows - first);
      for (uint32_t i = 0; i < here; ++i)
         deleted += isDeletedFor(marks->words[i].load(std::memory_order_acquire), snapshot);
   }
   return deleted;
}

void DeleteMarks::forEachCommitted(uint32_t rows, Timestamp timestamp,
                                   const std::function<void(uint32_t)>& body) const {
   const Snapshot snapshot{timestamp, 0, 0};
   if (isEmpty()) return;
   for (uint32_t first = 0; first < rows; first += vectorRows) {
      const VectorMarks* marks = vector(first / vectorRows);
      if (!marks) continue;
      const uint32_t here = std::min(vectorRows, rows - first);
      for (uint32_t i = 0; i < here; ++i)
         if (isDeletedFor(marks->words[i].load(std::memory_order_acquire), snapshot)) body(first + i);
   }
}

} // namespace ouzel::storage
