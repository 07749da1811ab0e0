#pragma once
#include <string>

#include "storage/base/ids.hpp"

// Where the objects of tables lie. A storage id is a place (32 bits) and a number that no other table has. Tables of
// place 0 lie below "table/<number>/", those of place p below "database/<p>/table/<number>/". What places stand for is
// not storage's concern, but that whoever lists the store sees what belongs together.

namespace ouzel::storage {

constexpr StorageId storageIdOf(uint32_t place, uint64_t number) {
   DCHECK(number >> 32 == 0);
   return static_cast<StorageId>(uint64_t{place} << 32 | number);
}
constexpr uint32_t placeOf(StorageId table) {
   return static_cast<uint32_t>(static_cast<uint64_t>(table) >> 32);
}

/// What the names of all tables' objects begin with: one of these.
inline constexpr const char* tablePrefixes[] = {"table/", "database/"};

/// What the names of a table's objects begin with.
inline std::string prefixOf(StorageId table) {
   const uint64_t number = static_cast<uint64_t>(table) & 0xffff'ffff;
   const std::string name = "table/" + std::to_string(number) + "/";
   return placeOf(table) == 0 ? name : "database/" + std::to_string(placeOf(table)) + "/" + name;
}

} // namespace ouzel::storage
