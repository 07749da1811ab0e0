#pragma once
#include <memory>

#include "catalog/object/large_object.hpp"
#include "executor/function/large_object_functions.hpp"
#include "storage/table/table.hpp"

namespace ouzel::engine {

class SessionCore;

/// The session's interface for the lo_ functions. The core outlives it.
std::unique_ptr<executor::LargeObjectFunctions> makeLargeObjectFunctions(SessionCore& core);

/// The table with the pages of a database's large objects; null: it has had none.
std::shared_ptr<storage::Table> largeObjectTable(SessionCore& core);

/// Waits until no other transaction writes the object, and keeps others from it until this one ends. Then the catalog
/// shows what they have committed, under READ COMMITTED.
void lockLargeObject(SessionCore& core, Oid object);
/// Drops it, its comment and its pages. REQUIRES: the transaction has locked it.
void dropLargeObject(SessionCore& core, const catalog::LargeObject& object);
/// 42704 `large object 1 does not exist`.
[[noreturn]] void throwNoLargeObject(Oid object);
/// 42501 `must be owner of large object 1`, unless lo_compat_privileges is on.
void requireLargeObjectOwner(SessionCore& core, const catalog::LargeObject& object);

} // namespace ouzel::engine
