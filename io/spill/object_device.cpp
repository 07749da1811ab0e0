#include "io/spill/object_device.hpp"

#include <cerrno>

#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "io/object_store/object_store.hpp"
#include "io/spill/object_channel.hpp"
#include "io/spill/spill_target.hpp"
#include "io/store/open_store.hpp"

namespace ouzel::io {

namespace {
constexpr uint32_t putsAtOnce = 16;
constexpr double roundsNanos = 60e6; ///< of a put and a get, about 30 ms each
} // namespace

int errorOf(const std::exception_ptr& error, std::string& text) {
   try {
      std::rethrow_exception(error);
   } catch (const SqlError& failure) {
      text = failure.what();
      return failure.state() == sqlstate::diskFull                ? ENOSPC
             : failure.state() == sqlstate::undefinedFile         ? ENODATA
             : failure.state() == sqlstate::insufficientPrivilege ? EACCES
                                                                  : EIO;
   } catch (const std::exception& failure) {
      text = failure.what();
      return EIO;
   }
}

ObjectDevice::ObjectDevice(const std::string& address)
   : AreaDevice(spillTargetName(address), {1e8, roundsNanos}, '/'), store_(openObjectStore(address)),
     writers_(putsAtOnce) {}

ObjectDevice::~ObjectDevice() {
   stopRemoving();
}

std::unique_ptr<SpillChannel> ObjectDevice::makeChannel(uint32_t depth) {
   return std::make_unique<ObjectChannel>(*this, depth);
}

bool ObjectDevice::removeNow(std::span<const std::string> names) {
   try {
      store_->remove(names);
      return true;
   } catch (const SqlError& error) {
      logLine(LogLevel::Warning, "could not remove temporary pages from \"" + name + "\": " + error.what());
      return false;
   }
}

} // namespace ouzel::io
