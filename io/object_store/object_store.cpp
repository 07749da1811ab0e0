#include "io/object_store/object_store.hpp"

namespace ouzel::io {

std::optional<std::string> ObjectStore::get(std::string_view name) {
   const auto reader = open(name);
   if (!reader) return std::nullopt;
   std::string bytes(reader->size(), '\0');
   reader->read(0, bytes.size(), bytes.data());
   return bytes;
}

} // namespace ouzel::io
