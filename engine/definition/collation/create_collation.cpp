#include <algorithm>

#include "common/text/ascii.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/type/user_type.hpp"
#include "executor/function/text/collation_version.hpp"
#include "sql/parse/node_access.hpp"

// CREATE COLLATION. Of libc's locales there are C and POSIX, which order texts by their bytes, and C.utf8, which does
// the same and knows the case of all letters.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

catalog::QualifiedName nameOf(const ::List* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(list))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

/// Throws for what is no locale of libc here.
void requireLibcLocale(const std::string& name) {
   const std::string word = lowerCase(name);
   const bool isUtf8 = name.starts_with("C.") && (word == "c.utf8" || word == "c.utf-8");
   if (name == "C" || name == "POSIX" || name.empty() || isUtf8) return;
   const size_t language = std::min(name.find_first_of("_.@"), name.size());
   const bool isLanguage = (language == 2 || language == 3) && language < name.size() &&
                           std::all_of(name.begin(), name.begin() + static_cast<ptrdiff_t>(language),
                                       [](char c) { return c >= 'a' && c <= 'z'; });
   if (isLanguage) throwNotSupported("a collation with the locale \"" + name + "\" of libc");
   throw SqlError(sqlstate::invalidParameterValue,
                  "could not create locale \"" + name + "\": No such file or directory")
       .detail("The operating system could not find any locale data for the locale name \"" + name + "\".");
}

/// The attributes of one CREATE COLLATION.
class CollationAttributes {
public:
   CollationAttributes(CommandContext& context, const ::List* definition) : context_(context) {
      for (const ::DefElem* option : ListOf<::DefElem>(definition))
         read(*option);
      if (locale_ && (collate_ || ctype_))
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .detail("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE.");
      if (from_ && ListOf<>(definition).size() != 1)
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .detail("FROM cannot be specified together with any other options.");
   }

   void apply(catalog::Collation& draft) const {
      if (from_)
         copy(draft);
      else
         define(draft);
      if (!draft.version && draft.provider == 'i') draft.version = executor::collationVersion(draft.icuLocale);
   }

private:
   void read(const ::DefElem& option) {
      const std::string_view name = option.defname;
      const std::pair<std::string_view, const ::DefElem**> known[] = {
          {"from", &from_},      {"locale", &locale_},     {"lc_collate", &collate_},
          {"lc_ctype", &ctype_}, {"provider", &provider_}, {"deterministic", &deterministic_},
          {"version", &version_}};
      for (const auto& [word, place] : known) {
         if (word != name) continue;
         if (*place)
            throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
                .at(context_.position(option.location));
         *place = &option;
         return;
      }
      throw SqlError(sqlstate::syntaxError, "collation attribute \"" + std::string(name) + "\" not recognized")
          .at(context_.position(option.location));
   }

   static std::string text(const ::DefElem& option) {
      if (!option.arg) throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
      if (isNode(option.arg, T_TypeName)) return typeNameOf(option.arg).text();
      if (isNode(option.arg, T_List)) return nameOf(as<::List>(option.arg)).text();
      if (isNode(option.arg, T_Integer)) return std::to_string(as<::Integer>(option.arg)->ival);
      if (isNode(option.arg, T_Float)) return as<::Float>(option.arg)->fval;
      return std::string(stringOf(option.arg));
   }
   static bool boolean(const ::DefElem& option) {
      if (!option.arg) return true;
      const std::string word = lowerCase(text(option));
      const bool isNumber = isNode(option.arg, T_Integer);
      if (isNumber ? word == "1" : word == "true" || word == "on") return true;
      if (isNumber ? word == "0" : word == "false" || word == "off") return false;
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
   }
   catalog::QualifiedName sourceName() const {
      const ::Node* arg = from_->arg;
      if (isNode(arg, T_TypeName)) return typeNameOf(arg);
      if (isNode(arg, T_List)) return nameOf(as<::List>(arg));
      if (isNode(arg, T_String)) return catalog::QualifiedName::of(std::string(stringOf(arg)));
      throw SqlError(sqlstate::syntaxError, "argument of from must be a name");
   }

   void copy(catalog::Collation& draft) const {
      const catalog::Snapshot& snapshot = context_.core.transaction.catalog();
      const auto source = catalog::requireCollation(snapshot, context_.core.searchPath(), sourceName());
      if (source.oid == defaultCollation)
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "collation \"" + std::string(source.name) + "\" cannot be copied");
      draft.provider = source.provider;
      draft.isDeterministic = source.isDeterministic;
      draft.icuLocale = source.icuLocale;
      draft.collate = draft.ctype = source.ctype;
      if (const catalog::CollationPtr own = snapshot.collation(source.oid)) {
         draft.encoding = own->encoding;
         draft.collate = own->collate;
      }
   }

   void define(catalog::Collation& draft) const {
      constexpr int32_t utf8 = 6;
      if (provider_) {
         const std::string word = lowerCase(text(*provider_));
         if (word != "icu" && word != "libc")
            throw SqlError(sqlstate::invalidObjectDefinition, "unrecognized collation provider: " + text(*provider_));
         draft.provider = word == "icu" ? 'i' : 'c';
      }
      if (deterministic_) draft.isDeterministic = boolean(*deterministic_);
      if (version_) draft.version = text(*version_);
      const auto require = [](const ::DefElem* option, const char* name) {
         if (!option)
            throw SqlError(sqlstate::invalidObjectDefinition,
                           "parameter \"" + std::string(name) + "\" must be specified");
         return text(*option);
      };
      if (draft.provider == 'i') {
         draft.icuLocale = require(locale_, "locale");
         return;
      }
      draft.encoding = utf8;
      draft.collate = require(locale_ ? locale_ : collate_, "lc_collate");
      draft.ctype = require(locale_ ? locale_ : ctype_, "lc_ctype");
      if (!draft.isDeterministic)
         throw SqlError(sqlstate::featureNotSupported, "nondeterministic collations not supported with this provider");
      requireLibcLocale(draft.collate);
      requireLibcLocale(draft.ctype);
   }

   CommandContext& context_;
   const ::DefElem *from_ = nullptr, *locale_ = nullptr, *collate_ = nullptr, *ctype_ = nullptr, *provider_ = nullptr,
                   *deterministic_ = nullptr, *version_ = nullptr;
};

Oid schemaFor(SessionCore& core, const catalog::QualifiedName& name) {
   if (name.schema == "pg_temp") throwNotSupported("a temporary collation");
   const Oid schema = catalog::creationSchema(core.transaction.catalog(), core.searchPath(), name);
   if (schema == core.searchPath().temporary) throwNotSupported("a temporary collation");
   if (const auto found = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *found, catalog::privilege::create);
   return schema;
}

/// The order may have changed since the version that the statement names.
void warnOfVersion(SessionCore& core, const catalog::Collation& made) {
   if (made.provider != 'i') return;
   const std::string actual = executor::collationVersion(made.icuLocale);
   if (*made.version == actual) return;
   const std::string name = catalog::quoteIdentifier(core.transaction.catalog().schema(made.schema)->name) + "." +
                            catalog::quoteIdentifier(made.name);
   core.notices.notice({Notice::Severity::Warning, sqlstate::warning,
                        "collation \"" + made.name + "\" has version mismatch",
                        "The collation in the database was created using version " + *made.version +
                            ", but the operating system provides version " + actual + ".",
                        "Rebuild all objects affected by this collation and run ALTER COLLATION " + name +
                            " REFRESH VERSION, or build PostgreSQL with the right library version."});
}

} // namespace

std::string createCollation(CommandContext& context, const ::DefineStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = "CREATE COLLATION";
   requireWritable(core, tag);
   const catalog::QualifiedName name = nameOf(statement.defnames);
   catalog::Collation draft;
   draft.schema = schemaFor(core, name);
   draft.name = name.name;
   CollationAttributes(context, statement.definition).apply(draft);
   if (core.transaction.catalog().findCollation(draft.schema, draft.name)) {
      std::string message = "collation \"" + draft.name + "\"";
      if (draft.encoding >= 0) message += " for encoding \"UTF8\"";
      message += " already exists";
      if (!statement.if_not_exists) throw SqlError(sqlstate::duplicateObject, message);
      core.notice(message + ", skipping", {}, sqlstate::duplicateObject);
      return tag;
   }
   const Oid made = core.transaction.editor().createCollation(std::move(draft));
   warnOfVersion(core, *core.transaction.catalog().collation(made));
   return tag;
}

} // namespace ouzel::engine
