#include "common/base_type/ts_vector.hpp"

#include <algorithm>
#include <optional>

#include "common/type/array.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text_search_families.hpp"

// Functions and operators of tsvector.

namespace ouzel::executor {

namespace {

// ---- arguments ----

uint8_t weightOf(std::string_view letter) {
   const char c = letter.empty() ? '\0' : letter[0];
   const int weight = letter.size() == 1 ? tsWeightOf(c) : -1;
   if (weight < 0)
      throw SqlError(sqlstate::invalidParameterValue, "unrecognized weight: \"" + std::string(letter) + '"');
   return static_cast<uint8_t>(weight);
}

/// Calls `take` for each text of an array; a NULL is an error if `message` is not null.
template <typename Take>
void forEachText(const StringView& bytes, const char* message, const Take& take) {
   const ArrayView array(bytes.view());
   for (ArrayView::Cursor element(array); element.next();) {
      if (!element.isNull())
         take(element.as<StringView>().view());
      else if (message)
         throw SqlError(sqlstate::nullValueNotAllowed, message);
   }
}

// ---- vectors made of others ----

int32_t length(const StringView& bytes) {
   return static_cast<int32_t>(TsVectorView(bytes.view()).size());
}

StringView strip(const StringView& bytes, KernelEnv& env) {
   const TsVectorView vector(bytes.view());
   TsVectorWriter out;
   for (uint32_t i = 0; i < vector.size(); ++i)
      out.add(vector.word(i).text(), {});
   return env.copy(out.finish());
}

/// A copy of the vector, where `change` may change the places of a word or leave the word out by returning false.
template <typename Change>
StringView changed(const TsVectorView& vector, KernelEnv& env, const Change& change) {
   TsVectorWriter out;
   std::vector<TsPlace> places;
   for (uint32_t i = 0; i < vector.size(); ++i) {
      const TsVectorView::Word word = vector.word(i);
      places.clear();
      for (uint32_t j = 0; j < word.placeCount(); ++j)
         places.push_back(word.place(j));
      if (change(word.text(), places)) out.add(word.text(), places);
   }
   return env.copy(out.finish());
}

void setAll(std::vector<TsPlace>& places, uint8_t weight) {
   for (TsPlace& place : places)
      place.weight = weight;
}

StringView setWeight(const StringView& bytes, const StringView& letter, KernelEnv& env) {
   const uint8_t weight = weightOf(letter.view());
   return changed(TsVectorView(bytes.view()), env, [&](std::string_view, std::vector<TsPlace>& places) {
      setAll(places, weight);
      return true;
   });
}

/// The texts of an array, sorted.
std::vector<std::string> sortedTexts(const StringView& bytes) {
   std::vector<std::string> texts;
   forEachText(bytes, nullptr, [&](std::string_view text) { texts.emplace_back(text); });
   std::sort(texts.begin(), texts.end());
   return texts;
}
bool contains(const std::vector<std::string>& sorted, std::string_view text) {
   return std::binary_search(sorted.begin(), sorted.end(), text, std::less<>());
}

StringView setWeightOf(const StringView& bytes, const StringView& letter, const StringView& words, KernelEnv& env) {
   const uint8_t weight = weightOf(letter.view());
   const std::vector<std::string> chosen = sortedTexts(words);
   return changed(TsVectorView(bytes.view()), env, [&](std::string_view word, std::vector<TsPlace>& places) {
      if (contains(chosen, word)) setAll(places, weight);
      return true;
   });
}

StringView withoutWords(const StringView& bytes, const StringView& words, KernelEnv& env) {
   const std::vector<std::string> dropped = sortedTexts(words);
   return changed(TsVectorView(bytes.view()), env,
                  [&](std::string_view word, std::vector<TsPlace>&) { return !contains(dropped, word); });
}
StringView withoutWord(const StringView& bytes, const StringView& dropped, KernelEnv& env) {
   return changed(TsVectorView(bytes.view()), env,
                  [&](std::string_view word, std::vector<TsPlace>&) { return word != dropped.view(); });
}

StringView filter(const StringView& bytes, const StringView& letters, KernelEnv& env) {
   unsigned kept = 0;
   forEachText(letters, "weight array may not contain nulls",
               [&](std::string_view letter) { kept |= 1u << weightOf(letter); });
   return changed(TsVectorView(bytes.view()), env, [&](std::string_view, std::vector<TsPlace>& places) {
      std::erase_if(places, [&](TsPlace place) { return (kept >> place.weight & 1) == 0; });
      return !places.empty();
   });
}

/// The places of the second vector follow those of the first one.
StringView concatenate(const StringView& first, const StringView& second, KernelEnv& env) {
   const TsVectorView a(first.view()), b(second.view());
   TsVectorDraft draft;
   int64_t last = 0;
   for (uint32_t i = 0; i < a.size(); ++i) {
      const TsVectorView::Word word = a.word(i);
      draft.add(word);
      if (word.placeCount() > 0) last = std::max<int64_t>(last, word.place(word.placeCount() - 1).position);
   }
   for (uint32_t i = 0; i < b.size(); ++i) {
      const TsVectorView::Word word = b.word(i);
      if (word.placeCount() == 0) draft.add(word.text());
      for (uint32_t j = 0; j < word.placeCount(); ++j) {
         const TsPlace place = word.place(j);
         draft.add(word.text(), {limitedPosition(place.position + last), place.weight});
      }
   }
   return env.copy(draft.store());
}

// ---- arrays ----

StringView toArray(const StringView& bytes, KernelEnv& env) {
   const TsVectorView vector(bytes.view());
   ArrayBuilder words(env.strings, oid::text);
   for (uint32_t i = 0; i < vector.size(); ++i)
      words.addText(vector.word(i).text());
   return words.finish();
}

StringView ofArray(const StringView& words, KernelEnv& env) {
   std::vector<std::string> kept;
   forEachText(words, "lexeme array may not contain nulls", [&](std::string_view word) {
      if (word.empty())
         throw SqlError(sqlstate::zeroLengthCharacterString, "lexeme array may not contain empty strings");
      kept.emplace_back(word);
   });
   TsVectorDraft draft;
   for (const std::string& word : kept)
      draft.add(word);
   return env.copy(draft.store());
}

// ---- comparisons ----

int32_t compare(const StringView& a, const StringView& b) {
   const int order = a.compare(b);
   return order < 0 ? -1 : order > 0 ? 1 : 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return a.compare(b) < 0;
}
bool isAtMost(const StringView& a, const StringView& b) {
   return a.compare(b) <= 0;
}
bool isEqual(const StringView& a, const StringView& b) {
   return a == b;
}
bool isDifferent(const StringView& a, const StringView& b) {
   return !(a == b);
}
bool isAtLeast(const StringView& a, const StringView& b) {
   return a.compare(b) >= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return a.compare(b) > 0;
}

} // namespace

void registerTsVector() {
   addKernel<length>("tsvector_length", totalKernel);
   addKernel<strip>("tsvector_strip");
   addKernel<setWeight>("tsvector_setweight");
   addKernel<setWeightOf>("tsvector_setweight_by_filter");
   addKernel<withoutWord>("tsvector_delete_str");
   addKernel<withoutWords>("tsvector_delete_arr");
   addKernel<filter>("tsvector_filter");
   addKernel<concatenate>("tsvector_concat");
   addKernel<toArray>("tsvector_to_array");
   addKernel<ofArray>("array_to_tsvector");
   addKernel<compare>("tsvector_cmp", totalKernel);
   addKernel<isLess>("tsvector_lt", totalKernel);
   addKernel<isAtMost>("tsvector_le", totalKernel);
   addKernel<isEqual>("tsvector_eq", totalKernel);
   addKernel<isDifferent>("tsvector_ne", totalKernel);
   addKernel<isAtLeast>("tsvector_ge", totalKernel);
   addKernel<isGreater>("tsvector_gt", totalKernel);
}

} // namespace ouzel::executor
