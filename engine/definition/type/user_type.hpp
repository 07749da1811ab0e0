#pragma once
#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"

// What composite types and domains have in common: their names, DROP, and where they are used.

namespace ouzel::engine {

/// The name in a TypeName or a list of strings.
catalog::QualifiedName typeNameOf(const ::Node* name);
/// The composite type or domain of the name; null if the name is another one's.
catalog::RelationPtr findUserType(CommandContext& context, const ::Node* name);
/// The name and schema of a type that CREATE is going to make.
NewRelation newType(CommandContext& context, const ::List* name);
/// Throws 42704 for a shell type. `name`: by which the statement names it.
void requireDefined(const catalog::Relation& type, const ::Node* name);
/// Throws 42710 if the schema has a type of this name that is not a shell type, which CREATE defines.
void requireNewType(SessionCore& core, Oid schema, std::string_view name);
/// `permission denied for type x`, unless the current role may make columns and domains of the type.
void requireTypeUsage(SessionCore& core, const SqlType& type);
/// Whether values of `type` are, or contain, values of the relation's row type or of the domain that it is.
bool isMadeOf(const catalog::Snapshot& snapshot, const SqlType& type, const catalog::Relation& relation);
/// Throws 42P16 if a column of this type would make the relation's row type a part of itself.
void requireNoCycle(SessionCore& core, const catalog::Relation& relation, const SqlType& type);
/// Throws 0A000 if a text of the catalog (of a view, a check, a default) may have the name of a type or of a field: a
/// rename or DROP would break it, and texts do not say which types they name.
void requireNotInTexts(SessionCore& core, std::string_view name, bool isField, std::string_view feature);
/// Writes the rows anew that have values of the relation's row type, whose columns have changed.
void refreshRowValues(SessionCore& core, Oid relation);
/// DROP TYPE and DROP DOMAIN. False: they name another type, which only the system has.
bool dropUserTypes(CommandContext& context, const ::DropStmt& statement);

} // namespace ouzel::engine
