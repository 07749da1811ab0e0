#pragma once
#include "catalog/builtin/builtin.hpp"
#include "catalog/object/objects.hpp"

// The casts of CREATE CAST.

namespace ouzel::catalog {

/// Copies of a database have the casts of the original under the same OIDs.
struct Cast : CatalogObject {
   Oid database = invalidOid, oid = invalidOid;
   SqlType source, target;    ///< without a length; may be domains
   Oid function = invalidOid; ///< of the method Function: of a user, or a built-in one
   CastContext context = CastContext::Explicit;
   CastMethod method = CastMethod::Function;

   Cast() : CatalogObject(ObjectKind::Cast) {}
};

} // namespace ouzel::catalog
