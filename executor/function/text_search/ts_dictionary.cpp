#include "executor/function/text_search/ts_dictionary.hpp"

#include <algorithm>
#include <libstemmer.h>
#include <unordered_map>
#include <unordered_set>

#include "catalog/builtin/text_table.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/text_search/dictionary_options.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "executor/function/extension/unaccent.hpp"

namespace ouzel::executor {

namespace {

using catalog::DictionaryOption;
using StopWords = std::unordered_set<std::string_view>;

/// The words that a language's texts have most, and that nobody looks for. Null: there is no such list.
const StopWords* findStopWords(std::string_view language) {
   static const std::unordered_map<std::string_view, StopWords> all = [] {
      std::unordered_map<std::string_view, StopWords> lists;
      const catalog::TextTable* table = catalog::builtins().rows("stop_words");
      for (uint32_t row = 0; table && row < table->rowCount(); ++row)
         lists[*table->at(row, 0)].insert(*table->at(row, 1));
      return lists;
   }();
   const auto found = all.find(language);
   return found == all.end() ? nullptr : &found->second;
}

const StopWords* stopWordsOf(const DictionaryOption& option) {
   const StopWords* words = findStopWords(option.value);
   if (!words)
      throw SqlError(sqlstate::configFileError,
                     "could not open stop-word file \"" + option.value + ".stop\": No such file or directory");
   return words;
}

void requireOnce(bool isFirst, const char* name) {
   if (!isFirst) throw SqlError(sqlstate::invalidParameterValue, std::string("multiple ") + name + " parameters");
}

/// Knows all words, or with accept = false stop words only.
class SimpleDictionary final : public TsDictionary {
public:
   explicit SimpleDictionary(const std::vector<DictionaryOption>& options) {
      bool hasAccept = false;
      for (const DictionaryOption& option : options) {
         if (option.name == "stopwords") {
            requireOnce(!stopWords_, "StopWords");
            stopWords_ = stopWordsOf(option);
         } else if (option.name == "accept") {
            requireOnce(!hasAccept, "Accept");
            hasAccept = true;
            acceptsAll_ = option.boolean();
         } else {
            throw SqlError(sqlstate::invalidParameterValue,
                           "unrecognized simple dictionary parameter: \"" + option.name + '"');
         }
      }
   }
   bool normalize(std::string_view token, std::vector<TsLexeme>& out) const override {
      std::string word = lowerCase(token);
      if (word.empty() || (stopWords_ && stopWords_->contains(word))) return true;
      if (!acceptsAll_) return false;
      out.push_back({std::move(word)});
      return true;
   }

private:
   const StopWords* stopWords_ = nullptr;
   bool acceptsAll_ = true;
};

struct DeleteStemmer {
   void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using Stemmer = std::unique_ptr<sb_stemmer, DeleteStemmer>;

/// A stemmer of this thread; null: there is none for the language.
sb_stemmer* stemmerOf(const std::string& language) {
   thread_local std::unordered_map<std::string, Stemmer> stemmers;
   auto found = stemmers.find(language);
   if (found == stemmers.end())
      found = stemmers.emplace(language, Stemmer(sb_stemmer_new(language.c_str(), "UTF_8"))).first;
   return found->second.get();
}

/// Reduces words to their stems.
class SnowballDictionary final : public TsDictionary {
public:
   explicit SnowballDictionary(const std::vector<DictionaryOption>& options) {
      for (const DictionaryOption& option : options) {
         if (option.name == "stopwords") {
            requireOnce(!stopWords_, "StopWords");
            stopWords_ = stopWordsOf(option);
         } else if (option.name == "language") {
            requireOnce(language_.empty(), "Language");
            language_ = lowerCase(option.value);
            if (!stemmerOf(language_))
               throw SqlError(sqlstate::undefinedObject, "no Snowball stemmer available for language \"" +
                                                             option.value + "\" and encoding \"UTF8\"");
         } else {
            throw SqlError(sqlstate::invalidParameterValue, "unrecognized Snowball parameter: \"" + option.name + '"');
         }
      }
      if (language_.empty()) throw SqlError(sqlstate::invalidParameterValue, "missing Language parameter");
   }
   bool normalize(std::string_view token, std::vector<TsLexeme>& out) const override {
      constexpr size_t stemmedMax = 1000; // longer ones are no words
      std::string word = lowerCase(token);
      if (token.size() > stemmedMax) {
         out.push_back({std::move(word)});
         return true;
      }
      if (word.empty() || (stopWords_ && stopWords_->contains(word))) return true;
      sb_stemmer* stemmer = stemmerOf(language_);
      const auto* stem =
          sb_stemmer_stem(stemmer, reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
      if (!stem) throw SqlError(sqlstate::outOfMemory, "out of memory");
      word.assign(reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer)));
      out.push_back({std::move(word)});
      return true;
   }

private:
   const StopWords* stopWords_ = nullptr;
   std::string language_;
};

/// Takes accents away; what is left goes to the next dictionary.
class UnaccentDictionary final : public TsDictionary {
public:
   explicit UnaccentDictionary(const std::vector<DictionaryOption>& options) {
      bool hasRules = false;
      for (const DictionaryOption& option : options) {
         if (option.name != "rules")
            throw SqlError(sqlstate::invalidParameterValue, "unrecognized Unaccent parameter: \"" + option.name + '"');
         requireOnce(!hasRules, "Rules");
         hasRules = true;
         if (option.value != "unaccent")
            throw SqlError(sqlstate::configFileError,
                           "could not open unaccent file \"" + option.value + ".rules\": No such file or directory");
      }
      if (!hasRules) throw SqlError(sqlstate::invalidParameterValue, "missing Rules parameter");
   }
   bool normalize(std::string_view token, std::vector<TsLexeme>& out) const override {
      std::string plain = withoutAccents(token);
      if (plain == token) return false;
      out.push_back({.text = std::move(plain), .isFilter = true});
      return true;
   }
};

} // namespace

std::shared_ptr<const TsDictionary> makeDictionary(std::string_view lexize,
                                                   const std::vector<DictionaryOption>& options) {
   if (lexize == "dsimple_lexize") return std::make_shared<SimpleDictionary>(options);
   if (lexize == "dsnowball_lexize") return std::make_shared<SnowballDictionary>(options);
   if (lexize == "unaccent/unaccent_lexize") return std::make_shared<UnaccentDictionary>(options);
   throwNotSupported("text search dictionaries that read files");
}

std::string_view lexizeOf(const catalog::Snapshot& snapshot, Oid ofTemplate) {
   const auto found = catalog::textSearchObject(snapshot, catalog::ObjectKind::TextSearchTemplate, ofTemplate);
   const catalog::FunctionInfo* lexize =
       found && found->functions.size() == 2 ? catalog::functionInfo(snapshot, found->functions[1]) : nullptr;
   return lexize ? lexize->source : std::string_view();
}

std::shared_ptr<const TsDictionary> dictionaryOf(const catalog::Snapshot& snapshot,
                                                 const catalog::TextSearchPtr& dictionary) {
   struct Made {
      catalog::TextSearchPtr of;
      std::shared_ptr<const TsDictionary> dictionary;
   };
   thread_local std::unordered_map<Oid, Made> all;
   constexpr size_t keptMax = 256;
   Made& made = all[dictionary->oid];
   if (made.of != dictionary) {
      const std::string options = dictionary->options.value_or("");
      made = {dictionary,
              makeDictionary(lexizeOf(snapshot, dictionary->base), catalog::readDictionaryOptions(options))};
      if (all.size() > keptMax) {
         Made kept = made;
         all.clear();
         all[dictionary->oid] = std::move(kept);
         return all[dictionary->oid].dictionary;
      }
   }
   return made.dictionary;
}

} // namespace ouzel::executor
