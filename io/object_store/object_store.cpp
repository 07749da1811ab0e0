#include "io/object_store/object_store.hpp"

#include <algorithm>
#include <cctype>

#include "io/object_store/store_statistics.hpp"

namespace ouzel::io {

bool isValidObjectName(std::string_view name) {
   if (name.empty() || name.front() == '/' || name.back() == '/' || name.front() == '.') return false;
   return std::all_of(name.begin(), name.end(),
                      [](unsigned char c) {
                         return std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-' || c == '=';
                      }) &&
          name.find("..") == std::string_view::npos;
}

std::optional<CacheStatistics> ObjectStore::cacheStatistics() const {
   return std::nullopt;
}

std::optional<RetrieverStatistics> ObjectStore::statistics() const {
   return std::nullopt;
}

std::unique_ptr<PendingRead> ObjectReader::readAsync(uint64_t offset, size_t size, void* target,
                                                     std::function<void(std::exception_ptr)> done) const {
   std::exception_ptr error;
   try {
      read(offset, size, target);
   } catch (...) {
      error = std::current_exception();
   }
   done(error);
   return nullptr;
}

std::unique_ptr<ObjectReader> ObjectStore::open(std::string_view name, uint64_t) {
   return open(name);
}

void ObjectStore::remove(std::span<const std::string> names) {
   for (const std::string& name : names)
      remove(std::string_view(name));
}

std::optional<std::string> ObjectStore::get(std::string_view name) {
   const auto reader = open(name);
   if (!reader) return std::nullopt;
   std::string bytes(reader->size(), '\0');
   reader->read(0, bytes.size(), bytes.data());
   return bytes;
}

} // namespace ouzel::io
