#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/query/command_context.hpp"

// CREATE PUBLICATION and what changes publications afterwards. The database has them: who changes one locks the
// database against the others.

struct AlterPublicationStmt;
struct CreatePublicationStmt;
struct DropStmt;
struct RenameStmt;

namespace ouzel::engine {

/// Warns, as PostgreSQL does with wal_level = replica, that nobody can subscribe.
std::string createPublication(CommandContext& context, const ::CreatePublicationStmt& statement);
/// ALTER PUBLICATION ... SET (options), and ADD, DROP and SET of tables and schemas.
std::string alterPublication(CommandContext& context, const ::AlterPublicationStmt& statement);
std::string dropPublications(CommandContext& context, const ::DropStmt& statement);
std::string renamePublication(CommandContext& context, const ::RenameStmt& statement);
void changePublicationOwner(SessionCore& core, const std::string& name, Oid owner);
void commentOnPublication(SessionCore& core, const std::string& name, const std::string& text);
/// REASSIGN OWNED.
void reassignPublications(SessionCore& core, Oid from, Oid to);
/// DROP OWNED.
void dropPublicationsOf(SessionCore& core, Oid owner);

/// Filters that read a column that gets another name. Made before the column is renamed, put afterwards.
class RenamedFilters {
public:
   RenamedFilters(SessionCore& core, const catalog::Relation& table, int16_t attribute, const std::string& name);
   void put(SessionCore& core) const;

private:
   std::map<Oid, std::string> changed_; ///< by the OID of the publication's entry
};

/// Locks the publications if they name one of the objects, relations or schemas, which will fall: another transaction
/// may be changing them.
void lockIfPublished(SessionCore& core, const std::vector<Oid>& objects);
/// Throws 0A000 if a column list or a filter needs the column.
void requireNotPublished(SessionCore& core, const catalog::Relation& table, int16_t attribute);
/// Throws 55000 if a publication names the table: it cannot become unlogged.
void requireInNoPublication(SessionCore& core, const catalog::Relation& table);

} // namespace ouzel::engine
