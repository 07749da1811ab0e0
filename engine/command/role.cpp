#include "engine/command/command.hpp"
#include "sql/parse/node_access.hpp"

// CREATE, ALTER and DROP ROLE.

namespace ouzel::engine {

using sql::as;
using sql::ListOf;
using sql::textOf;

namespace {

bool flagOf(const ::DefElem& option) {
   return !option.arg || as<::Boolean>(option.arg)->boolval;
}

void applyOptions(catalog::Role& role, const ::List* options) {
   for (const ::DefElem* option : ListOf<::DefElem>(options)) {
      const std::string_view name = option->defname;
      if (name == "password") {
         const std::string verifier = option->arg ? sql::stringOf(option->arg).data() : "";
         // The verifier is made by the client (psql's \password) or by the server room; plain text never gets here.
         if (!verifier.empty() && verifier.rfind("SCRAM-SHA-256$", 0) != 0)
            throwNotSupported("a password that is not a SCRAM-SHA-256 verifier");
         role.verifier = verifier;
      } else if (name == "superuser") {
         role.isSuperuser = flagOf(*option);
      } else if (name == "canlogin") {
         role.canLogin = flagOf(*option);
      } else if (name == "createdb") {
         role.createsDatabases = flagOf(*option);
      } else if (name == "createrole") {
         role.createsRoles = flagOf(*option);
      } else if (name == "inherit") {
         role.inherits = flagOf(*option);
      } else if (name == "isreplication") {
         role.canReplicate = flagOf(*option);
      } else if (name == "bypassrls") {
         role.bypassesRls = flagOf(*option);
      } else if (name == "connectionlimit") {
         role.connectionLimit = as<::Integer>(option->arg)->ival;
      } else {
         throwNotSupported("role option " + std::string(name));
      }
   }
}

catalog::RolePtr requireRole(const catalog::Snapshot& snapshot, const std::string& name) {
   if (auto role = snapshot.findRole(name)) return role;
   throw SqlError(sqlstate::undefinedObject, "role \"" + name + "\" does not exist");
}

} // namespace

std::string createRole(CommandContext& context, const ::CreateRoleStmt& statement) {
   requireWritable(context.core, "CREATE ROLE");
   catalog::Role role;
   role.name = statement.role;
   role.canLogin = statement.stmt_type == ROLESTMT_USER;
   applyOptions(role, statement.options);
   context.core.transaction.editor().createRole(std::move(role));
   return "CREATE ROLE";
}

std::string alterRole(CommandContext& context, const ::AlterRoleStmt& statement) {
   requireWritable(context.core, "ALTER ROLE");
   const std::string name =
       statement.role->roletype == ROLESPEC_CSTRING ? statement.role->rolename : context.core.user();
   catalog::Role role = *requireRole(context.core.transaction.catalog(), name);
   applyOptions(role, statement.options);
   context.core.transaction.editor().replaceRole(std::move(role));
   return "ALTER ROLE";
}

std::string dropRole(CommandContext& context, const ::DropRoleStmt& statement) {
   requireWritable(context.core, "DROP ROLE");
   for (const ::RoleSpec* role : ListOf<::RoleSpec>(statement.roles)) {
      const std::string name(textOf(role->rolename));
      if (name == context.core.user()) throw SqlError(sqlstate::objectInUse, "current user cannot be dropped");
      context.core.transaction.editor().dropRole(name, statement.missing_ok);
   }
   return "DROP ROLE";
}

} // namespace ouzel::engine
