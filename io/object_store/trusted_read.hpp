#pragma once
#include <string_view>
#include <utility>

#include "common/error/sql_error.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// Returns the result of `read`. If `read` finds the object damaged (XX001) and the bytes may have come from a cache,
/// calls `read` a second time, which then reads from the store itself.
template <typename Read>
decltype(auto) readTrusted(ObjectStore& store, std::string_view name, Read&& read) {
   try {
      return read();
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::dataCorrupted || !store.distrust(name)) throw;
   }
   return read();
}

} // namespace ouzel::io
