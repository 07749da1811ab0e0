#include "executor/function/text_search/ts_analyzer.hpp"

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "executor/function/name_scope.hpp"

namespace ouzel::executor {

using catalog::ObjectKind;

std::shared_ptr<const TsConfiguration> configurationOf(const FunctionContext& context, Oid oid) {
   const NameScope scope(context);
   const auto found = catalog::textSearchObject(scope.snapshot(), ObjectKind::TextSearchConfiguration, oid);
   if (!found)
      throw SqlError(sqlstate::internalError,
                     "cache lookup failed for text search configuration " + std::to_string(oid));
   auto made = std::make_shared<TsConfiguration>();
   for (const catalog::TextSearchMapping& mapping : found->mappings) {
      const auto token = static_cast<size_t>(mapping.token);
      if (token > tsTokenMax) continue;
      for (const Oid part : mapping.dictionaries) {
         const auto dictionary = catalog::textSearchObject(scope.snapshot(), ObjectKind::TextSearchDictionary, part);
         if (!dictionary)
            throw SqlError(sqlstate::internalError,
                           "cache lookup failed for text search dictionary " + std::to_string(part));
         made->dictionaries[token].push_back(dictionaryOf(scope.snapshot(), dictionary));
         made->oids[token].push_back(part);
      }
   }
   return made;
}

Oid currentConfiguration(const FunctionContext& context) {
   const std::string name =
       context.session ? context.session->setting("default_text_search_config") : "pg_catalog.simple";
   const NameScope scope(context);
   return catalog::regTextSearchIn(scope.names(), oid::regconfig, name);
}

void TsAnalyzer::use(const FunctionContext& context, Oid configuration) {
   if (configuration_ && oid_ == configuration) return;
   configuration_ = configurationOf(context, configuration);
   oid_ = configuration;
}

void TsAnalyzer::clear() {
   words_.clear();
   memory_.clear();
   position_ = 0;
}

bool TsAnalyzer::normalize(const TsConfiguration& configuration, int32_t token, std::string_view text,
                           std::vector<TsLexeme>& lexemes) {
   lexemes.clear();
   std::string filtered;
   for (const auto& dictionary : configuration.dictionaries[static_cast<size_t>(token)]) {
      if (!dictionary->normalize(text, lexemes)) continue;
      if (lexemes.empty() || !lexemes.front().isFilter) return true;
      filtered = std::move(lexemes.front().text);
      text = filtered;
      lexemes.clear();
   }
   return false;
}

void TsAnalyzer::add(std::string_view text) {
   constexpr size_t tokensBetweenChecks = 4096;
   TsParser parser(text);
   for (size_t count = 1; parser.next(); ++count) {
      if (count % tokensBetweenChecks == 0) checkInterrupted();
      const std::string_view token = parser.text();
      if (token.size() > tsWordSizeMax) continue; // too long to be indexed
      if (!normalize(*configuration_, static_cast<int32_t>(parser.token()), token, lexemes_)) continue;
      ++position_;
      for (const TsLexeme& lexeme : lexemes_) {
         if (lexeme.isNextPosition) ++position_;
         words_.push_back({memory_.size(), lexeme.text.size(), position_, lexeme.variant, lexeme.isPrefix});
         memory_ += lexeme.text;
      }
   }
}

std::string_view TsAnalyzer::vector() {
   draft_.clear();
   for (const Word& word : words_)
      draft_.add(textOf(word), {limitedPosition(word.position), 0});
   return draft_.store(tsTextPositionsMax);
}

} // namespace ouzel::executor
