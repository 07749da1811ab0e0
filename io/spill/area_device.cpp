#include "io/spill/area_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/env/random.hpp"
#include "common/error/sql_error.hpp"
#include "io/spill/area_file.hpp"

namespace ouzel::io {

namespace {

constexpr size_t removalsPerRound = 1000; ///< one request to a bucket
constexpr int64_t leftoversPause = 5'000'000'000;

std::string hex(uint64_t number) {
   constexpr char digits[] = "0123456789abcdef";
   std::string out;
   do
      out.insert(out.begin(), digits[number & 15]);
   while ((number >>= 4) != 0);
   return out;
}

std::string randomPrefix(char separator) {
   const std::string digits = hex(unpredictableSeed());
   return "ouzel-spill" + (separator + std::string(16 - digits.size(), '0')) + digits + separator;
}

} // namespace

AreaDevice::AreaDevice(std::string itsName, Prior itsPrior, char separator)
   : SpillDevice(std::move(itsName), itsPrior), separator_(separator), prefix_(randomPrefix(separator)),
     remover_(std::make_unique<ThreadTaskRunner>(1)) {}

void AreaDevice::stopRemoving() {
   isStopping_.store(true, std::memory_order_relaxed);
   remover_->submit([this] { removeLeftovers(); });
   remover_.reset(); // runs what was submitted
}

std::unique_ptr<SpillFile> AreaDevice::makeFile() {
   uint64_t number = 0;
   {
      const MutexLock guard(mutex_);
      number = filesMade_++;
   }
   return std::make_unique<AreaFile>(*this, number);
}

void AreaDevice::throwFailure(Doing doing, int error) const {
   const char* const what = doing == Doing::Create   ? "could not connect to"
                            : doing == Doing::Extend ? "could not allocate temporary pages in"
                            : doing == Doing::Write  ? "could not write temporary pages to"
                                                     : "could not read temporary pages from";
   const bool isFull = error == ENOSPC;
   // Values that are gone: the server has started anew, or evicts keys to make room.
   const char* const why = isFull ? "no space left" : error == ENODATA ? "they are gone" : std::strerror(error);
   throw SqlError(isFull ? sqlstate::diskFull : sqlstate::ioError, std::string(what) + " \"" + name + "\": " + why);
}

std::string AreaDevice::damageText() const {
   return "invalid temporary page in \"" + name + "\"";
}

std::string AreaDevice::nameOf(AreaKey key) const {
   return prefix_ + hex(key.file) + separator_ + hex(key.offset / 512);
}

void AreaDevice::addFile(AreaFile& file) {
   const MutexLock guard(mutex_);
   files_.insert(&file);
}

void AreaDevice::removeFile(AreaFile& file) {
   const MutexLock guard(mutex_);
   files_.erase(&file);
}

bool AreaDevice::reserve(uint64_t bytes) {
   uint64_t before = bytesAllocated.load(std::memory_order_relaxed);
   do {
      if (bytesMax != 0 && before + bytes > bytesMax) return false;
   } while (!bytesAllocated.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
   return true;
}

void AreaDevice::remove(std::span<const Removal> removals) {
   if (removals.empty()) return;
   const MutexLock guard(mutex_);
   removals_.insert(removals_.end(), removals.begin(), removals.end());
   removalsAsked_ += removals.size();
   if (isRemoving_) return;
   isRemoving_ = true;
   remover_->submit([this] { runRemovals(); });
}

bool AreaDevice::awaitSpace() {
   UniqueLock guard(mutex_);
   const uint64_t asked = removalsAsked_;
   if (removalsDone_ >= asked) return false;
   removed_.wait(guard, [this, asked]() REQUIRES(mutex_) { return removalsDone_ >= asked; });
   return true;
}

void AreaDevice::removeRound(std::span<const AreaKey> areas) {
   if (hasGivenUp_) return;
   std::vector<std::string> names;
   for (const AreaKey area : areas)
      names.push_back(nameOf(area));
   if (removeNow(names)) return;
   hasGivenUp_ = isStopping();
   leftovers_.insert(leftovers_.end(), areas.begin(), areas.end());
}

void AreaDevice::removeLeftovers() {
   if (leftovers_.empty() || (!isStopping() && steadyNanos() - leftoversTried_ < leftoversPause)) return;
   leftoversTried_ = steadyNanos();
   const std::vector<AreaKey> areas = std::exchange(leftovers_, {});
   for (size_t at = 0; at < areas.size(); at += removalsPerRound)
      removeRound(std::span(areas).subspan(at, std::min(removalsPerRound, areas.size() - at)));
}

void AreaDevice::runRemovals() {
   removeLeftovers();
   while (true) {
      std::vector<Removal> removals;
      {
         const MutexLock guard(mutex_);
         removals.swap(removals_);
         if (removals.empty()) {
            isRemoving_ = false;
            return;
         }
      }
      for (size_t at = 0; at < removals.size(); at += removalsPerRound) {
         const auto round = std::span(removals).subspan(at, std::min(removalsPerRound, removals.size() - at));
         std::vector<AreaKey> areas;
         for (const Removal& removal : round)
            areas.push_back(removal.key);
         removeRound(areas);
         for (const Removal& removal : round)
            bytesAllocated.fetch_sub(removal.bytes, std::memory_order_relaxed);
         const MutexLock guard(mutex_);
         removalsDone_ += round.size();
         removed_.notify_all();
      }
   }
}

std::vector<AreaKey> AreaDevice::keys() {
   std::vector<AreaKey> out;
   const MutexLock guard(mutex_);
   for (AreaFile* file : files_)
      file->appendKeys(out);
   return out;
}

} // namespace ouzel::io
