#include "engine/core/following.hpp"

#include <mutex>
#include <optional>

#include "catalog/object/codec.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "engine/core/internals.hpp"

namespace ouzel::engine {

void Following::start() {
   repetition_.start(periodMs, [this] {
      tryLook();
      return periodMs;
   });
}

bool Following::look() {
   return database_.storage->follow([this](const std::string* image, const std::function<void()>& publishRows) {
      std::optional<catalog::Snapshot> snapshot;
      if (image) snapshot = image->empty() ? catalog::Snapshot::bootstrap() : catalog::decodeSnapshot(*image);
      const std::unique_lock lock(together_);
      if (snapshot) database_.catalog->replace(*snapshot);
      publishRows();
      database_.sequences->forget();
      if (snapshot) endSessionsOfDropped();
   });
}

void Following::endSessionsOfDropped() {
   SessionControl* control = database_.sessionControl;
   if (!control) return;
   const catalog::Snapshot catalog = database_.catalog->newest();
   std::vector<int32_t> sessions;
   {
      const MutexLock lock(database_.activityMutex);
      for (const auto& [processId, session] : database_.activity)
         if (!catalog.database(session.databaseOid)) sessions.push_back(processId);
   }
   for (const int32_t processId : sessions)
      control->terminate(processId);
}

bool Following::tryLook() noexcept {
   try {
      look();
      hasFailed_ = false;
      return true;
   } catch (const std::exception& error) {
      if (!hasFailed_.exchange(true))
         logLine(LogLevel::Warning, std::string("could not follow the database: ") + error.what());
      return false;
   }
}

void Following::beforeStatement() {
   if (database_.storage->hasLostBlock()) tryLook();
}

} // namespace ouzel::engine
