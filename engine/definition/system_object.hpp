#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/definition/definition.hpp"
#include "sql/parse/node_access.hpp"

// Objects of the kinds that cannot be created here: functions, operators, types, casts, languages, ... The built-in
// ones can be named by DROP, ALTER and COMMENT ON; all others do not exist.

namespace ouzel::engine {

struct SystemObject {
   Oid classOid = invalidOid, oid = invalidOid;
   std::string description;         ///< "function now()"
   std::string owner;               ///< what it falls with, and only with: "table t"; empty: nothing
   std::optional<SqlError> missing; ///< the error if there is no such object; all fields above are empty then
   std::string skipped;             ///< what IF EXISTS says of a missing object, without ", skipping"
};

/// The object that a parse node names, as DROP and COMMENT ON have it. Throws errors that IF EXISTS does not help
/// against: a name that is not unique, an object of another kind.
SystemObject findSystemObject(SessionCore& core, ::ObjectType type, const ::Node* object);
/// The object of a name: of a type, an extension, a text search parser, ...
SystemObject findSystemObject(SessionCore& core, ::ObjectType type, std::vector<std::string> name);
/// The trigger, rule or policy of a relation.
SystemObject findPartOfRelation(SessionCore& core, ::ObjectType type, catalog::QualifiedName relation,
                                const std::string& name);

} // namespace ouzel::engine
