#pragma once
#include <map>
#include <optional>
#include <string>

#include "io/object_store/object_store.hpp"
#include "storage/block/format.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

/// Reads headers of blocks. One object of the store holds many headers; each object is fetched once and kept. Made for
/// one load of a manifest; one thread.
class HeaderObjects {
public:
   explicit HeaderObjects(io::ObjectStore& store) : store_(store) {}
   /// Throws XX001 when the object is missing or the header is damaged.
   BlockHeader read(const ListOfHeaders::Entry& entry);

private:
   BlockHeader readOnce(const ListOfHeaders::Entry& entry);

   io::ObjectStore& store_;
   std::map<std::string, std::optional<std::string>> objects_;
};

} // namespace ouzel::storage
