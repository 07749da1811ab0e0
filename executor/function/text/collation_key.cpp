#include <string>

#include "catalog/object/collation.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/collation_keys.hpp"
#include "executor/function/text/collation_version.hpp"

// Collation keys (sql/algebra/collations.hpp): the sort key of a text (collation_keys.hpp) and, where the text itself
// decides between values that the locale has as equal, the text.
//
//    ouzel_collation_key(text, locale, withText)      ouzel_collation_keys(text[], locale, withText)
//    ouzel_keyed_text(key)                             the text of a key that has it

namespace ouzel::executor {

namespace {

StringView collationKey(const StringView& text, const StringView& locale, bool withText, KernelEnv& env) {
   const std::string_view key = CollationKeys::of(locale.view()).key(text.view());
   ValueBuilder out(env.strings);
   out.reserve(key.size() + (withText ? text.size() : 0));
   out.append(key);
   if (withText) out.append(text.view());
   return out.finish();
}

StringView collationKeys(const StringView& value, const StringView& locale, bool withText, KernelEnv& env) {
   CollationKeys& keys = CollationKeys::of(locale.view());
   const ArrayView array(value.view());
   ArrayBuilder built(env.strings, oid::text);
   std::string element;
   for (ArrayView::Cursor at(array); at.next();) {
      if (at.isNull()) {
         built.addNull();
         continue;
      }
      const std::string_view text = at.as<StringView>().view();
      element = keys.key(text);
      if (withText) element += text;
      built.addText(element);
   }
   return built.finish(array.dimensions());
}

StringView keyedText(const StringView& key, KernelEnv& env) {
   const std::string_view bytes = key.view();
   return env.copy(bytes.substr(bytes.find('\0') + 1));
}

/// pg_collation_actual_version(); NULL of collations of libc, whose orders do not change.
std::optional<StringView> actualVersion(int64_t oid, KernelEnv& env) {
   const auto collation = catalog::collationInfo(*env.context.catalog, static_cast<Oid>(oid));
   if (!collation)
      throw SqlError(sqlstate::undefinedObject, "collation with OID " + std::to_string(oid) + " does not exist");
   if (collation->provider != 'i') return std::nullopt;
   return env.copy(collationVersion(collation->icuLocale));
}

std::optional<StringView> actualVersionOfDatabase(int64_t oid, KernelEnv& env) {
   const catalog::DatabasePtr database = env.context.catalog->database(static_cast<Oid>(oid));
   if (!database)
      throw SqlError(sqlstate::undefinedObject, "database with OID " + std::to_string(oid) + " does not exist");
   if (database->localeProvider != 'i') return std::nullopt;
   return env.copy(collationVersion(database->icuLocale));
}

} // namespace

void registerCollationKey() {
   addKernel<collationKey>("ouzel_collation_key");
   addKernel<collationKeys>("ouzel_collation_keys");
   addKernel<keyedText>("ouzel_keyed_text");
   addKernel<actualVersion>("pg_collation_actual_version");
   addKernel<actualVersionOfDatabase>("pg_database_collation_actual_version");
}

} // namespace ouzel::executor
