#include "executor/function/text/collation_keys.hpp"

#include <algorithm>
#include <cstring>
#include <unicode/coleitr.h>
#include <unicode/ucol.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>
#include <unicode/usetiter.h>

#include "common/error/sql_error.hpp"
#include "executor/function/text/icu_locale.hpp"

namespace ouzel::executor {

namespace {

constexpr char levelEnd = 1;
// The lengths of runs of the common weight, 0x05 in its first byte. A run before a higher weight follows all runs that
// end lower, and the longer it is the earlier it comes; ICU has no weight that begins with one of these bytes.
constexpr uint8_t runLow = 0x05, runHigh = 0x45;
constexpr uint32_t runMax = 0x1f;
constexpr uint8_t secondaryShift = 0, tertiaryShift = 0xc0;

/// The number of levels if comparing elements, level by level, is all that the collator does; else 0.
int levelsCompared(const icu::Collator& collator) {
   const auto has = [&](UColAttribute attribute, UColAttributeValue value) {
      UErrorCode status = U_ZERO_ERROR;
      return collator.getAttribute(attribute, status) == value && U_SUCCESS(status);
   };
   UErrorCode status = U_ZERO_ERROR;
   int32_t reordered[64];
   const int32_t reorderedCount = collator.getReorderCodes(reordered, 64, status);
   const bool isPlain = U_SUCCESS(status) && reorderedCount == 0 && has(UCOL_FRENCH_COLLATION, UCOL_OFF) &&
                        has(UCOL_ALTERNATE_HANDLING, UCOL_NON_IGNORABLE) && has(UCOL_CASE_FIRST, UCOL_OFF) &&
                        has(UCOL_CASE_LEVEL, UCOL_OFF) && has(UCOL_NUMERIC_COLLATION, UCOL_OFF);
   if (!isPlain) return 0;
   return has(UCOL_STRENGTH, UCOL_PRIMARY)     ? 1
          : has(UCOL_STRENGTH, UCOL_SECONDARY) ? 2
          : has(UCOL_STRENGTH, UCOL_TERTIARY)  ? 3
                                               : 0;
}

void appendWeight(std::string& out, uint32_t weight, int bytes) {
   for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      const auto byte = static_cast<char>(weight >> shift & 0xff);
      if (byte == 0) return; // no weight is the beginning of another
      out.push_back(byte);
   }
}

} // namespace

CollationKeys& CollationKeys::of(std::string_view locale) {
   // A statement has few collations, which its expressions ask for in turns.
   constexpr size_t knownMax = 4;
   struct Known {
      std::string locale;
      std::unique_ptr<CollationKeys> keys;
   };
   thread_local std::vector<Known> known; // the last one asked for stands first
   const auto found = std::find_if(known.begin(), known.end(), [&](const Known& one) { return one.locale == locale; });
   if (found != known.end()) {
      if (found != known.begin()) std::rotate(known.begin(), found, found + 1);
      return *known.front().keys;
   }
   Known made{std::string(locale), std::make_unique<CollationKeys>(locale)};
   if (known.size() == knownMax) known.pop_back();
   known.insert(known.begin(), std::move(made));
   return *known.front().keys;
}

CollationKeys::CollationKeys(std::string_view locale) : secondary_(secondaryShift), tertiary_(tertiaryShift) {
   UErrorCode status = U_ZERO_ERROR;
   collator_.reset(icu::Collator::createInstance(icuLocale(locale), status));
   if (U_FAILURE(status) || !collator_)
      throw SqlError(sqlstate::internalError,
                     "could not open collator for locale \"" + std::string(locale) + "\": " + u_errorName(status));
   rules_ = dynamic_cast<const icu::RuleBasedCollator*>(collator_.get());
   levels_ = levelsCompared(*collator_);
   if (levels_ == 0) rules_ = nullptr;
   if (rules_) fillLetters();
}

CollationKeys::~CollationKeys() = default;

std::vector<CollationKeys::Element> CollationKeys::elementsOf(const icu::UnicodeString& text) {
   const std::unique_ptr<icu::CollationElementIterator> at(rules_->createCollationElementIterator(text));
   std::vector<Element> elements;
   UErrorCode status = U_ZERO_ERROR;
   for (int32_t order = at->next(status); order != icu::CollationElementIterator::NULLORDER; order = at->next(status)) {
      if (U_FAILURE(status))
         throw SqlError(sqlstate::internalError, std::string("collation failed: ") + u_errorName(status));
      // An element comes in two halves if its weights have more bytes; the second half has both bits of case.
      constexpr uint32_t secondHalf = 0xc0, weightBits = 0x3f;
      const auto half = static_cast<uint32_t>(order);
      const auto secondary = static_cast<uint16_t>(half >> 8 & 0xff),
                 tertiary = static_cast<uint16_t>(half & weightBits);
      if ((half & secondHalf) == secondHalf && !elements.empty()) {
         Element& whole = elements.back();
         whole.primary |= half >> 16;
         whole.secondary = static_cast<uint16_t>(whole.secondary | secondary);
         whole.tertiary = static_cast<uint16_t>(whole.tertiary | tertiary);
      } else {
         elements.push_back(
             {half & 0xffff0000U, static_cast<uint16_t>(secondary << 8), static_cast<uint16_t>(tertiary << 8)});
      }
   }
   return elements;
}

void CollationKeys::fillLetters() {
   // A letter with which a contraction begins ("ch") depends on what follows; one with a prefix, on what it follows.
   icu::UnicodeSet contractions, withPrefixes;
   UErrorCode status = U_ZERO_ERROR;
   ucol_getContractionsAndExpansions(rules_->toUCollator(), contractions.toUSet(), nullptr, false, &status);
   ucol_getContractionsAndExpansions(rules_->toUCollator(), withPrefixes.toUSet(), nullptr, true, &status);
   if (U_FAILURE(status)) {
      rules_ = nullptr;
      return;
   }
   std::array<bool, lettersEnd> contracts{};
   const auto mark = [&](UChar32 c) {
      if (c >= 0 && c < static_cast<UChar32>(lettersEnd)) contracts[static_cast<size_t>(c)] = true;
   };
   icu::UnicodeSetIterator strings(withPrefixes);
   while (strings.next()) {
      if (!strings.isString()) continue;
      const icu::UnicodeString& text = strings.getString();
      mark(contractions.contains(text) ? text.char32At(0) : text.char32At(text.length() - 1));
   }
   for (uint32_t c = 0; c < lettersEnd; ++c) {
      const std::vector<Element> elements = elementsOf(icu::UnicodeString(static_cast<UChar32>(c)));
      Letter& letter = letters_[c];
      letter.isSimple = !contracts[c] && elements.size() <= elementsMax;
      if (!letter.isSimple) continue;
      letter.count = static_cast<uint8_t>(elements.size());
      std::copy(elements.begin(), elements.end(), letter.elements.begin());
      letter.isPlain = std::all_of(elements.begin(), elements.end(), [](const Element& element) {
         return element.secondary == commonWeight && element.tertiary == commonWeight;
      });
      std::string primary;
      for (const Element& element : elements)
         appendWeight(primary, element.primary, 4);
      letter.primaryLength = static_cast<uint8_t>(primary.size());
      std::copy(primary.begin(), primary.end(), letter.primary.begin());
   }
}

void CollationKeys::Level::addRun(bool beforeHigher) {
   while (common_ > 0) {
      const uint32_t length = std::min(common_, runMax);
      bytes_.push_back(static_cast<char>(beforeHigher ? runHigh - length : runLow + length));
      common_ -= length;
   }
}

void CollationKeys::Level::addOther(uint16_t weight) {
   const bool isHigher = weight > commonWeight;
   addRun(isHigher);
   appendWeight(bytes_, isHigher ? weight + (uint32_t{shift_} << 8) : weight, 2);
}

const std::string& CollationKeys::Level::finish() {
   addRun(false);
   return bytes_;
}

void CollationKeys::begin() {
   key_.clear();
   secondary_.clear();
   tertiary_.clear();
}

void CollationKeys::add(const Element& element) {
   if (element.primary != 0) appendWeight(key_, element.primary, 4);
   secondary_.add(element.secondary);
   tertiary_.add(element.tertiary);
}

std::string_view CollationKeys::finish() {
   if (levels_ > 1) {
      key_.push_back(levelEnd);
      key_ += secondary_.finish();
   }
   if (levels_ > 2) {
      key_.push_back(levelEnd);
      key_ += tertiary_.finish();
   }
   key_.push_back('\0');
   return key_;
}

bool CollationKeys::addLetters(std::string_view text) {
   constexpr size_t roomPerLetter = sizeof(Letter::primary);
   key_.resize((text.size() + 1) * roomPerLetter);
   char* at = key_.data();
   uint32_t plain = 0;
   const auto addPlain = [&] {
      secondary_.addCommon(plain);
      tertiary_.addCommon(plain);
      plain = 0;
   };
   for (size_t i = 0; i < text.size(); ++i) {
      uint32_t c = static_cast<uint8_t>(text[i]);
      if (c >= 0x80) { // of two bytes, or not in the table
         if (c >= 0xc6 || i + 1 == text.size()) return false;
         c = (c & 0x1f) << 6 | (static_cast<uint8_t>(text[++i]) & 0x3f);
      }
      const Letter& letter = letters_[c];
      if (!letter.isSimple) return false;
      std::memcpy(at, letter.primary.data(), roomPerLetter);
      at += letter.primaryLength;
      if (letter.isPlain) {
         plain += letter.count;
         continue;
      }
      addPlain();
      for (size_t e = 0; e < letter.count; ++e) {
         secondary_.add(letter.elements[e].secondary);
         tertiary_.add(letter.elements[e].tertiary);
      }
   }
   addPlain();
   key_.resize(static_cast<size_t>(at - key_.data()));
   return true;
}

std::string_view CollationKeys::keyOfIcu(const icu::UnicodeString& text) {
   const int32_t size = collator_->getSortKey(text, nullptr, 0);
   key_.resize(static_cast<size_t>(size));
   collator_->getSortKey(text, reinterpret_cast<uint8_t*>(key_.data()), size);
   return key_;
}

std::string_view CollationKeys::key(std::string_view text) {
   if (text.size() > static_cast<size_t>(INT32_MAX))
      throw SqlError(sqlstate::programLimitExceeded, "a text is too long to be compared under its collation");
   begin();
   if (rules_ && addLetters(text)) return finish();
   const auto units = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
   if (!rules_) return keyOfIcu(units);
   begin();
   for (const Element& element : elementsOf(units))
      add(element);
   return finish();
}

} // namespace ouzel::executor
