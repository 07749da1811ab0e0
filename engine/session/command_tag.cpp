#include "engine/session/command_tag.hpp"

#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::ListOf;
using sql::textOf;

namespace {

bool isAnalyze(const ::ExplainStmt& statement) {
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options))
      if (textOf(option->defname) == "analyze") return true;
   return false;
}

std::string_view dropTag(::ObjectType type) {
   switch (type) {
   case OBJECT_TABLE: return "DROP TABLE";
   case OBJECT_VIEW: return "DROP VIEW";
   case OBJECT_INDEX: return "DROP INDEX";
   case OBJECT_SEQUENCE: return "DROP SEQUENCE";
   case OBJECT_SCHEMA: return "DROP SCHEMA";
   case OBJECT_FUNCTION: return "DROP FUNCTION";
   case OBJECT_TYPE: return "DROP TYPE";
   case OBJECT_DOMAIN: return "DROP DOMAIN";
   case OBJECT_EXTENSION: return "DROP EXTENSION";
   case OBJECT_MATVIEW: return "DROP MATERIALIZED VIEW";
   case OBJECT_TRIGGER: return "DROP TRIGGER";
   default: return "DROP";
   }
}

std::string_view alterTag(::ObjectType type) {
   switch (type) {
   case OBJECT_INDEX: return "ALTER INDEX";
   case OBJECT_SEQUENCE: return "ALTER SEQUENCE";
   case OBJECT_VIEW: return "ALTER VIEW";
   case OBJECT_SCHEMA: return "ALTER SCHEMA";
   case OBJECT_ROLE: return "ALTER ROLE";
   default: return "ALTER TABLE"; // also of columns and constraints
   }
}

std::string_view transactionTag(::TransactionStmtKind kind) {
   switch (kind) {
   case TRANS_STMT_BEGIN: return "BEGIN";
   case TRANS_STMT_START: return "START TRANSACTION";
   case TRANS_STMT_COMMIT: return "COMMIT";
   case TRANS_STMT_ROLLBACK:
   case TRANS_STMT_ROLLBACK_TO: return "ROLLBACK";
   case TRANS_STMT_SAVEPOINT: return "SAVEPOINT";
   case TRANS_STMT_RELEASE: return "RELEASE";
   default: return "PREPARE TRANSACTION";
   }
}

std::string_view variableTag(const ::VariableSetStmt& statement) {
   return statement.kind == VAR_RESET || statement.kind == VAR_RESET_ALL ? "RESET" : "SET";
}

} // namespace

StatementClass classOf(const ::Node* node) {
   switch (nodeTag(node)) {
   case T_SelectStmt: return as<::SelectStmt>(node)->intoClause ? StatementClass::Definition : StatementClass::Other;
   case T_InsertStmt:
   case T_UpdateStmt:
   case T_DeleteStmt:
   case T_MergeStmt:
   case T_TruncateStmt: return StatementClass::Modifies;
   case T_CopyStmt: return as<::CopyStmt>(node)->is_from ? StatementClass::Modifies : StatementClass::Other;
   case T_PrepareStmt: return classOf(as<::PrepareStmt>(node)->query);
   case T_ExplainStmt: {
      const auto& explain = *as<::ExplainStmt>(node);
      return isAnalyze(explain) ? classOf(explain.query) : StatementClass::Other;
   }
   case T_TransactionStmt:
   case T_VariableSetStmt:
   case T_VariableShowStmt:
   case T_ExecuteStmt:
   case T_DeallocateStmt:
   case T_DeclareCursorStmt:
   case T_FetchStmt:
   case T_ClosePortalStmt:
   case T_DiscardStmt:
   case T_ConstraintsSetStmt:
   case T_LockStmt:
   case T_VacuumStmt:
   case T_CheckPointStmt:
   case T_ListenStmt:
   case T_NotifyStmt:
   case T_UnlistenStmt:
   case T_ReindexStmt:
   case T_LoadStmt:
   case T_CallStmt:
   case T_DoStmt: return StatementClass::Other;
   default: return StatementClass::Definition; // CREATE, ALTER, DROP, COMMENT, GRANT and their like
   }
}

// Long because there are many kinds.
std::string_view commandTag(const ::Node* node) {
   switch (nodeTag(node)) {
   case T_SelectStmt: return as<::SelectStmt>(node)->intoClause ? "SELECT INTO" : "SELECT";
   case T_InsertStmt: return "INSERT";
   case T_UpdateStmt: return "UPDATE";
   case T_DeleteStmt: return "DELETE";
   case T_MergeStmt: return "MERGE";
   case T_TruncateStmt: return "TRUNCATE TABLE";
   case T_CopyStmt: return "COPY";
   case T_TransactionStmt: return transactionTag(as<::TransactionStmt>(node)->kind);
   case T_VariableSetStmt: return variableTag(*as<::VariableSetStmt>(node));
   case T_VariableShowStmt: return "SHOW";
   case T_CreateStmt: return "CREATE TABLE";
   case T_CreateTableAsStmt: return "CREATE TABLE AS";
   case T_ViewStmt: return "CREATE VIEW";
   case T_CreateSchemaStmt: return "CREATE SCHEMA";
   case T_IndexStmt: return "CREATE INDEX";
   case T_CreateSeqStmt: return "CREATE SEQUENCE";
   case T_AlterSeqStmt: return "ALTER SEQUENCE";
   case T_DropStmt: return dropTag(as<::DropStmt>(node)->removeType);
   case T_AlterTableStmt: return alterTag(as<::AlterTableStmt>(node)->objtype);
   case T_RenameStmt: return alterTag(as<::RenameStmt>(node)->renameType);
   case T_AlterObjectSchemaStmt: return alterTag(as<::AlterObjectSchemaStmt>(node)->objectType);
   case T_AlterOwnerStmt: return alterTag(as<::AlterOwnerStmt>(node)->objectType);
   case T_CommentStmt: return "COMMENT";
   case T_CreateRoleStmt: return "CREATE ROLE";
   case T_AlterRoleStmt: return "ALTER ROLE";
   case T_DropRoleStmt: return "DROP ROLE";
   case T_GrantStmt:
   case T_GrantRoleStmt: return "GRANT";
   case T_ExplainStmt: return "EXPLAIN";
   case T_VacuumStmt: return as<::VacuumStmt>(node)->is_vacuumcmd ? "VACUUM" : "ANALYZE";
   case T_CheckPointStmt: return "CHECKPOINT";
   case T_PrepareStmt: return "PREPARE";
   case T_ExecuteStmt: return "EXECUTE";
   case T_DeallocateStmt: return as<::DeallocateStmt>(node)->name ? "DEALLOCATE" : "DEALLOCATE ALL";
   case T_DeclareCursorStmt: return "DECLARE CURSOR";
   case T_FetchStmt: return as<::FetchStmt>(node)->ismove ? "MOVE" : "FETCH";
   case T_ClosePortalStmt: return as<::ClosePortalStmt>(node)->portalname ? "CLOSE CURSOR" : "CLOSE CURSOR ALL";
   case T_DiscardStmt: return "DISCARD";
   case T_ConstraintsSetStmt: return "SET CONSTRAINTS";
   case T_LockStmt: return "LOCK TABLE";
   case T_ListenStmt: return "LISTEN";
   case T_NotifyStmt: return "NOTIFY";
   case T_UnlistenStmt: return "UNLISTEN";
   case T_DoStmt: return "DO";
   default: return "???"; // as PostgreSQL calls what it does not know
   }
}

} // namespace ouzel::engine
