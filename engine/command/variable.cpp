#include "engine/command/command.hpp"
#include "engine/core/privileges.hpp"
#include "engine/setting/set_statement.hpp"
#include "sql/parse/node_access.hpp"

// SET, RESET, SHOW.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

/// Lets the present transaction obey transaction_isolation, transaction_read_only or transaction_deferrable.
void applyToTransaction(TransactionContext& transaction, std::string_view name, const std::string& value) {
   if (name == "transaction_isolation")
      transaction.setIsolation(value);
   else if (name == "transaction_read_only")
      transaction.setReadOnly(value == "on");
   else if (name == "transaction_deferrable")
      transaction.setDeferrable(value == "on");
}

/// SET TRANSACTION and BEGIN's options, as DefElems.
void setTransactionOptions(CommandContext& context, const ::List* options, bool session) {
   for (const ::DefElem* option : ListOf<::DefElem>(options)) {
      const std::string name = option->defname;
      std::string value = constantText(option->arg);
      if (name != "transaction_isolation") value = value != "0" && value != "off" ? "on" : "off";
      if (session)
         context.core.settings.set("default_" + name, value, false);
      else
         applyToTransaction(context.core.transaction, name, value);
   }
}

} // namespace

bool setsRole(const ::VariableSetStmt& statement) {
   const std::string_view name = textOf(statement.name);
   return name == "role" || name == "session_authorization";
}

std::string setVariable(CommandContext& context, const ::VariableSetStmt& statement) {
   Settings& settings = context.core.settings;
   switch (statement.kind) {
   case VAR_SET_VALUE: {
      const std::string_view name = textOf(statement.name);
      if (statement.is_local && context.isTopLevel && !context.core.transaction.inBlock())
         context.core.warn(sqlstate::noActiveSqlTransaction, "SET LOCAL can only be used in transaction blocks");
      context.core.set(name, valueOf(statement), statement.is_local);
      if (name.starts_with("transaction_")) applyToTransaction(context.core.transaction, name, settings.valueOf(name));
      return "SET";
   }
   case VAR_SET_MULTI:
      if (textOf(statement.name) == "TRANSACTION") {
         if (context.isTopLevel && !context.core.transaction.inBlock())
            context.core.warn(sqlstate::noActiveSqlTransaction,
                              "SET TRANSACTION can only be used in transaction blocks");
         setTransactionOptions(context, statement.args, false);
      } else if (textOf(statement.name) == "SESSION CHARACTERISTICS") {
         setTransactionOptions(context, statement.args, true);
      } else if (textOf(statement.name) == "TRANSACTION SNAPSHOT") {
         if (context.isTopLevel && !context.core.transaction.inBlock())
            context.core.warn(sqlstate::noActiveSqlTransaction,
                              "SET TRANSACTION can only be used in transaction blocks");
         context.core.transaction.importSnapshot(valueOf(statement));
      } else {
         throwNotSupported("SET " + std::string(statement.name));
      }
      return "SET";
   case VAR_SET_DEFAULT: context.core.reset(statement.name); return "SET";
   case VAR_SET_CURRENT: context.core.set(statement.name, settings.valueOf(statement.name), false); return "SET";
   case VAR_RESET: context.core.reset(statement.name); return "RESET";
   case VAR_RESET_ALL: settings.resetAll(); return "RESET";
   }
   throwInternal("SET of an unknown kind");
}

std::vector<ResultColumn> showColumns(const ::VariableShowStmt& statement) {
   if (textOf(statement.name) == "all") return {textColumn("name"), textColumn("setting"), textColumn("description")};
   const SettingInfo* info = findSetting(statement.name);
   return {textColumn(info ? std::string(info->name) : std::string(statement.name))};
}

std::string showVariable(CommandContext& context, const ::VariableShowStmt& statement) {
   std::vector<std::vector<std::string>> rows;
   if (textOf(statement.name) == "all") {
      for (const SettingInfo& info : settingTable())
         if (!info.isHidden && (!info.isPrivileged || mayExamineSettings(context.core)))
            rows.push_back(
                {std::string(info.name), context.core.settings.show(info.name), std::string(info.description)});
   } else {
      rows.push_back({examineSetting(context.core, statement.name)});
   }
   emitTextRows(context.sink, showColumns(statement), rows);
   return "SHOW";
}

namespace {

std::string endBlock(CommandContext& context, const ::TransactionStmt& statement, bool commit) {
   TransactionContext& transaction = context.core.transaction;
   const TransactionContext::Characteristics characteristics = transaction.characteristics();
   std::string tag = commit ? "COMMIT" : "ROLLBACK";
   if (!transaction.inBlock()) {
      if (statement.chain)
         throw SqlError(sqlstate::noActiveSqlTransaction, tag + " AND CHAIN can only be used in transaction blocks");
      context.core.warn(sqlstate::noActiveSqlTransaction, "there is no transaction in progress");
      // Still, COMMIT and ROLLBACK outside a block end the implicit transaction of a script.
      commit ? transaction.commit() : transaction.rollback();
      return tag;
   }
   if (commit && !transaction.hasFailed()) {
      transaction.commit();
   } else {
      tag = "ROLLBACK";
      transaction.rollback();
   }
   if (statement.chain) {
      transaction.beginBlock();
      transaction.setCharacteristics(characteristics);
   }
   return tag;
}

} // namespace

std::string transactionControl(CommandContext& context, const ::TransactionStmt& statement) {
   TransactionContext& transaction = context.core.transaction;
   const auto requireBlock = [&](const char* command) {
      if (!transaction.inBlock())
         throw SqlError(sqlstate::noActiveSqlTransaction,
                        std::string(command) + " can only be used in transaction blocks");
   };
   switch (statement.kind) {
   case TRANS_STMT_BEGIN:
   case TRANS_STMT_START:
      if (transaction.inBlock())
         context.core.warn(sqlstate::activeSqlTransaction, "there is already a transaction in progress");
      else
         transaction.beginBlock();
      setTransactionOptions(context, statement.options, false);
      return statement.kind == TRANS_STMT_BEGIN ? "BEGIN" : "START TRANSACTION";
   case TRANS_STMT_COMMIT: return endBlock(context, statement, true);
   case TRANS_STMT_ROLLBACK: return endBlock(context, statement, false);
   case TRANS_STMT_SAVEPOINT:
      requireBlock("SAVEPOINT");
      transaction.savepoint(statement.savepoint_name);
      return "SAVEPOINT";
   case TRANS_STMT_RELEASE:
      requireBlock("RELEASE SAVEPOINT");
      transaction.releaseSavepoint(statement.savepoint_name);
      return "RELEASE";
   case TRANS_STMT_ROLLBACK_TO:
      requireBlock("ROLLBACK TO SAVEPOINT");
      transaction.rollbackToSavepoint(statement.savepoint_name);
      return "ROLLBACK";
   case TRANS_STMT_PREPARE:
      if (!transaction.inBlock() || transaction.hasFailed()) return endBlock(context, statement, false);
      return prepareTransaction(context, statement);
   case TRANS_STMT_COMMIT_PREPARED:
   case TRANS_STMT_ROLLBACK_PREPARED: return finishPrepared(context, statement);
   }
   throwInternal("unknown kind of transaction statement");
}

} // namespace ouzel::engine
