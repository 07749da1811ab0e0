#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/text_search/dictionary_options.hpp"
#include "catalog/object/text_search/text_search.hpp"

namespace ouzel::executor {

/// What a dictionary makes of a token: lexemes, or none for a stop word.
struct TsLexeme {
   std::string text;
   uint32_t variant = 0;        ///< lexemes of one variant belong together
   bool isNextPosition = false; ///< it stands behind the one before
   bool isPrefix = false;
   bool isFilter = false; ///< the next dictionary gets it in the place of the token
};

/// Normalizes tokens. Several threads may use one.
class TsDictionary {
public:
   virtual ~TsDictionary() = default;
   /// Adds the lexemes of a token to a list; false: the dictionary does not know it.
   virtual bool normalize(std::string_view token, std::vector<TsLexeme>& out) const = 0;
};

/// A dictionary of the template with the lexize function of this prosrc. Throws 0A000 for a template that is not built,
/// 22023 for wrong options.
std::shared_ptr<const TsDictionary> makeDictionary(std::string_view lexize,
                                                   const std::vector<catalog::DictionaryOption>& options);

/// The prosrc of the lexize function of a template; empty: there is no such template.
std::string_view lexizeOf(const catalog::Snapshot& snapshot, Oid ofTemplate);
/// The same, made once for each state of the dictionary and thread.
std::shared_ptr<const TsDictionary> dictionaryOf(const catalog::Snapshot& snapshot,
                                                 const catalog::TextSearchPtr& dictionary);

} // namespace ouzel::executor
