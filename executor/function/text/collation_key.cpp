#include <memory>
#include <string>
#include <unicode/coll.h>
#include <unicode/unistr.h>

#include "common/error/sql_error.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/icu_locale.hpp"

// Collation keys (sql/algebra/collations.hpp): the sort key that ICU gives a text, which ends with its only zero, and,
// where the text itself decides between values that the locale has as equal, the text.
//
//    ouzel_collation_key(text, locale, withText)      ouzel_collation_keys(text[], locale, withText)
//    ouzel_keyed_text(key)                             the text of a key that has it

namespace ouzel::executor {

namespace {

/// The collator of a locale. A collator takes long to make, so the last one of a thread stays.
const icu::Collator& collatorOf(std::string_view locale) {
   thread_local std::string lastName;
   thread_local std::unique_ptr<icu::Collator> last;
   if (last && locale == lastName) return *last;
   UErrorCode status = U_ZERO_ERROR;
   std::unique_ptr<icu::Collator> collator(icu::Collator::createInstance(icuLocale(locale), status));
   if (U_FAILURE(status) || !collator)
      throw SqlError(sqlstate::internalError,
                     "could not open collator for locale \"" + std::string(locale) + "\": " + u_errorName(status));
   last = std::move(collator);
   lastName = locale;
   return *last;
}

void appendKey(ValueBuilder& out, const icu::Collator& collator, std::string_view text, bool withText) {
   if (text.size() > static_cast<size_t>(INT32_MAX))
      throw SqlError(sqlstate::programLimitExceeded, "a text is too long to be compared under its collation");
   constexpr int32_t usual = 256; // bytes; of a text of some 100 characters
   const auto units = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
   uint8_t bytes[usual];
   const int32_t size = collator.getSortKey(units, bytes, usual);
   if (size <= usual) {
      out.append({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
   } else {
      const auto longer = std::make_unique<uint8_t[]>(static_cast<size_t>(size));
      collator.getSortKey(units, longer.get(), size);
      out.append({reinterpret_cast<const char*>(longer.get()), static_cast<size_t>(size)});
   }
   if (withText) out.append(text);
}

StringView collationKey(const StringView& text, const StringView& locale, bool withText, KernelEnv& env) {
   ValueBuilder out(env.strings);
   appendKey(out, collatorOf(locale.view()), text.view(), withText);
   return out.finish();
}

StringView collationKeys(const StringView& value, const StringView& locale, bool withText, KernelEnv& env) {
   const icu::Collator& collator = collatorOf(locale.view());
   const ArrayView array(value.view());
   Arena scratch(env.strings.reservation());
   ArrayBuilder built(env.strings, oid::text);
   for (ArrayView::Cursor at(array); at.next();) {
      if (at.isNull()) {
         built.addNull();
         continue;
      }
      scratch.reset();
      ValueBuilder key(scratch);
      appendKey(key, collator, at.as<StringView>().view(), withText);
      built.addText(key.finish().view());
   }
   return built.finish(array.dimensions());
}

StringView keyedText(const StringView& key, KernelEnv& env) {
   const std::string_view bytes = key.view();
   return env.copy(bytes.substr(bytes.find('\0') + 1));
}

} // namespace

void registerCollationKey() {
   addKernel<collationKey>("ouzel_collation_key");
   addKernel<collationKeys>("ouzel_collation_keys");
   addKernel<keyedText>("ouzel_keyed_text");
}

} // namespace ouzel::executor
