#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include "common/thread/interruption.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/icu_locale.hpp"
#include "executor/function/text/utf8_text.hpp"

// upper, lower, initcap: of ASCII under collations that compare bytes, such as the default; ouzel_upper and its kin by
// a locale of ICU, which the binder chooses under other collations (sql/bind/type/collation.cpp). Unicode
// normalisation.

namespace ouzel::executor {

namespace {

/// Locales are looked up by their names, which takes longer than to convert a word. The last one of a thread stays.
const icu::Locale& localeCalled(const StringView& name) {
   thread_local std::string lastName;
   thread_local icu::Locale last = icu::Locale::getRoot();
   if (name.view() == lastName) return last;
   last = icuLocale(name.view());
   lastName = name.view();
   return last;
}

/// Converts byte by byte.
template <typename Convert>
StringView convertAscii(const StringView& s, KernelEnv& env, Convert convert) {
   constexpr size_t bytesBetweenChecks = 1 << 20; // of cancellation
   char bytes[StringView::inlineMax];
   const uint32_t size = s.size();
   char* target = s.isInline() ? bytes : static_cast<char*>(env.strings.allocate(size, 1));
   const char* source = s.data();
   for (size_t begin = 0; begin < size; begin += bytesBetweenChecks) {
      if (begin > 0) checkInterrupted();
      const size_t end = std::min<size_t>(size, begin + bytesBetweenChecks);
      for (size_t i = begin; i < end; ++i)
         target[i] = convert(source[i]);
   }
   return StringView(target, size);
}

template <typename Convert>
StringView convertUnicode(const StringView& s, KernelEnv& env, Convert convert) {
   icu::UnicodeString text = icu::UnicodeString::fromUTF8({s.data(), static_cast<int32_t>(s.size())});
   convert(text);
   std::string result;
   text.toUTF8String(result);
   return env.copy(result);
}

bool isAlphanumeric(char c) {
   return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

StringView lower(const StringView& s, KernelEnv& env) {
   return convertAscii(s, env, [](char c) { return asciiLower(c); });
}

StringView upper(const StringView& s, KernelEnv& env) {
   return convertAscii(s, env, [](char c) { return asciiUpper(c); });
}

StringView initcap(const StringView& s, KernelEnv& env) {
   return convertAscii(s, env, [inWord = false](char c) mutable {
      const char converted = inWord ? asciiLower(c) : asciiUpper(c);
      inWord = isAlphanumeric(c);
      return converted;
   });
}

StringView localLower(const StringView& s, const StringView& locale, KernelEnv& env) {
   return convertUnicode(s, env, [&](icu::UnicodeString& text) { text.toLower(localeCalled(locale)); });
}
StringView localUpper(const StringView& s, const StringView& locale, KernelEnv& env) {
   return convertUnicode(s, env, [&](icu::UnicodeString& text) { text.toUpper(localeCalled(locale)); });
}
StringView localInitcap(const StringView& s, const StringView& locale, KernelEnv& env) {
   return convertUnicode(s, env, [&](icu::UnicodeString& text) { text.toTitle(nullptr, localeCalled(locale)); });
}

const icu::Normalizer2& normalizer(const StringView& form) {
   UErrorCode status = U_ZERO_ERROR;
   std::string name(form.view());
   for (char& c : name)
      c = asciiUpper(c);
   const icu::Normalizer2* result = nullptr;
   if (name == "NFC") result = icu::Normalizer2::getNFCInstance(status);
   if (name == "NFD") result = icu::Normalizer2::getNFDInstance(status);
   if (name == "NFKC") result = icu::Normalizer2::getNFKCInstance(status);
   if (name == "NFKD") result = icu::Normalizer2::getNFKDInstance(status);
   if (!result)
      throw SqlError(sqlstate::invalidParameterValue, "invalid normalization form: " + std::string(form.view()));
   return *result;
}
StringView normalizeText(const StringView& s, const StringView& form, KernelEnv& env) {
   const icu::Normalizer2& n = normalizer(form);
   return convertUnicode(s, env, [&](icu::UnicodeString& text) {
      UErrorCode status = U_ZERO_ERROR;
      text = n.normalize(text, status);
   });
}
bool isNormalized(const StringView& s, const StringView& form) {
   UErrorCode status = U_ZERO_ERROR;
   return normalizer(form).isNormalized(icu::UnicodeString::fromUTF8({s.data(), static_cast<int32_t>(s.size())}),
                                        status) != 0;
}

} // namespace

void registerTextCase() {
   addKernel<lower>("lower", totalKernel);
   addKernel<upper>("upper", totalKernel);
   addKernel<initcap>("initcap", totalKernel);
   addKernel<localLower>("ouzel_lower", totalKernel);
   addKernel<localUpper>("ouzel_upper", totalKernel);
   addKernel<localInitcap>("ouzel_initcap", totalKernel);
   addKernel<normalizeText>("unicode_normalize_func");
   addKernel<isNormalized>("unicode_is_normalized");
}

} // namespace ouzel::executor
