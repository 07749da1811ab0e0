#pragma once
#include "engine/command/command.hpp"

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
/// Makes the sequence that `column` of `table`, which need not exist yet, draws from: an identity's (column.identity is
/// set) or a serial's. Sets the column's default.
void attachSequence(CommandContext& context, const catalog::Relation& table, catalog::Column& column, Oid type,
                    const ::List* options);
/// ALTER SEQUENCE with these options.
void changeSequence(CommandContext& context, const catalog::Relation& sequence,
                    std::span<const ::DefElem* const> options);
// identity.cpp: ALTER TABLE ... ALTER COLUMN ... ADD, SET, DROP IDENTITY
void addIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
void setIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
void dropIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command);
/// Back to where they started: TRUNCATE ... RESTART IDENTITY.
void restartOwnedSequences(SessionCore& core, const catalog::Relation& table);

} // namespace ouzel::engine
