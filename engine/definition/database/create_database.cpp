#include "common/text/ascii.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/database/copy_contents.hpp"
#include "engine/definition/database/database.hpp"
#include "engine/definition/database/database_clauses.hpp"
#include "engine/definition/database/database_users.hpp"
#include "engine/role/actor.hpp"
#include "executor/function/text/collation_version.hpp"
#include "sql/parse/node_access.hpp"

// CREATE DATABASE: a row of pg_database, and copies of the template's objects.

namespace ouzel::engine {

namespace {

const std::vector<std::string_view> createOptions = {"tablespace",
                                                     "owner",
                                                     "template",
                                                     "encoding",
                                                     "locale",
                                                     "lc_collate",
                                                     "lc_ctype",
                                                     "icu_locale",
                                                     "locale_provider",
                                                     "is_template",
                                                     "allow_connections",
                                                     "connection_limit",
                                                     "location",
                                                     "collation_version",
                                                     "oid",
                                                     "strategy"};

/// Throws 42809 for what is no locale of libc, and 0A000 for one but C.
void requireLocale(const std::string& name) {
   if (name == "C" || name == "POSIX" || name.empty()) return; // "": the server's own
   const std::string word = lowerCase(name);
   const size_t language = std::min(name.find_first_of("_.@"), name.size());
   const bool isLanguage = (language == 2 || language == 3) && language < name.size() &&
                           std::all_of(name.begin(), name.begin() + static_cast<ptrdiff_t>(language),
                                       [](char c) { return c >= 'a' && c <= 'z'; });
   if (isLanguage || word == "c.utf8" || word == "c.utf-8")
      throwNotSupported("a database with the locale \"" + name + "\"");
   throw SqlError(sqlstate::wrongObjectType, "invalid locale name: \"" + name + "\"");
}

/// The checks of CREATE DATABASE in PostgreSQL's order, and the database that they leave.
class NewDatabase {
public:
   NewDatabase(CommandContext& context, const ::CreatedbStmt& statement)
      : core_(context.core), options_(context, statement.options, createOptions) {
      draft_.name = statement.dbname;
   }

   void readOptions() {
      if (options_.isGiven("location"))
         core_.notices.notice({Notice::Severity::Warning,
                               sqlstate::featureNotSupported,
                               "LOCATION is not supported anymore",
                               {},
                               "Consider using tablespaces instead."});
      if (const auto oid = options_.oid("oid")) {
         if (*oid < firstUserOid)
            throw SqlError(sqlstate::invalidParameterValue, "OIDs less than " +
                                                                std::to_string(static_cast<uint32_t>(firstUserOid)) +
                                                                " are reserved for system objects");
         draft_.oid = *oid;
      }
      encoding_ = options_.encoding();
      icuLocale_ = options_.text("icu_locale");
      if (const auto provider = options_.text("locale_provider")) {
         const std::string name = lowerCase(*provider);
         if (name != "icu" && name != "libc")
            throw SqlError(sqlstate::invalidObjectDefinition, "unrecognized locale provider: " + *provider);
         provider_ = name == "icu" ? 'i' : 'c';
      }
      if (const auto isTemplate = options_.boolean("is_template")) draft_.isTemplate = *isTemplate;
      if (const auto allows = options_.boolean("allow_connections")) draft_.allowsConnections = *allows;
      if (const auto limit = options_.connectionLimit()) draft_.connectionLimit = *limit;
      if (options_.text("collation_version")) throwNotSupported("COLLATION_VERSION of a database");
   }

   void chooseOwner() {
      const auto name = options_.text("owner");
      draft_.owner = name ? existingRole(core_.transaction.catalog(), *name)->oid : core_.role();
      requireCreatesDatabases(core_, "permission denied to create database");
      requireMayBecomeOwner(core_, draft_.owner);
   }

   /// Locks the template.
   catalog::DatabasePtr source() {
      const std::string name = options_.text("template").value_or("template1");
      const auto found = lockDatabase(core_, name, LockMode::Share);
      if (!found) throw SqlError(sqlstate::undefinedDatabase, "template database \"" + name + "\" does not exist");
      if (!found->isTemplate && !actsFor(core_, found->owner))
         throw SqlError(sqlstate::insufficientPrivilege, "permission denied to copy database \"" + name + "\"");
      if (const auto strategy = options_.text("strategy")) {
         const std::string word = lowerCase(*strategy);
         if (word != "wal_log" && word != "file_copy")
            throw SqlError(sqlstate::invalidParameterValue, "invalid create database strategy \"" + *strategy + "\"")
                .hint("Valid strategies are \"wal_log\" and \"file_copy\".");
      }
      return found;
   }

   void chooseLocale(const catalog::Database& source) {
      const auto given = [&](const char* option) {
         const auto own = options_.text(option);
         return own ? own : options_.text("locale");
      };
      draft_.localeProvider = provider_.value_or(source.localeProvider);
      const bool isIcu = draft_.localeProvider == 'i';
      draft_.collate = given("lc_collate").value_or(source.collate);
      draft_.ctype = given("lc_ctype").value_or(source.ctype);
      for (std::string* name : {&draft_.collate, &draft_.ctype}) {
         if (source.oid == catalog::template0Database) requireLocale(*name);
         if (name->empty() || *name == "POSIX") *name = "C"; // the server's own; two names of one locale
      }
      if (isIcu) {
         draft_.icuLocale = icuLocale_.value_or(source.icuLocale);
         if (!icuLocale_ && source.localeProvider != 'i')
            throw SqlError(sqlstate::invalidParameterValue, "ICU locale must be specified");
         draft_.collationVersion = executor::collationVersion(draft_.icuLocale);
      } else if (icuLocale_) {
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "ICU locale cannot be specified unless locale provider is ICU");
      }
      // What template0 has fits every encoding and locale.
      if (source.oid != catalog::template0Database) requireSameLocale(source);
      if (encoding_ && *encoding_ != "UTF8") throwNotSupported("a database with the encoding " + *encoding_);
   }

   void chooseTablespace() const {
      if (const auto name = options_.text("tablespace")) requireDefaultTablespace(core_, *name);
   }

   void requireNew() const {
      const catalog::Snapshot& snapshot = core_.transaction.catalog();
      if (snapshot.findDatabase(draft_.name))
         throw SqlError(sqlstate::duplicateDatabase, "database \"" + draft_.name + "\" already exists");
      if (draft_.oid == invalidOid) return;
      if (const auto holder = snapshot.database(draft_.oid))
         throw SqlError(sqlstate::invalidParameterValue, "database OID " +
                                                             std::to_string(static_cast<uint32_t>(draft_.oid)) +
                                                             " is already in use by database \"" + holder->name + "\"");
   }

   catalog::Database& draft() { return draft_; }

private:
   void requireSameLocale(const catalog::Database& source) const {
      if (encoding_ && *encoding_ != "UTF8")
         throw SqlError(sqlstate::invalidParameterValue,
                        "new encoding (" + *encoding_ +
                            ") is incompatible with the encoding of the template database (UTF8)")
             .hint("Use the same encoding as in the template database, or use template0 as template.");
      requireLocale(draft_.collate);
      requireLocale(draft_.ctype);
      const auto nameOf = [](char provider) { return provider == 'i' ? "icu" : "libc"; };
      if (draft_.localeProvider != source.localeProvider)
         throw SqlError(sqlstate::invalidParameterValue,
                        std::string("new locale provider (") + nameOf(draft_.localeProvider) +
                            ") does not match locale provider of the template database (" +
                            nameOf(source.localeProvider) + ")")
             .hint("Use the same locale provider as in the template database, or use template0 as template.");
      if (draft_.icuLocale != source.icuLocale)
         throw SqlError(sqlstate::invalidParameterValue,
                        "new ICU locale (" + draft_.icuLocale +
                            ") is incompatible with the ICU locale of the template database (" + source.icuLocale + ")")
             .hint("Use the same ICU locale as in the template database, or use template0 as template.");
   }

   SessionCore& core_;
   const DatabaseClauses options_;
   catalog::Database draft_;
   std::optional<std::string> encoding_, icuLocale_;
   std::optional<char> provider_;
};

} // namespace

std::string createDatabase(CommandContext& context, const ::CreatedbStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE DATABASE");
   refuseInBlock(context, "CREATE DATABASE");
   NewDatabase created(context, statement);
   created.readOptions();
   created.chooseOwner();
   const catalog::DatabasePtr source = created.source();
   created.chooseLocale(*source);
   created.chooseTablespace();
   created.requireNew();
   requireUnused(core, source->oid, "source database \"" + source->name + "\" is being accessed by other users");
   const NewestSnapshot newest(core.transaction); // with what the last sessions of the template have committed
   const Oid database = core.transaction.editor().createDatabase(
       std::move(created.draft()), source->oid,
       [&](const catalog::Relation& original, catalog::Relation& copy) { copyContents(core, original, copy); });
   copyLargeObjects(core, source->oid, database);
   return "CREATE DATABASE";
}

} // namespace ouzel::engine
