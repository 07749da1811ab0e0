#include "storage/manifest/header_objects.hpp"

#include "common/error/sql_error.hpp"
#include "io/object_store/trusted_read.hpp"
#include "storage/base/byte_codec.hpp"

namespace ouzel::storage {

BlockHeader HeaderObjects::read(const ListOfHeaders::Entry& entry) {
   return io::readTrusted(store_, entry.headerObject, [&] {
      try {
         return readOnce(entry);
      } catch (...) {
         objects_.erase(entry.headerObject);
         throw;
      }
   });
}

BlockHeader HeaderObjects::readOnce(const ListOfHeaders::Entry& entry) {
   // Keep the whole object: most of its headers are still in use.
   std::optional<std::string>& object = objects_[entry.headerObject];
   if (!object) object = store_.get(entry.headerObject);
   if (!object) throw SqlError(sqlstate::dataCorrupted, "missing object \"" + entry.headerObject + "\"");
   if (entry.offset > object->size() || entry.size > object->size() - entry.offset) ByteReader::corrupted();
   const auto bytes = std::string_view(*object).substr(entry.offset, entry.size);
   if (checksumOf(bytes) != entry.checksum)
      throw SqlError(sqlstate::dataCorrupted, "checksum mismatch in object \"" + entry.headerObject + "\"");
   return BlockHeader::deserialize(bytes);
}

} // namespace ouzel::storage
