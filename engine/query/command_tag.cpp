#include "engine/query/command_tag.hpp"

#include "common/audit/classes.hpp"
#include "common/text/ascii.hpp"
#include "engine/query/object_kind.hpp"
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

namespace {

uint32_t auditClass(const ::Node* node) {
   switch (nodeTag(node)) {
   case T_SelectStmt: return as<::SelectStmt>(node)->intoClause ? audit_class::ddl : audit_class::read;
   case T_DeclareCursorStmt: return audit_class::read;
   case T_CopyStmt: return as<::CopyStmt>(node)->is_from ? audit_class::write : audit_class::read;
   case T_PrepareStmt: return audit_class::misc;
   case T_ExplainStmt: {
      const auto& explain = *as<::ExplainStmt>(node);
      return isAnalyze(explain) ? auditClass(explain.query) : audit_class::misc;
   }
   case T_CreateRoleStmt:
   case T_AlterRoleStmt:
   case T_AlterRoleSetStmt:
   case T_DropRoleStmt:
   case T_GrantRoleStmt:
   case T_GrantStmt:
   case T_AlterDefaultPrivilegesStmt:
   case T_ReassignOwnedStmt:
   case T_DropOwnedStmt: return audit_class::role;
   default: break;
   }
   switch (classOf(node)) {
   case StatementClass::Modifies: return audit_class::write;
   case StatementClass::Definition: return audit_class::ddl;
   case StatementClass::Other: return audit_class::misc;
   }
   return audit_class::misc;
}

bool setsAudit(const ::VariableSetStmt& statement) {
   return statement.kind == VAR_RESET_ALL || lowerCase(textOf(statement.name)).starts_with("ouzel.audit");
}

} // namespace

AuditTraits auditTraits(const ::Node* node) {
   AuditTraits traits;
   traits.classes = auditClass(node);
   if (nodeTag(node) == T_CreateSchemaStmt)
      for (const ::Node* element : ListOf<>(as<::CreateSchemaStmt>(node)->schemaElts))
         traits.classes |= auditClass(element); // GRANT among them
   traits.isControl = nodeTag(node) == T_TransactionStmt;
   if (nodeTag(node) == T_AlterRoleSetStmt) traits.changesAudit = setsAudit(*as<::AlterRoleSetStmt>(node)->setstmt);
   if (nodeTag(node) == T_AlterDatabaseSetStmt)
      traits.changesAudit = setsAudit(*as<::AlterDatabaseSetStmt>(node)->setstmt);
   return traits;
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
   case T_CreateTableAsStmt:
      return as<::CreateTableAsStmt>(node)->objtype == OBJECT_MATVIEW ? "CREATE MATERIALIZED VIEW" : "CREATE TABLE AS";
   case T_ViewStmt: return "CREATE VIEW";
   case T_CreateSchemaStmt: return "CREATE SCHEMA";
   case T_IndexStmt: return "CREATE INDEX";
   case T_CreateSeqStmt: return "CREATE SEQUENCE";
   case T_AlterSeqStmt: return "ALTER SEQUENCE";
   case T_DropStmt: return tagOf(Verb::Drop, as<::DropStmt>(node)->removeType);
   case T_AlterTableStmt: return tagOf(Verb::Alter, as<::AlterTableStmt>(node)->objtype);
   case T_RenameStmt: return tagOf(Verb::Alter, as<::RenameStmt>(node)->renameType);
   case T_AlterObjectSchemaStmt: return tagOf(Verb::Alter, as<::AlterObjectSchemaStmt>(node)->objectType);
   case T_AlterOwnerStmt: return tagOf(Verb::Alter, as<::AlterOwnerStmt>(node)->objectType);
   case T_CommentStmt: return "COMMENT";
   case T_CreateRoleStmt: return "CREATE ROLE";
   case T_AlterRoleStmt: return "ALTER ROLE";
   case T_DropRoleStmt: return "DROP ROLE";
   case T_GrantStmt: return as<::GrantStmt>(node)->is_grant ? "GRANT" : "REVOKE";
   case T_GrantRoleStmt: return as<::GrantRoleStmt>(node)->is_grant ? "GRANT ROLE" : "REVOKE ROLE";
   case T_ExplainStmt: return "EXPLAIN";
   case T_VacuumStmt: return as<::VacuumStmt>(node)->is_vacuumcmd ? "VACUUM" : "ANALYZE";
   case T_CheckPointStmt: return "CHECKPOINT";
   case T_PrepareStmt: return "PREPARE";
   case T_ExecuteStmt: return "EXECUTE";
   case T_DeallocateStmt: return as<::DeallocateStmt>(node)->name ? "DEALLOCATE" : "DEALLOCATE ALL";
   case T_DeclareCursorStmt: return "DECLARE CURSOR";
   case T_FetchStmt: return as<::FetchStmt>(node)->ismove ? "MOVE" : "FETCH";
   case T_ClosePortalStmt: return as<::ClosePortalStmt>(node)->portalname ? "CLOSE CURSOR" : "CLOSE CURSOR ALL";
   case T_DiscardStmt:
      switch (as<::DiscardStmt>(node)->target) {
      case DISCARD_ALL: return "DISCARD ALL";
      case DISCARD_PLANS: return "DISCARD PLANS";
      case DISCARD_SEQUENCES: return "DISCARD SEQUENCES";
      case DISCARD_TEMP: return "DISCARD TEMP";
      }
      return "DISCARD";
   case T_ConstraintsSetStmt: return "SET CONSTRAINTS";
   case T_LockStmt: return "LOCK TABLE";
   case T_ListenStmt: return "LISTEN";
   case T_NotifyStmt: return "NOTIFY";
   case T_UnlistenStmt: return "UNLISTEN";
   case T_DoStmt: return "DO";
   case T_CallStmt: return "CALL";
   case T_LoadStmt: return "LOAD";
   case T_ClusterStmt: return "CLUSTER";
   case T_ReindexStmt: return "REINDEX";
   case T_RefreshMatViewStmt: return "REFRESH MATERIALIZED VIEW";
   case T_CreateFunctionStmt:
      return as<::CreateFunctionStmt>(node)->is_procedure ? "CREATE PROCEDURE" : "CREATE FUNCTION";
   case T_DefineStmt: return tagOf(Verb::Create, as<::DefineStmt>(node)->kind);
   case T_CompositeTypeStmt:
   case T_CreateEnumStmt:
   case T_CreateRangeStmt: return "CREATE TYPE";
   case T_CreateDomainStmt: return "CREATE DOMAIN";
   case T_CreateAmStmt: return "CREATE ACCESS METHOD";
   case T_CreateCastStmt: return "CREATE CAST";
   case T_CreateConversionStmt: return "CREATE CONVERSION";
   case T_CreateEventTrigStmt: return "CREATE EVENT TRIGGER";
   case T_CreateExtensionStmt: return "CREATE EXTENSION";
   case T_CreateFdwStmt: return "CREATE FOREIGN DATA WRAPPER";
   case T_CreateForeignServerStmt: return "CREATE SERVER";
   case T_CreateForeignTableStmt: return "CREATE FOREIGN TABLE";
   case T_CreateOpClassStmt: return "CREATE OPERATOR CLASS";
   case T_CreateOpFamilyStmt: return "CREATE OPERATOR FAMILY";
   case T_CreatePLangStmt: return "CREATE LANGUAGE";
   case T_CreatePolicyStmt: return "CREATE POLICY";
   case T_CreatePublicationStmt: return "CREATE PUBLICATION";
   case T_CreateStatsStmt: return "CREATE STATISTICS";
   case T_CreateSubscriptionStmt: return "CREATE SUBSCRIPTION";
   case T_CreateTableSpaceStmt: return "CREATE TABLESPACE";
   case T_CreateTransformStmt: return "CREATE TRANSFORM";
   case T_CreateTrigStmt: return "CREATE TRIGGER";
   case T_CreateUserMappingStmt: return "CREATE USER MAPPING";
   case T_CreatedbStmt: return "CREATE DATABASE";
   case T_RuleStmt: return "CREATE RULE";
   case T_DropOwnedStmt: return "DROP OWNED";
   case T_ReassignOwnedStmt: return "REASSIGN OWNED";
   case T_DropSubscriptionStmt: return "DROP SUBSCRIPTION";
   case T_DropTableSpaceStmt: return "DROP TABLESPACE";
   case T_DropUserMappingStmt: return "DROP USER MAPPING";
   case T_DropdbStmt: return "DROP DATABASE";
   case T_AlterCollationStmt: return "ALTER COLLATION";
   case T_AlterDatabaseRefreshCollStmt:
   case T_AlterDatabaseStmt:
   case T_AlterDatabaseSetStmt: return "ALTER DATABASE";
   case T_AlterDefaultPrivilegesStmt: return "ALTER DEFAULT PRIVILEGES";
   case T_AlterDomainStmt: return "ALTER DOMAIN";
   case T_AlterEnumStmt:
   case T_AlterTypeStmt: return "ALTER TYPE";
   case T_AlterEventTrigStmt: return "ALTER EVENT TRIGGER";
   case T_AlterExtensionContentsStmt:
   case T_AlterExtensionStmt: return "ALTER EXTENSION";
   case T_AlterFdwStmt: return "ALTER FOREIGN DATA WRAPPER";
   case T_AlterForeignServerStmt: return "ALTER SERVER";
   case T_AlterFunctionStmt: return tagOf(Verb::Alter, as<::AlterFunctionStmt>(node)->objtype);
   case T_AlterObjectDependsStmt: return tagOf(Verb::Alter, as<::AlterObjectDependsStmt>(node)->objectType);
   case T_AlterOpFamilyStmt: return "ALTER OPERATOR FAMILY";
   case T_AlterOperatorStmt: return "ALTER OPERATOR";
   case T_AlterPolicyStmt: return "ALTER POLICY";
   case T_AlterPublicationStmt: return "ALTER PUBLICATION";
   case T_AlterRoleSetStmt: return "ALTER ROLE";
   case T_AlterStatsStmt: return "ALTER STATISTICS";
   case T_AlterSubscriptionStmt: return "ALTER SUBSCRIPTION";
   case T_AlterSystemStmt: return "ALTER SYSTEM";
   case T_AlterTSConfigurationStmt: return "ALTER TEXT SEARCH CONFIGURATION";
   case T_AlterTSDictionaryStmt: return "ALTER TEXT SEARCH DICTIONARY";
   case T_AlterTableMoveAllStmt: return tagOf(Verb::Alter, as<::AlterTableMoveAllStmt>(node)->objtype);
   case T_AlterTableSpaceOptionsStmt: return "ALTER TABLESPACE";
   case T_AlterUserMappingStmt: return "ALTER USER MAPPING";
   case T_ImportForeignSchemaStmt: return "IMPORT FOREIGN SCHEMA";
   case T_SecLabelStmt: return "SECURITY LABEL";
   default: return "???"; // as PostgreSQL calls what it does not know
   }
}

} // namespace ouzel::engine
