#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/snapshot.hpp"
#include "common/value/sql_type.hpp"

// Values of type aclitem, which are texts: "alice=r*w/postgres" says that postgres granted alice SELECT, which she may
// grant, and UPDATE. As in PostgreSQL's output, a role that is gone stands there as its OID.

namespace ouzel {
struct SessionFormat;
}

namespace ouzel::catalog {

constexpr bool isAclType(Oid type) {
   return type == oid::aclitem || type == oid::aclitemArray;
}

std::string formatAclItem(const Snapshot& snapshot, const AclItem& item);
/// The item of a value. Throws 42704 for a role that has got another name since.
AclItem readAclItem(const Snapshot& snapshot, std::string_view value);
/// The items of an aclitem[]. Throws 22023 for several dimensions, 22004 for NULLs.
std::vector<AclItem> readAcl(const Snapshot& snapshot, std::string_view array);
std::string makeAcl(const Snapshot& snapshot, const std::vector<AclItem>& items);

/// The value of type aclitem or aclitem[] for a text. Throws what PostgreSQL's input functions do.
std::string parseAclText(const Snapshot& snapshot, const SqlType& type, std::string_view text,
                         const SessionFormat& format);

/// acldefault(): what the owner and PUBLIC have of an object while nobody has granted anything. Empty for an unknown
/// letter.
std::optional<std::vector<AclItem>> defaultItems(char objectKind, Oid owner);
/// The bit of "select" or "TEMP"; 0 for RULE, which older versions had. Throws 22023.
uint32_t requirePrivilege(std::string_view name);

} // namespace ouzel::catalog
