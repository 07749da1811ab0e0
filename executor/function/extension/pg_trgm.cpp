#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unicode/uchar.h>
#include <vector>

#include "catalog/object/snapshot.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/context.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"

// The extension pg_trgm: how similar texts are by the trigrams of their words. A word has two blanks before it and one
// behind it, in lower case.

namespace ouzel::executor {

namespace {

/// Three bytes: three characters of ASCII, or a hash of three characters. In PostgreSQL's order, which is that of
/// signed bytes.
using Trigram = std::array<signed char, 3>;

/// A trigram of characters of more than one byte each, as PostgreSQL abbreviates it.
Trigram hashed(std::string_view bytes) {
   static const std::array<uint32_t, 256> table = [] {
      std::array<uint32_t, 256> made{};
      for (uint32_t i = 0; i < 256; ++i) {
         uint32_t value = i;
         for (int bit = 0; bit < 8; ++bit)
            value = (value & 1) != 0 ? 0xedb88320 ^ (value >> 1) : value >> 1;
         made[i] = value;
      }
      return made;
   }();
   uint32_t crc = ~0u;
   for (const char c : bytes) // the bits of the table are mirrored, those of the sum are not
      crc = table[(crc >> 24) ^ static_cast<unsigned char>(c)] ^ (crc << 8);
   crc = ~crc;
   return {static_cast<signed char>(crc), static_cast<signed char>(crc >> 8), static_cast<signed char>(crc >> 16)};
}

/// The trigrams of a text in their order, and where words begin and end among them.
struct Trigrams {
   std::vector<Trigram> all;
   std::vector<uint32_t> begins, ends; ///< positions of the first and last trigram of each word

   std::vector<Trigram> sorted() const {
      std::vector<Trigram> result = all;
      std::sort(result.begin(), result.end());
      result.erase(std::unique(result.begin(), result.end()), result.end());
      return result;
   }
};

/// Cuts texts into trigrams, by the letters of the database's locale.
class Cutter {
public:
   explicit Cutter(const FunctionContext& context) {
      const auto database = context.catalog ? context.catalog->database(context.catalog->database()) : nullptr;
      isAscii_ = !database || database->ctype == "C" || database->ctype == "POSIX";
   }

   Trigrams cut(std::string_view text) const {
      Trigrams result;
      std::string word;
      for (size_t at = 0; at <= text.size();) {
         const uint32_t c = at < text.size() ? decodeCharacter(text.substr(at)) : ' ';
         if (isPart(c)) {
            appendCharacter(word, lower(c));
         } else if (!word.empty()) {
            add("  " + word + " ", result);
            word.clear();
         }
         at = at < text.size() ? nextCharacter(text, at) : at + 1;
      }
      return result;
   }

private:
   bool isPart(uint32_t c) const {
      if (c < 0x80)
         return (c >= '0' && c <= '9') ||
                (asciiLower(static_cast<char>(c)) >= 'a' && asciiLower(static_cast<char>(c)) <= 'z');
      return !isAscii_ && (u_isalpha(static_cast<UChar32>(c)) || u_isdigit(static_cast<UChar32>(c)));
   }
   static uint32_t lower(uint32_t c) {
      if (c < 0x80) return static_cast<unsigned char>(asciiLower(static_cast<char>(c)));
      return static_cast<uint32_t>(u_tolower(static_cast<UChar32>(c)));
   }
   static void add(const std::string& padded, Trigrams& result) {
      result.begins.push_back(static_cast<uint32_t>(result.all.size()));
      size_t first = 0;
      for (size_t end = offsetOfCharacter(padded, 3);; end = nextCharacter(padded, end)) {
         const std::string_view three = std::string_view(padded).substr(first, end - first);
         if (three.size() == 3)
            result.all.push_back({static_cast<signed char>(three[0]), static_cast<signed char>(three[1]),
                                  static_cast<signed char>(three[2])});
         else
            result.all.push_back(hashed(three));
         if (end >= padded.size()) break;
         first = nextCharacter(padded, first);
      }
      result.ends.push_back(static_cast<uint32_t>(result.all.size() - 1));
   }

   bool isAscii_ = true;
};

float shareOf(int32_t common, int32_t left, int32_t right) {
   return static_cast<float>(common) / static_cast<float>(left + right - common);
}

float similarityOf(const Trigrams& a, const Trigrams& b) {
   const std::vector<Trigram> left = a.sorted(), right = b.sorted();
   if (left.empty() || right.empty()) return 0;
   int32_t common = 0;
   for (size_t i = 0, k = 0; i < left.size() && k < right.size();) {
      if (left[i] == right[k]) ++common;
      const bool isLess = left[i] < right[k], isGreater = right[k] < left[i];
      i += isGreater ? 0 : 1;
      k += isLess ? 0 : 1;
   }
   return shareOf(common, static_cast<int32_t>(left.size()), static_cast<int32_t>(right.size()));
}

/// Searches the text for the stretch of its trigrams that is most similar to the words. The stretch grows to the right;
/// at each of its ends the beginning moves to the right as long as that makes it more similar.
class StretchSearch {
public:
   StretchSearch(const Trigrams& words, const Trigrams& text, bool isStrict) : text_(text), isStrict_(isStrict) {
      const std::vector<Trigram> wanted = words.sorted();
      wanted_ = static_cast<int32_t>(wanted.size());
      const std::vector<Trigram> known = text.sorted();
      for (const Trigram& one : known)
         isWanted_.push_back(std::binary_search(wanted.begin(), wanted.end(), one));
      for (const Trigram& one : text.all)
         numbers_.push_back(static_cast<uint32_t>(std::lower_bound(known.begin(), known.end(), one) - known.begin()));
      last_.assign(known.size(), -1);
   }

   float run() {
      if (wanted_ == 0 || numbers_.empty()) return 0;
      if (isStrict_) begin_ = 0;
      float best = 0;
      for (int32_t at = 0; at < static_cast<int32_t>(numbers_.size()); ++at) {
         const uint32_t number = numberAt(at);
         if (begin_ >= 0 || isWanted_[number]) {
            if (last_[number] < 0) {
               ++distinct_;
               common_ += isWanted_[number] ? 1 : 0;
            }
            last_[number] = at;
         }
         if (isStrict_ ? std::binary_search(text_.ends.begin(), text_.ends.end(), static_cast<uint32_t>(at))
                       : static_cast<bool>(isWanted_[number]))
            best = std::max(best, endAt(at));
      }
      return best;
   }

private:
   uint32_t numberAt(int32_t at) const { return numbers_[static_cast<size_t>(at)]; }
   bool mayBeginAt(int32_t at) const {
      return !isStrict_ || std::binary_search(text_.begins.begin(), text_.begins.end(), static_cast<uint32_t>(at));
   }

   /// The greatest similarity of a stretch that ends here, which then begins where that one does.
   float endAt(int32_t end) {
      if (begin_ < 0) {
         begin_ = end;
         distinct_ = 1;
      }
      float best = shareOf(common_, wanted_, distinct_);
      const int32_t before = begin_;
      int32_t common = common_, distinct = distinct_;
      for (int32_t begin = before; begin <= end; ++begin) {
         if (mayBeginAt(begin)) {
            const float share = shareOf(common, wanted_, distinct);
            if (share > best) {
               best = share;
               begin_ = begin;
               common_ = common;
               distinct_ = distinct;
            }
         }
         const uint32_t number = numberAt(begin);
         if (last_[number] == begin) {
            --distinct;
            common -= isWanted_[number] ? 1 : 0;
         }
      }
      for (int32_t at = before; at < begin_; ++at)
         if (last_[numberAt(at)] == at) last_[numberAt(at)] = -1;
      return best;
   }

   const Trigrams& text_;
   const bool isStrict_;
   int32_t wanted_ = 0;                ///< distinct trigrams of the words
   std::vector<uint32_t> numbers_;     ///< by position in the text: the number of its trigram
   std::vector<char> isWanted_;        ///< by number
   std::vector<int32_t> last_;         ///< by number: its last position in the stretch; -1: none
   int32_t begin_ = -1;                ///< of the stretch; -1: it has not begun
   int32_t common_ = 0, distinct_ = 0; ///< trigrams of the stretch
};

enum class Measure : uint8_t { Whole, Words, StrictWords };

template <Measure measure>
float measured(const Trigrams& a, const Trigrams& b) {
   if constexpr (measure == Measure::Whole) return similarityOf(a, b);
   return StretchSearch(a, b, measure == Measure::StrictWords).run();
}

/// The trigrams of an argument, made once for a constant.
class ArgumentTrigrams {
public:
   ArgumentTrigrams(const Cutter& cutter, const Vector& argument)
      : cutter_(cutter), argument_(argument), isConstant_(argument.encoding == Encoding::Constant) {}
   const Trigrams& at(uint32_t row) {
      if (isConstant_ && isMade_) return made_;
      made_ = cutter_.cut(argument_.value<StringView>(row).view());
      isMade_ = true;
      return made_;
   }

private:
   const Cutter& cutter_;
   const Vector& argument_;
   const bool isConstant_;
   bool isMade_ = false;
   Trigrams made_;
};

/// Calls give(row, similarity) for each row. `isSwapped`: the second argument has the words.
template <Measure measure, bool isSwapped, typename Give>
void forEachSimilarity(const KernelCall& call, Give&& give) {
   const Cutter cutter(call.context);
   ArgumentTrigrams left(cutter, call.args[isSwapped ? 1 : 0]), right(cutter, call.args[isSwapped ? 0 : 1]);
   forEachRow(call.rows, [&](uint32_t row) { give(row, measured<measure>(left.at(row), right.at(row))); });
}

template <Measure measure>
void similarity(const KernelCall& call, ResultVector& result) {
   auto* out = result.values<float>();
   forEachSimilarity<measure, false>(call, [&](uint32_t row, float share) { out[row] = share; });
}

template <Measure measure, bool isSwapped>
void distance(const KernelCall& call, ResultVector& result) {
   auto* out = result.values<float>();
   forEachSimilarity<measure, isSwapped>(
       call, [&](uint32_t row, float share) { out[row] = static_cast<float>(1.0 - static_cast<double>(share)); });
}

template <Measure measure>
constexpr const char* thresholdName = measure == Measure::Whole   ? "pg_trgm.similarity_threshold"
                                      : measure == Measure::Words ? "pg_trgm.word_similarity_threshold"
                                                                  : "pg_trgm.strict_word_similarity_threshold";

template <Measure measure, bool isSwapped>
void isSimilar(const KernelCall& call, ResultVector& result) {
   const double threshold = std::stod(call.context.requireSession("pg_trgm").setting(thresholdName<measure>));
   auto* out = result.values<uint8_t>();
   forEachSimilarity<measure, isSwapped>(
       call, [&](uint32_t row, float share) { out[row] = static_cast<double>(share) >= threshold; });
}

StringView showTrigrams(const StringView& text, KernelEnv& env) {
   ArrayBuilder array(env.strings, oid::text);
   for (const Trigram& one : Cutter(env.context).cut(text.view()).sorted()) {
      std::string shown;
      uint32_t number = 0;
      bool isPrintable = true;
      for (const signed char c : one) {
         shown += static_cast<char>(c);
         number = number << 8 | static_cast<unsigned char>(c);
         isPrintable =
             isPrintable && (c == ' ' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
      }
      array.addText(isPrintable ? shown : fmt::format("0x{:06x}", number));
   }
   return array.finish();
}

float showLimit(KernelEnv& env) {
   return std::stof(env.context.requireSession("show_limit").setting(thresholdName<Measure::Whole>));
}
float setLimit(float limit, KernelEnv& env) {
   return std::stof(env.context.requireSession("set_limit")
                        .setSetting(thresholdName<Measure::Whole>, fmt::format("{}", limit), false));
}

template <Measure measure>
void add(const std::string& name) {
   const std::string prefix = "pg_trgm/" + name;
   registerKernel(prefix, "ss", {similarity<measure>, true, true});
   registerKernel(prefix + "_op", "ss", {isSimilar<measure, false>, true, false});
   if (measure == Measure::Whole) {
      registerKernel(prefix + "_dist", "ss", {distance<measure, false>, true, true});
      return;
   }
   registerKernel(prefix + "_commutator_op", "ss", {isSimilar<measure, true>, true, false});
   registerKernel(prefix + "_dist_op", "ss", {distance<measure, false>, true, true});
   registerKernel(prefix + "_dist_commutator_op", "ss", {distance<measure, true>, true, true});
}

} // namespace

void registerPgTrgm() {
   add<Measure::Whole>("similarity");
   add<Measure::Words>("word_similarity");
   add<Measure::StrictWords>("strict_word_similarity");
   addKernel<showTrigrams>("pg_trgm/show_trgm");
   addKernel<showLimit>("pg_trgm/show_limit");
   addKernel<setLimit>("pg_trgm/set_limit");
}

} // namespace ouzel::executor
