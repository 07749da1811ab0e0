#pragma once
#include "engine/definition/definition.hpp"

struct AlterSeqStmt;
struct AlterTableCmd;
struct CreateSeqStmt;
struct DefElem;
struct List;
struct TypeName;

namespace ouzel::engine {

std::string createSequence(CommandContext& context, const ::CreateSeqStmt& statement);
std::string alterSequence(CommandContext& context, const ::AlterSeqStmt& statement);

/// The integer type behind serial, bigserial, smallserial and their synonyms; invalidOid for other types.
Oid serialType(const ::TypeName& name);
/// Makes the sequence behind `column` of `table` and sets the column's default: an identity's sequence (column.identity
/// is set) or a serial's. The table need not exist yet.
void attachSequence(CommandContext& context, const catalog::Relation& table, catalog::Column& column, Oid type,
                    const ::List* options);
/// Makes the sequence of an identity column that LIKE copies, with the definition of the original's sequence.
void attachSequence(CommandContext& context, const catalog::Relation& table, catalog::Column& column,
                    const catalog::SequenceDefinition& definition);
/// ALTER SEQUENCE with these options.
void changeSequence(CommandContext& context, const catalog::Relation& sequence,
                    std::span<const ::DefElem* const> options);
// identity.cpp: ALTER TABLE ... ALTER COLUMN ... ADD, SET, DROP IDENTITY
void addIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
void setIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
void dropIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
/// TRUNCATE ... RESTART IDENTITY: sets the sequences that the table owns back to their start values.
void restartOwnedSequences(SessionCore& core, const catalog::Relation& table);

} // namespace ouzel::engine
