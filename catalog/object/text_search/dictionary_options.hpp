#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::catalog {

/// An option of a dictionary: stopwords = 'german'.
struct DictionaryOption {
   std::string name, value;
   /// Throws 42601 unless the value says true or false.
   bool boolean() const;
};

/// The options that pg_ts_dict.dictinitoption has. Throws 42601 where the text has other things.
std::vector<DictionaryOption> readDictionaryOptions(std::string_view text);
/// The text of options; what is no number stands in quotes.
std::string writeDictionaryOptions(const std::vector<DictionaryOption>& options);

} // namespace ouzel::catalog
