#pragma once
#include <cstdint>

namespace ouzel::storage {

/// How a transaction locks a row, weakest first. The last two have one holder, the others may have several.
enum class LockStrength : uint8_t {
   KeyShare,    ///< the row stays, and so do its keys: a foreign key's check, FOR KEY SHARE
   Share,       ///< the row stays as it is: FOR SHARE
   NoKeyUpdate, ///< an UPDATE that keeps the keys, FOR NO KEY UPDATE
   Update,      ///< DELETE, an UPDATE of a key, FOR UPDATE
};

/// PostgreSQL's table of conflicts: KeyShare conflicts with Update, Share with both updates, updates with each other.
constexpr bool conflicts(LockStrength a, LockStrength b) {
   return static_cast<int>(a) + static_cast<int>(b) >= static_cast<int>(LockStrength::Update);
}

/// The clause of SELECT that takes it.
constexpr const char* clauseOf(LockStrength strength) {
   switch (strength) {
   case LockStrength::KeyShare: return "FOR KEY SHARE";
   case LockStrength::Share: return "FOR SHARE";
   case LockStrength::NoKeyUpdate: return "FOR NO KEY UPDATE";
   case LockStrength::Update: break;
   }
   return "FOR UPDATE";
}

} // namespace ouzel::storage
