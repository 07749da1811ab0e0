#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/ts_vector.hpp"
#include "executor/function/context.hpp"
#include "executor/function/text_search/ts_dictionary.hpp"
#include "executor/function/text_search/ts_parser.hpp"

namespace ouzel::executor {

/// A configuration with its dictionaries, ready for use.
struct TsConfiguration {
   using Dictionaries = std::vector<std::shared_ptr<const TsDictionary>>;
   std::array<Dictionaries, tsTokenMax + 1> dictionaries; ///< by token
   std::array<std::vector<Oid>, tsTokenMax + 1> oids;     ///< the same dictionaries
};

/// Throws XX000 for an OID without a configuration.
std::shared_ptr<const TsConfiguration> configurationOf(const FunctionContext& context, Oid configuration);
/// The configuration that default_text_search_config names. Throws 22023, 42704.
Oid currentConfiguration(const FunctionContext& context);

/// Finds the words of texts by a configuration, and their positions. May be used for many texts, and keeps its memory.
class TsAnalyzer {
public:
   /// A word as a dictionary made it.
   struct Word {
      size_t begin, size; ///< in the analyzer's memory: see textOf()
      uint32_t position;  ///< without a limit
      uint32_t variant;
      bool isPrefix;
   };

   /// Looks the configuration up unless it is the one before.
   void use(const FunctionContext& context, Oid configuration);
   const TsConfiguration& configuration() const { return *configuration_; }

   /// Forgets all words; positions begin with 1 again.
   void clear();
   /// Adds the words of a text.
   void add(std::string_view text);
   /// Leaves a position free, unless no text had words.
   void skipPosition() { ++position_; }
   const std::vector<Word>& words() const { return words_; }
   std::string_view textOf(const Word& word) const { return {memory_.data() + word.begin, word.size}; }
   /// The vector of the words. Valid until the next call.
   std::string_view vector();

   /// The lexemes of a token in `lexemes`; false: no dictionary knows it.
   static bool normalize(const TsConfiguration& configuration, int32_t token, std::string_view text,
                         std::vector<TsLexeme>& lexemes);

private:
   Oid oid_ = invalidOid;
   std::shared_ptr<const TsConfiguration> configuration_;
   std::vector<Word> words_;
   std::string memory_;
   std::vector<TsLexeme> lexemes_;
   TsVectorDraft draft_;
   uint32_t position_ = 0;
};

} // namespace ouzel::executor
