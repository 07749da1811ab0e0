#include "engine/role/large_object.hpp"

#include "catalog/object/acl.hpp"
#include "catalog/object/membership.hpp"
#include "common/text/number_text.hpp"
#include "engine/core/large_objects.hpp"
#include "engine/core/privileges.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::LargeObject;
using catalog::LargeObjectPtr;

namespace {

/// Integers that need more than 31 bits are decimal fractions to the grammar.
Oid oidOf(const ::Node* node) {
   if (!sql::isNode(node, T_Float)) return static_cast<Oid>(sql::as<::Integer>(node)->ival);
   const std::string_view text = sql::as<::Float>(node)->fval;
   uint32_t oid = 0;
   switch (parseUnsigned32(text, oid)) {
   case ParseStatus::Ok: return oid;
   case ParseStatus::OutOfRange: throwValueOutOfRange("oid", text);
   default: throwInvalidSyntax("oid", text);
   }
}

void giveTo(SessionCore& core, const LargeObject& object, Oid owner) {
   LargeObject changed = object;
   changed.acl = catalog::handedOver(changed.acl, object.owner, owner);
   changed.owner = owner;
   core.transaction.editor().replaceLargeObject(std::move(changed));
}

} // namespace

LargeObjectPtr requireLargeObject(SessionCore& core, const ::Node* node) {
   const Oid oid = oidOf(node);
   if (core.transaction.catalog().largeObject(oid)) lockLargeObject(core, oid);
   LargeObjectPtr found = core.transaction.catalog().largeObject(oid);
   if (!found) throwNoLargeObject(oid);
   return found;
}

void changeLargeObjectOwner(SessionCore& core, const ::Node* oid, Oid owner) {
   const LargeObjectPtr object = requireLargeObject(core, oid);
   if (object->owner == owner) return;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!catalog::isSuperuser(snapshot, core.role())) {
      requireRight(actsFor(core, object->owner), "must be owner of large object " + std::to_string(object->oid));
      requireRight(catalog::isMemberOf(snapshot, core.role(), owner),
                   "must be member of role \"" + snapshot.role(owner)->name + "\"");
   }
   giveTo(core, *object, owner);
}

void commentOnLargeObject(SessionCore& core, const ::Node* oid, const std::string& text) {
   const LargeObjectPtr object = requireLargeObject(core, oid);
   requireLargeObjectOwner(core, *object);
   core.transaction.editor().setComment(catalog::class_oid::pgLargeObject, object->oid, 0, text);
}

void reassignLargeObjects(SessionCore& core, Oid from, Oid to) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const LargeObjectPtr& object : snapshot.largeObjects())
      if (object->owner == from) {
         lockLargeObject(core, object->oid);
         if (const LargeObjectPtr still = core.transaction.catalog().largeObject(object->oid)) giveTo(core, *still, to);
      }
}

void dropLargeObjectsOf(SessionCore& core, Oid role) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const LargeObjectPtr& object : snapshot.largeObjects()) {
      if (object->owner != role) continue;
      lockLargeObject(core, object->oid);
      if (const LargeObjectPtr still = core.transaction.catalog().largeObject(object->oid))
         dropLargeObject(core, *still);
   }
}

} // namespace ouzel::engine
