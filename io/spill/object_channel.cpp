#include "io/spill/object_channel.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "io/spill/area_file.hpp"

namespace ouzel::io {

namespace {

/// Longest wait in one call, so that the caller can look whether its query was cancelled.
constexpr int waitMillisMax = 100;

} // namespace

ObjectChannel::ObjectChannel(ObjectDevice& device, uint32_t depth)
   : device_(device), depth_(depth), ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
   if (!ended_.isOpen()) device.throwFailure(SpillDevice::Doing::Create, errno);
}

ObjectChannel::~ObjectChannel() {
   abandon();
}

void ObjectChannel::write(SpillFile& file, uint64_t offset, std::span<const std::byte> bytes, uint64_t userData) {
   CHECK(hasRoom());
   auto& ours = static_cast<AreaFile&>(file);
   ours.addArea({offset, bytes.size()});
   Request& request = *requests_.emplace_back(std::make_unique<Request>(userData, bytes.size()));
   {
      const MutexLock guard(mutex_);
      request.left = 1;
   }
   device_.countWrites(1);
   device_.writers().submit([this, &request, bytes, name = device_.nameOf(ours.keyOf(offset))] {
      std::exception_ptr error;
      try {
         device_.store().put(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      } catch (...) {
         error = std::current_exception();
      }
      finish(request, error);
   });
}

void ObjectChannel::read(SpillFile& file, SpillExtent extent, std::byte* target, uint64_t userData) {
   CHECK(hasRoom());
   auto& ours = static_cast<AreaFile&>(file);
   const std::vector<AreaFile::Part> parts = ours.parts(extent);
   Request& request = *requests_.emplace_back(std::make_unique<Request>(userData, extent.size));
   {
      const MutexLock guard(mutex_);
      request.left = static_cast<uint32_t>(parts.size());
   }
   device_.countReads(parts.size());
   size_t there = 0;
   for (const AreaFile::Part& part : parts) {
      try {
         request.readers.push_back(device_.store().open(device_.nameOf(ours.keyOf(part.area)), part.areaBytes));
         if (!request.readers.back()) throw SqlError(sqlstate::undefinedFile, "an object is gone");
         request.reads.push_back(request.readers.back()->readAsync(
             part.inArea.offset, part.inArea.size, target + there,
             [this, &request](const std::exception_ptr& error) { finish(request, error); }));
      } catch (const SqlError&) {
         finish(request, std::current_exception());
      }
      there += part.inArea.size;
   }
   if (there != extent.size) { // a part was not written
      const MutexLock guard(mutex_);
      request.error = EIO;
   }
}

void ObjectChannel::finish(Request& request, const std::exception_ptr& error) {
   std::string text;
   const int code = error ? errorOf(error, text) : 0;
   if (code != 0) device_.failed(code, text);
   const MutexLock guard(mutex_); // held to the end: the channel may go when the last request has ended
   if (code != 0) request.error = code;
   --request.left;
   ::eventfd_write(ended_.get(), 1);
   changed_.notify_all();
}

size_t ObjectChannel::reap(std::span<RingCompletion> completions, bool mustWait) {
   if (requests_.empty()) return 0;
   if (mustWait) {
      pollfd entry{ended_.get(), POLLIN, 0};
      ::poll(&entry, 1, waitMillisMax);
   }
   eventfd_t count = 0;
   ::eventfd_read(ended_.get(), &count);
   size_t out = 0;
   const MutexLock guard(mutex_);
   for (auto it = requests_.begin(); it != requests_.end() && out < completions.size();) {
      const Request& request = **it;
      if (request.left > 0) {
         ++it;
         continue;
      }
      completions[out++] = {request.userData, request.error != 0 ? -request.error : static_cast<int32_t>(request.size)};
      it = requests_.erase(it);
   }
   // There may be more than fit.
   if (out == completions.size()) ::eventfd_write(ended_.get(), 1);
   return out;
}

SpillChannel::Wait ObjectChannel::wait() const {
   return {ended_.get(), POLLIN, 0};
}

void ObjectChannel::abandon() {
   for (const auto& request : requests_)
      for (const auto& read : request->reads)
         if (read) read->cancel();
   UniqueLock guard(mutex_);
   // Cancelled reads do not report their end, puts do.
   changed_.wait(guard, [this]() REQUIRES(mutex_) {
      return std::all_of(requests_.begin(), requests_.end(),
                         [](const auto& request) { return request->left == 0 || !request->readers.empty(); });
   });
   requests_.clear();
}

} // namespace ouzel::io
