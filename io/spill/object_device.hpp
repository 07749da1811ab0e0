#pragma once
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "common/thread/task_runner.hpp"
#include "io/spill/area_device.hpp"

namespace ouzel::io {

class ObjectStore; // io/object_store/object_store.hpp

/// Spills to a bucket, for what nothing nearer has room for. A written staging area is one object, below the prefix of
/// the address. Objects of a process that was killed stay; a rule of the bucket has to remove them.
class ObjectDevice final : public AreaDevice {
public:
   /// Resolves the endpoint, and sends no request. Throws 22023 and 58030.
   explicit ObjectDevice(const std::string& address);
   /// Waits for removals.
   ~ObjectDevice() override;

   std::unique_ptr<SpillChannel> makeChannel(uint32_t depth) override;

   ObjectStore& store() { return *store_; }
   /// Runs puts, which wait for their answers.
   TaskRunner& writers() { return writers_; }

protected:
   bool removeNow(std::span<const std::string> names) override;

private:
   const std::unique_ptr<ObjectStore> store_;
   ThreadTaskRunner writers_;
};

/// The errno and, for the log, the text of a store's error.
int errorOf(const std::exception_ptr& error, std::string& text);

} // namespace ouzel::io
