#include "executor/function/text_search/ts_headline.hpp"

#include <charconv>

#include "catalog/object/text_search/dictionary_options.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/json_parser.hpp"
#include "common/json/jsonb.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text_search/ts_headline_words.hpp"
#include "executor/function/text_search_families.hpp"

// ts_headline()

namespace ouzel::executor {

namespace {

int32_t numberOf(const catalog::DictionaryOption& option) {
   int32_t number = 0;
   const char* end = option.value.data() + option.value.size();
   const auto [at, problem] = std::from_chars(option.value.data(), end, number);
   if (problem == std::errc::result_out_of_range)
      throw SqlError(sqlstate::numericValueOutOfRange,
                     "value \"" + option.value + "\" is out of range for type integer");
   if (problem != std::errc() || at != end)
      throw SqlError(sqlstate::invalidTextRepresentation,
                     "invalid input syntax for type integer: \"" + option.value + '"');
   return number;
}

[[noreturn]] void refuse(const std::string& problem) {
   throw SqlError(sqlstate::invalidParameterValue, problem);
}

void readOption(TsHeadlineOptions& options, const catalog::DictionaryOption& option) {
   const std::string name = lowerCase(option.name);
   if (name == "maxwords") {
      options.wordsMax = numberOf(option);
   } else if (name == "minwords") {
      options.wordsMin = numberOf(option);
   } else if (name == "shortword") {
      options.shortWord = numberOf(option);
   } else if (name == "maxfragments") {
      options.fragmentsMax = numberOf(option);
   } else if (name == "startsel") {
      options.before = option.value;
   } else if (name == "stopsel") {
      options.after = option.value;
   } else if (name == "fragmentdelimiter") {
      options.delimiter = option.value;
   } else if (name == "highlightall") {
      const std::string value = lowerCase(option.value);
      options.isWhole =
          value == "1" || value == "on" || value == "true" || value == "t" || value == "y" || value == "yes";
   } else {
      refuse("unrecognized headline parameter: \"" + option.name + '"');
   }
}

/// The words of a query in the order in which PostgreSQL stores them: the right operand before the left one.
void collectWords(const TsQuery& query, int32_t node, std::vector<int32_t>& words) {
   if (node == TsQuery::none) return;
   if (query[node].isWord()) words.push_back(node);
   collectWords(query, query[node].right, words);
   collectWords(query, query[node].left, words);
}

/// The tokens of a text, and which words of the query they are.
TsHeadlineWords wordsOf(const TsConfiguration& configuration, std::string_view text, const TsQuery& query) {
   std::vector<int32_t> sought;
   collectWords(query, query.root, sought);
   TsHeadlineWords words;
   std::vector<TsLexeme> lexemes;
   uint32_t position = 0;
   for (TsParser parser(text); parser.next();) {
      if (parser.text().size() > tsWordSizeMax) continue;
      words.push_back({.token = parser.token(), .text = parser.text()});
      if (!TsAnalyzer::normalize(configuration, static_cast<int32_t>(parser.token()), parser.text(), lexemes)) continue;
      ++position;
      const size_t at = words.size() - 1;
      for (const TsLexeme& lexeme : lexemes) {
         if (lexeme.isNextPosition) ++position;
         words[at].position = limitedPosition(position);
         for (const int32_t number : sought) {
            const TsQueryNode& word = query[number];
            if (word.isPrefix ? !std::string_view(lexeme.text).starts_with(word.word) : lexeme.text != word.word)
               continue;
            if (words[at].sought == TsQuery::none) {
               words[at].sought = number;
            } else {
               words.push_back(words[at]);
               words.back().sought = number;
               words.back().isRepeated = true;
            }
         }
      }
   }
   return words;
}

std::string textOf(const TsHeadlineWords& words, const TsHeadlineOptions& options) {
   std::string text;
   bool isInside = false, isFirst = true;
   for (const TsHeadlineWord& word : words) {
      if (word.isRepeated) continue;
      if (word.isChosen && !isInside) {
         if (!isFirst) text += options.delimiter;
         isFirst = false;
      }
      isInside = word.isChosen;
      if (!isInside) continue;
      if (word.isBlank) {
         text += ' ';
      } else if (!word.isLeftOut) {
         if (word.isMarked) text += options.before;
         text += word.text;
         if (word.isMarked) text += options.after;
      }
   }
   return text;
}

} // namespace

TsHeadlineOptions TsHeadlineOptions::read(std::string_view text) {
   TsHeadlineOptions options;
   for (const catalog::DictionaryOption& option : catalog::readDictionaryOptions(text))
      readOption(options, option);
   if (options.isWhole) return options;
   if (options.wordsMin >= options.wordsMax) refuse("MinWords should be less than MaxWords");
   if (options.wordsMin <= 0) refuse("MinWords should be positive");
   if (options.shortWord < 0) refuse("ShortWord should be >= 0");
   if (options.fragmentsMax < 0) refuse("MaxFragments should be >= 0");
   return options;
}

std::string tsHeadline(const TsConfiguration& configuration, std::string_view text, const TsQuery& query,
                       const TsHeadlineOptions& options) {
   TsHeadlineWords words = wordsOf(configuration, text, query);
   selectHeadline(words, query, options);
   return textOf(words, options);
}

namespace {

/// The headline of each text of a row's document.
struct HeadlineOfRow {
   const TsConfiguration& configuration;
   const TsQuery& query;
   const TsHeadlineOptions& options;
   std::string operator()(std::string_view text) const { return tsHeadline(configuration, text, query, options); }
};
using ChangeDocument = std::string (*)(const HeadlineOfRow& headline, std::string_view document);

std::string changeText(const HeadlineOfRow& headline, std::string_view text) {
   return headline(text);
}

/// Writes the document that the parser tells, with headlines in the place of its strings.
struct JsonChanger {
   static constexpr bool decodesStrings = true;
   const HeadlineOfRow& headline;
   std::string out = {};
   bool needsComma = false;

   void separate() {
      if (needsComma) out += ',';
      needsComma = false;
   }
   void beginObject(size_t) {
      separate();
      out += '{';
   }
   void endObject(size_t) {
      out += '}';
      needsComma = true;
   }
   void beginArray(size_t) {
      separate();
      out += '[';
   }
   void endArray(size_t) {
      out += ']';
      needsComma = true;
   }
   void key(std::string_view text) {
      separate();
      json::appendQuoted(out, text);
      out += ':';
   }
   void scalar(json::Token token, std::string_view text, size_t, size_t) {
      separate();
      if (token == json::Token::String)
         json::appendQuoted(out, headline(text));
      else
         out += text;
      needsComma = true;
   }
};
std::string changeJson(const HeadlineOfRow& headline, std::string_view document) {
   JsonChanger changer{headline};
   json::parse(document, changer);
   return std::move(changer.out);
}

void copyChanged(json::JsonbWriter& writer, const json::JsonbView& value, const HeadlineOfRow& headline) {
   checkStack();
   switch (value.kind()) {
   case json::Kind::String: return writer.string(headline(value.string()));
   case json::Kind::Array:
      writer.beginArray();
      for (uint32_t i = 0; i < value.size(); ++i)
         copyChanged(writer, value.element(i), headline);
      return writer.endArray();
   case json::Kind::Object:
      writer.beginObject();
      for (uint32_t i = 0; i < value.size(); ++i) {
         writer.key(value.key(i));
         copyChanged(writer, value.element(i), headline);
      }
      return writer.endObject();
   default: return writer.value(value);
   }
}
std::string changeJsonb(const HeadlineOfRow& headline, std::string_view document) {
   json::JsonbWriter writer;
   copyChanged(writer, json::JsonbView(document), headline);
   return writer.finish();
}

template <ChangeDocument change, bool hasConfiguration, bool hasOptions>
void headlineKernel(const KernelCall& call, ResultVector& result) {
   constexpr size_t first = hasConfiguration ? 1 : 0;
   auto* out = result.values<StringView>();
   TsAnalyzer analyzer;
   const Oid current = hasConfiguration ? invalidOid : currentConfiguration(call.context);
   forEachRow(call.rows, [&](uint32_t row) {
      analyzer.use(call.context, hasConfiguration ? static_cast<Oid>(call.args[0].value<int64_t>(row)) : current);
      const StringView document = call.args[first].value<StringView>(row),
                       asked = call.args[first + 1].value<StringView>(row);
      TsHeadlineOptions options;
      if constexpr (hasOptions) {
         const StringView text = call.args[first + 2].value<StringView>(row);
         options = TsHeadlineOptions::read(text.view());
      }
      const TsQuery query(asked.view());
      const std::string changed = change({analyzer.configuration(), query, options}, document.view());
      out[row] = result.strings().copyString(changed);
   });
}

template <ChangeDocument change>
void addHeadlines(const std::string& name) {
   registerKernel(name, "ss", {headlineKernel<change, false, false>, true, false});
   registerKernel(name + "_opt", "sss", {headlineKernel<change, false, true>, true, false});
   registerKernel(name + "_byid", "lss", {headlineKernel<change, true, false>, true, false});
   registerKernel(name + "_byid_opt", "lsss", {headlineKernel<change, true, true>, true, false});
}

} // namespace

void registerTsHeadline() {
   addHeadlines<changeText>("ts_headline");
   addHeadlines<changeJson>("ts_headline_json");
   addHeadlines<changeJsonb>("ts_headline_jsonb");
}

} // namespace ouzel::executor
