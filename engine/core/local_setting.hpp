#pragma once
#include <string>

#include "engine/core/privileges.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Gives a setting another value for a part of a statement.
class LocalSetting {
public:
   LocalSetting(SessionCore& core, std::string name, const std::string& value)
      : core_(core), name_(std::move(name)), before_(core.settings.valueOf(name_)) {
      set(value);
   }
   void restore() { set(before_); } // after an error the rollback does it

private:
   void set(const std::string& value) {
      if (name_ == "role")
         actAs(core_, value);
      else
         core_.set(name_, value, true);
   }

   SessionCore& core_;
   const std::string name_, before_;
};

} // namespace ouzel::engine
