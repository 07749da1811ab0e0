#pragma once
#include <string>

#include "catalog/object/large_object.hpp"
#include "engine/core/session_core.hpp"

// What statements do with large objects besides reading and writing them: owners, comments.

namespace ouzel::engine {

/// The large object whose OID the statement has, which no other transaction writes until this one ends. Throws 42704 if
/// there is none.
catalog::LargeObjectPtr requireLargeObject(SessionCore& core, const ::Node* oid);
/// ALTER LARGE OBJECT ... OWNER TO.
void changeLargeObjectOwner(SessionCore& core, const ::Node* oid, Oid owner);
void commentOnLargeObject(SessionCore& core, const ::Node* oid, const std::string& text);
/// REASSIGN OWNED: gives the role's large objects to another.
void reassignLargeObjects(SessionCore& core, Oid from, Oid to);
/// DROP OWNED.
void dropLargeObjectsOf(SessionCore& core, Oid role);

} // namespace ouzel::engine
