#pragma once
#include "engine/definition/definition.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

/// Throws 0A000 for a view WITH CHECK OPTION that is not automatically updatable; `reason`: why not, or empty.
void requireUpdatable(const std::string& reason);

/// Throws 42809 unless ALTER for objects of `type` may name the relation: ALTER TABLE may name views, indexes and
/// sequences as well. ALTER INDEX ... RENAME may name any relation.
void requireAlterable(SessionCore& core, const catalog::Relation& relation, ::ObjectType type, bool isRename);
/// "This operation is not supported for sequences."
std::string unsupportedFor(const catalog::Relation& relation);

/// A sub-command of ALTER TABLE for a relation that is no table: OWNER TO, SET (...), RESET (...), or 42809.
void alterOther(CommandContext& context, Oid relation, const ::AlterTableCmd& command);
/// Throws 42809 `ALTER action SET cannot be performed on relation "x"`.
[[noreturn]] void refuseAction(const catalog::Relation& relation, const ::AlterTableCmd& command);
/// SET (...) and RESET (...) of tables, indexes and views.
void changeOptions(CommandContext& context, const catalog::Relation& relation, const ::AlterTableCmd& command);
/// Gives a relation that is there its options.
void setOptions(catalog::CatalogEditor& editor, Oid relation, RelationOptions options);
/// Gives a relation an owner, and what the old one held and granted. Checks nothing; what belongs to the relation
/// stays.
void setOwner(catalog::CatalogEditor& editor, const catalog::Relation& relation, Oid owner);
void setOwner(catalog::CatalogEditor& editor, const catalog::Schema& schema, Oid owner);
/// Throws 42501 unless who acts may give objects of a schema to a role: only who may become it does, and only where it
/// could make them. invalidOid: objects without a schema.
void requireNewOwner(SessionCore& core, Oid owner, Oid schema);
/// OWNER TO. The indexes and sequences of a table go with it; an index alone stays with its table, with a warning.
void changeOwner(CommandContext& context, const catalog::Relation& relation, const ::RoleSpec& role);

} // namespace ouzel::engine
