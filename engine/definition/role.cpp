#include <algorithm>
#include <charconv>

#include "engine/definition/definition.hpp"
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

/// Whether a text is base64 of `bytes` bytes; 0: of any number, but none.
bool isBase64(std::string_view text, size_t bytes = 0) {
   if (text.empty() || text.size() % 4 != 0) return false;
   size_t padding = 0;
   while (padding < 2 && text[text.size() - 1 - padding] == '=')
      ++padding;
   const auto isDigit = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
   };
   return std::all_of(text.begin(), text.end() - static_cast<ptrdiff_t>(padding), isDigit) &&
          (bytes == 0 || text.size() / 4 * 3 - padding == bytes);
}

/// Whether a text is SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>. What is not could never let anybody in.
bool isScramVerifier(std::string_view text) {
   constexpr std::string_view mechanism = "SCRAM-SHA-256$";
   constexpr size_t keyBytes = 32;
   if (!text.starts_with(mechanism)) return false;
   text.remove_prefix(mechanism.size());
   const size_t colon = text.find(':'), dollar = text.find('$'), last = text.rfind(':');
   if (colon == std::string_view::npos || dollar == std::string_view::npos || colon > dollar || last < dollar)
      return false;
   int32_t iterations = 0;
   const auto number = std::from_chars(text.data(), text.data() + colon, iterations);
   return number.ec == std::errc() && number.ptr == text.data() + colon && iterations > 0 &&
          isBase64(text.substr(colon + 1, dollar - colon - 1)) &&
          isBase64(text.substr(dollar + 1, last - dollar - 1), keyBytes) && isBase64(text.substr(last + 1), keyBytes);
}

void applyOptions(catalog::Role& role, const ::List* options) {
   for (const ::DefElem* option : ListOf<::DefElem>(options)) {
      const std::string_view name = option->defname;
      if (name == "password") {
         const std::string verifier = option->arg ? sql::stringOf(option->arg).data() : "";
         // The verifier is made by the client (psql's \password) or by the server room; plain text never gets here.
         if (!verifier.empty() && !isScramVerifier(verifier))
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
      if (statement.missing_ok && !context.core.transaction.catalog().findRole(name))
         context.core.notice("role \"" + name + "\" does not exist, skipping");
      else
         context.core.transaction.editor().dropRole(name, false);
   }
   return "DROP ROLE";
}

} // namespace ouzel::engine
