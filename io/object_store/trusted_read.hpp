#pragma once
#include <string_view>
#include <utility>

#include "common/error/sql_error.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// What `read` gives. Where it finds the object damaged (XX001) and the bytes may have come from a cache, it is called
/// once more, and then reads what the store itself has.
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
