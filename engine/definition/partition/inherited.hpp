#pragma once
#include "engine/query/command_context.hpp"

struct Constraint;
struct List;
struct RangeVar;

namespace ouzel::engine {

/// The parents that INHERITS or PARTITION OF names, locked. Throws 42809 for what nothing can inherit from, 42501 for
/// tables of others.
std::vector<catalog::RelationPtr> requireParents(CommandContext& context, const ::List* names, bool isPartition,
                                                 bool isTemporary);
/// The columns that a new table inherits, in the order of its parents; columns of one name are merged, with a notice.
/// Throws 42804 and 42P16 where they do not agree.
std::vector<catalog::Column> inheritedColumns(CommandContext& context,
                                              const std::vector<catalog::RelationPtr>& parents);
/// Whether two expressions of the catalog are the same, however they are written. `table`: whose columns they read;
/// null: none. `type`: of a default.
bool isSameExpression(CommandContext& context, const std::string& a, const std::string& b,
                      const catalog::Relation* table, std::optional<SqlType> type);
/// Marks an inherited column in a draft whose parents have different defaults, as its defaultOid.
inline constexpr Oid conflictingDefault = 1;
/// A parent's CHECK constraint as its heir has it.
catalog::Constraint checkFor(CommandContext& context, const catalog::Relation& heir, const catalog::Constraint& check);
/// The CHECK constraints that a table with these columns inherits. Throws 42710 if two of one name differ.
std::vector<catalog::Constraint> inheritedChecks(CommandContext& context,
                                                 const std::vector<catalog::RelationPtr>& parents,
                                                 const catalog::Relation& heir);
/// Throws 42804 or 42P16 if a column that the new table declares does not agree with that which it inherits; otherwise
/// tells the client that they are merged. `position`: of the declared one among the columns of the statement, from 1.
void mergeInto(CommandContext& context, const catalog::Column& inherited, const catalog::Column& declared,
               int16_t position);

/// Throws 42P16: an heir computes a generated column as its parent does, and nothing else.
[[noreturn]] void throwGenerationConflict(const catalog::Column& inherited, const ::Constraint& declared);

/// Adds CHECK constraints of a parent to an heir that has them not, or counts those that it has as inherited. Rows of
/// the heir are checked if the constraint is valid.
void inheritCheck(CommandContext& context, Oid heir, const catalog::Constraint& check);

} // namespace ouzel::engine
