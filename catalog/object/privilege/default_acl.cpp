#include "catalog/object/privilege/default_acl.hpp"

#include <algorithm>

namespace ouzel::catalog {

namespace {

constexpr std::pair<AclKind, char> letters[] = {{AclKind::Table, 'r'},
                                                {AclKind::Sequence, 'S'},
                                                {AclKind::Function, 'f'},
                                                {AclKind::Type, 'T'},
                                                {AclKind::Schema, 'n'}};

} // namespace

char defaultAclLetter(AclKind kind) {
   for (const auto& [known, letter] : letters)
      if (known == kind) return letter;
   return '\0';
}

AclKind kindOf(const DefaultAcl& defaults) {
   for (const auto& [kind, letter] : letters)
      if (letter == defaults.objects) return kind;
   return AclKind::Table;
}

std::shared_ptr<const DefaultAcl> findDefaultAcl(const Snapshot& snapshot, Oid role, Oid schema, AclKind kind) {
   const ObjectPtr found =
       snapshot.object({ObjectKind::DefaultAcl, snapshot.database(), role, schema, defaultAclLetter(kind)});
   return std::static_pointer_cast<const DefaultAcl>(found);
}

std::vector<AclItem> builtinDefault(Oid role, Oid schema, AclKind kind) {
   return schema == invalidOid ? itemsOf({}, kind, role) : std::vector<AclItem>();
}

bool isBuiltinDefault(const std::vector<AclItem>& items, Oid role, Oid schema, AclKind kind) {
   const std::vector<AclItem> builtin = builtinDefault(role, schema, kind);
   return items.size() == builtin.size() && std::is_permutation(items.begin(), items.end(), builtin.begin());
}

Acl initialAcl(const Snapshot& snapshot, Oid owner, Oid schema, AclKind kind) {
   const auto everywhere = findDefaultAcl(snapshot, owner, invalidOid, kind);
   const auto here = schema == invalidOid ? nullptr : findDefaultAcl(snapshot, owner, schema, kind);
   if (!everywhere && !here) return {};
   std::vector<AclItem> items = everywhere ? everywhere->acl : builtinDefault(owner, invalidOid, kind);
   if (here)
      for (const AclItem& more : here->acl) {
         const auto known = std::find_if(items.begin(), items.end(), [&](const AclItem& item) {
            return item.grantee == more.grantee && item.grantor == more.grantor;
         });
         if (known == items.end()) {
            items.push_back(more);
            continue;
         }
         known->privileges |= more.privileges;
         known->grantOptions |= more.grantOptions;
      }
   std::sort(items.begin(), items.end(), [](const AclItem& a, const AclItem& b) {
      return std::pair(a.grantee, a.grantor) < std::pair(b.grantee, b.grantor);
   });
   return isBuiltinDefault(items, owner, invalidOid, kind) ? Acl() : Acl(std::move(items));
}

} // namespace ouzel::catalog
