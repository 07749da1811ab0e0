#pragma once
#include <string>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Gives a setting another value for a part of a statement.
class LocalSetting {
public:
   LocalSetting(SessionCore& core, std::string name, const std::string& value)
      : core_(core), name_(std::move(name)), before_(core.settings.valueOf(name_)) {
      core.set(name_, value, true);
   }
   void restore() { core_.set(name_, before_, true); } // after an error the rollback does it

private:
   SessionCore& core_;
   const std::string name_, before_;
};

} // namespace ouzel::engine
