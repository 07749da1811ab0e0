#pragma once
#include "engine/command/command.hpp"

struct RangeVar;

namespace ouzel::engine {

/// Where a new relation goes, and its name.
struct NewRelation {
   catalog::QualifiedName name;
   Oid schema = invalidOid;
   bool isTemporary = false;
   bool exists = false;

   catalog::Persistence persistence() const {
      return isTemporary ? catalog::Persistence::Temporary : catalog::Persistence::Permanent;
   }
};

/// Resolves the name of CREATE; makes the session's temporary schema when it is needed.
NewRelation newRelation(CommandContext& context, const ::RangeVar& name);
/// IF NOT EXISTS: says so in a notice and is true when there is one of the name.
bool skipsExisting(CommandContext& context, const NewRelation& target, bool ifNotExists);

} // namespace ouzel::engine
