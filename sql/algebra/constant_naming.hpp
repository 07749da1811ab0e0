#pragma once

namespace ouzel {
class UserTypes; // common/type/user_types.hpp
}

namespace ouzel::sql {

/// While it lives, toString() of this thread writes constants of enums as their labels.
class ConstantNaming {
public:
   explicit ConstantNaming(const UserTypes* types);
   ~ConstantNaming();
   ConstantNaming(const ConstantNaming&) = delete;

private:
   const UserTypes* const outer_;
};

} // namespace ouzel::sql
