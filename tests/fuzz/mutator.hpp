#pragma once
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::fuzz {

/// Makes inputs from seeds. Text is mutated token by token, with tokens of all seeds, so that much of it still parses.
/// Other input is mutated byte by byte. The first byte of an input, which selects the target's mode, is random.
class Mutator {
public:
   /// `seeds` outlive the mutator.
   Mutator(const std::vector<std::string>& seeds, bool isText);
   /// The mutation of this number; the same for the same number.
   std::string mutate(uint64_t number) const;

private:
   using Random = std::mt19937_64;
   std::string mutateText(Random& random, std::string_view seed) const;
   std::string mutateBytes(Random& random, std::string bytes) const;
   void changeTokens(Random& random, std::vector<std::string_view>& tokens) const;

   void swapBrackets(Random& random, std::vector<std::string_view>& tokens) const;

   const std::vector<std::string>& seeds_;
   bool isText_;
   std::vector<std::string_view> tokens_; // of all seeds, with repetitions
};

} // namespace ouzel::fuzz
