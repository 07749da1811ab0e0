#include "executor/function/text/regex_syntax.hpp"

#include <utility>

#include "common/error/sql_error.hpp"
#include "executor/function/text/collating_elements.hpp"
#include "executor/function/text/utf8_text.hpp"

namespace ouzel::executor {

namespace {

using Kind = RegexNode::Kind;
using NodePtr = std::unique_ptr<RegexNode>;

constexpr int32_t repeatMax = 255; // PostgreSQL's DUPMAX
/// An expression of 75,000 characters or of 50,000 alternatives is too complex; PostgreSQL's limits are near. Below, a
/// compilation takes some 50 MB and 0.1 s.
constexpr uint32_t weightMax = 300'000, weightOfText = 4;

[[noreturn, gnu::cold]] void throwInvalid(const char* what) {
   throw SqlError(sqlstate::invalidRegularExpression, std::string("invalid regular expression: ") + what);
}

bool isDigit(char c) {
   return c >= '0' && c <= '9';
}
bool isLetter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool isWordChar(char c) {
   return isDigit(c) || isLetter(c) || c == '_';
}

/// One character in RE2's syntax.
std::string escaped(uint32_t c) {
   if (c < 0x80 && (isWordChar(static_cast<char>(c)) || c == ' ')) return std::string(1, static_cast<char>(c));
   if (c < 0x80 && c > 0x20 && c != 0x7f) return {'\\', static_cast<char>(c)};
   char buffer[16];
   std::snprintf(buffer, sizeof buffer, "\\x{%x}", c);
   return buffer;
}

class Parser {
public:
   Parser(std::string_view pattern, RegexSyntax& out) : rest_(pattern), out_(out) {}
   NodePtr parse() {
      NodePtr root = choice(0);
      if (!rest_.empty()) throwInvalid("parentheses () not balanced");
      return root;
   }

private:
   /// An anchor, which matches no characters.
   NodePtr constraint(std::string t) {
      NodePtr node = make(Kind::Text);
      grow(weightOfText - 1);
      node->text = std::move(t);
      return node;
   }
   /// An atom that matches one character, one of `first`.
   NodePtr text(std::string t, const RegexFirst& first, bool isExact) {
      NodePtr node = constraint(std::move(t));
      node->width = {1, 1};
      node->first = first;
      node->isExactFirst = isExact;
      return node;
   }
   NodePtr make(Kind kind) {
      grow(1);
      auto node = std::make_unique<RegexNode>();
      node->kind = kind;
      return node;
   }
   void grow(uint32_t weight) {
      weight_ += weight;
      if (weight_ > weightMax) throwInvalid("regular expression is too complex");
   }
   bool at(char c) const { return !rest_.empty() && rest_[0] == c; }
   bool atText(std::string_view t) const { return rest_.starts_with(t); }
   bool take(char c) {
      if (!at(c)) return false;
      rest_.remove_prefix(1);
      return true;
   }
   uint32_t takeCharacter() {
      const uint32_t c = decodeCharacter(rest_);
      rest_.remove_prefix(characterBytes(rest_[0]));
      return c;
   }

   /// Skip white space and comments of expanded syntax, and (?#...).
   void skipIgnored() {
      for (;;) {
         if (atText("(?#")) {
            const size_t end = rest_.find(')');
            if (end == std::string_view::npos) throwInvalid("parentheses () not balanced");
            rest_.remove_prefix(end + 1);
         } else if (out_.flags.expanded && !rest_.empty() &&
                    (rest_[0] == ' ' || (rest_[0] >= '\t' && rest_[0] <= '\r'))) {
            rest_.remove_prefix(1);
         } else if (out_.flags.expanded && at('#')) {
            const size_t end = rest_.find('\n');
            rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
         } else {
            return;
         }
      }
   }

   NodePtr choice(uint32_t depth) {
      if (depth > 500) throwInvalid("regular expression is too complex");
      NodePtr first = sequence(depth);
      if (!at('|')) return first;
      NodePtr node = make(Kind::Choice);
      node->children.push_back(std::move(first));
      while (take('|'))
         node->children.push_back(sequence(depth));
      node->width = node->children[0]->width;
      for (const NodePtr& child : node->children) {
         node->width = node->width | child->width;
         node->first |= child->first;
      }
      return node;
   }

   NodePtr sequence(uint32_t depth) {
      NodePtr node = make(Kind::Sequence);
      previousIsWord_ = false;
      for (;;) {
         skipIgnored();
         if (rest_.empty() || at('|') || (at(')') && depth > 0)) return node;
         bool isConstraint = false;
         NodePtr atom = this->atom(depth, isConstraint);
         skipIgnored();
         atom = quantified(std::move(atom), isConstraint);
         previousIsWord_ = isWordAtom(*atom);
         if (node->width.min == 0) node->first |= atom->first;
         node->width = node->width + atom->width;
         node->children.push_back(std::move(atom));
      }
   }

   static bool isWordAtom(const RegexNode& atom) {
      return atom.kind == Kind::Text && atom.text.size() == 1 && isWordChar(atom.text[0]);
   }

   NodePtr quantified(NodePtr atom, bool isConstraint) {
      int32_t min = 0, max = 0;
      bool isExact = false;
      if (take('*')) {
         max = -1;
      } else if (take('+')) {
         min = 1;
         max = -1;
      } else if (take('?')) {
         max = 1;
      } else if (at('{') && rest_.size() > 1 && isDigit(rest_[1])) {
         rest_.remove_prefix(1);
         isExact = bounds(min, max);
      } else {
         return atom;
      }
      if (isConstraint) throwInvalid("quantifier operand invalid");
      NodePtr node = make(Kind::Repeat);
      node->min = min;
      node->max = max;
      node->isLazy = take('?');
      node->isExact = isExact;
      node->width = atom->width.repeated(min, max);
      if (max != 0) node->first = atom->first;
      node->children.push_back(std::move(atom));
      skipIgnored();
      if (at('*') || at('+') || at('?') || (at('{') && rest_.size() > 1 && isDigit(rest_[1])))
         throwInvalid("quantifier operand invalid");
      return node;
   }

   int32_t number() {
      int32_t n = 0;
      if (rest_.empty() || !isDigit(rest_[0])) throwInvalid("invalid repetition count(s)");
      while (!rest_.empty() && isDigit(rest_[0])) {
         n = n * 10 + (rest_[0] - '0');
         if (n > repeatMax) throwInvalid("invalid repetition count(s)");
         rest_.remove_prefix(1);
      }
      return n;
   }
   /// True: {m}.
   bool bounds(int32_t& min, int32_t& max) {
      min = max = number();
      const bool isExact = !take(',');
      if (!isExact) max = at('}') ? -1 : number();
      if (rest_.empty()) throwInvalid("braces {} not balanced");
      if (!take('}') || (max >= 0 && max < min)) throwInvalid("invalid repetition count(s)");
      return isExact;
   }

   static void addFirst(RegexFirst& first, uint32_t low, uint32_t high) {
      for (uint32_t c = low; c <= std::min<uint32_t>(high, 127); ++c)
         first.set(c);
      if (high > 127) first.set(128);
   }

   NodePtr literal(uint32_t c) {
      RegexFirst first;
      addFirst(first, c, c);
      if (out_.flags.ignoreCase && c < 0x80 && isLetter(static_cast<char>(c))) {
         const char l = asciiLower(static_cast<char>(c)), u = asciiUpper(static_cast<char>(c));
         addFirst(first, static_cast<uint8_t>(l), static_cast<uint8_t>(l));
         addFirst(first, static_cast<uint8_t>(u), static_cast<uint8_t>(u));
         return text({'[', u, l, ']'}, first, true);
      }
      return text(escaped(c), first, c < 0x80);
   }

   NodePtr atom(uint32_t depth, bool& isConstraint) {
      const char c = rest_[0];
      switch (c) {
      case '(': return group(depth, isConstraint);
      case ')': throwInvalid("parentheses () not balanced");
      case '[': return bracketOrBoundary(isConstraint);
      case '.':
         rest_.remove_prefix(1);
         return text(out_.flags.dotNewline ? RegexNode::anyCharacter : "[^\\n]", ~RegexFirst(), out_.flags.dotNewline);
      case '^':
         rest_.remove_prefix(1);
         isConstraint = true;
         return constraint(out_.flags.lineAnchors ? "(?m:^)" : RegexNode::startOfText);
      case '$':
         rest_.remove_prefix(1);
         isConstraint = true;
         return constraint(out_.flags.lineAnchors ? "(?m:$)" : RegexNode::endOfText);
      case '*':
      case '+':
      case '?': throwInvalid("quantifier operand invalid");
      case '{':
         if (rest_.size() > 1 && isDigit(rest_[1])) throwInvalid("quantifier operand invalid");
         rest_.remove_prefix(1);
         return literal('{');
      case '\\': return escape(isConstraint);
      default: return literal(takeCharacter());
      }
   }

   /// The rest of (?=...), (?!...), (?<=...) and (?<!...). Groups in it do not capture.
   NodePtr look(uint32_t depth) {
      NodePtr node = special(Kind::Look);
      node->looksAhead = !take('<');
      node->isNegated = at('!');
      rest_.remove_prefix(1);
      const bool wasInLook = std::exchange(inLook_, true);
      node->children.push_back(choice(depth + 1));
      inLook_ = wasInLook;
      if (!take(')')) throwInvalid("parentheses () not balanced");
      return node;
   }

   NodePtr special(Kind kind) {
      NodePtr node = make(kind);
      grow(weightOfText);
      out_.isBeyondRe2 = true;
      return node;
   }

   NodePtr group(uint32_t depth, bool& isConstraint) {
      rest_.remove_prefix(1);
      NodePtr node = make(Kind::Group);
      node->isCapture = !inLook_;
      if (take('?')) {
         if (take(':')) {
            node->isCapture = false;
         } else if (at('=') || at('!') || atText("<=") || atText("<!")) {
            isConstraint = true;
            return look(depth);
         } else {
            throwInvalid("quantifier operand invalid");
         }
      }
      if (node->isCapture) {
         node->capture = ++out_.captures;
         isClosed_.resize(node->capture + 1);
         widths_.resize(node->capture + 1);
      }
      node->children.push_back(choice(depth + 1));
      node->width = node->children[0]->width;
      node->first = node->children[0]->first;
      if (!take(')')) throwInvalid("parentheses () not balanced");
      if (node->isCapture) {
         isClosed_[node->capture] = true;
         widths_[node->capture] = node->width;
      }
      return node;
   }

   // ---- escapes ----

   /// Whether the next atom, which is not optional, is a word character.
   bool isWordNext() const {
      for (const std::string_view atom : {"[[:alpha:]]", "[[:alnum:]]", "\\w", "\\d"})
         if (atText(atom)) return !isOptional(rest_.substr(atom.size()));
      return !rest_.empty() && isWordChar(rest_[0]) && !isOptional(rest_.substr(1));
   }
   static bool isOptional(std::string_view quantifier) {
      return !quantifier.empty() && std::string_view("*?{").find(quantifier[0]) != std::string_view::npos;
   }

   NodePtr wordEdge(bool isStart) {
      // RE2 has only \b. A word character follows the start of a word and precedes its end.
      if (isStart) return isWordNext() ? constraint("\\b") : special(Kind::WordStart);
      return previousIsWord_ ? constraint("\\b") : special(Kind::WordEnd);
   }

   uint32_t hex(size_t digitsMin, size_t digitsMax) {
      uint32_t value = 0;
      size_t count = 0;
      while (count < digitsMax && !rest_.empty()) {
         const char c = rest_[0];
         const int digit = isDigit(c)             ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                  : -1;
         if (digit < 0) break;
         value = value * 16 + static_cast<uint32_t>(digit);
         if (value > 0x10ffff) throwInvalid("invalid escape \\ sequence");
         rest_.remove_prefix(1);
         ++count;
      }
      if (count < digitsMin) throwInvalid("invalid escape \\ sequence");
      return value;
   }

   /// Sets `out` if the escape stands for one character. False: another kind of escape. `c` is the character after the
   /// backslash; both have been consumed.
   bool characterEscape(char c, uint32_t& out) {
      switch (c) {
      case 'a': out = 7; return true;
      case 'b': out = 8; return true;
      case 'B': out = '\\'; return true;
      case 'c':
         if (rest_.empty()) throwInvalid("invalid escape \\ sequence");
         out = takeCharacter() & 31;
         return true;
      case 'e': out = 27; return true;
      case 'f': out = 12; return true;
      case 'n': out = 10; return true;
      case 'r': out = 13; return true;
      case 't': out = 9; return true;
      case 'v': out = 11; return true;
      case 'u': out = hex(4, 4); return true;
      case 'U': out = hex(8, 8); return true;
      case 'x': out = hex(1, 255); return true;
      case '0':
         out = 0;
         for (int i = 0; i < 2 && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '7'; ++i, rest_.remove_prefix(1))
            out = out * 8 + static_cast<uint32_t>(rest_[0] - '0');
         return true;
      default: return isDigit(c) && octalEscape(c, out);
      }
   }

   /// Several digits that are no group's number so far are octal ones. One digit is a back reference.
   bool octalEscape(char c, uint32_t& out) {
      const std::string_view digits = rest_;
      if (digits.empty() || !isDigit(digits[0])) return false;
      const uint32_t decimal = number10(c);
      rest_ = digits;
      if (decimal <= out_.captures) return false;
      if (c > '7') throwInvalid("invalid escape \\ sequence");
      out = static_cast<uint32_t>(c - '0');
      for (int i = 0; i < 2 && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '7'; ++i, rest_.remove_prefix(1))
         out = out * 8 + static_cast<uint32_t>(rest_[0] - '0');
      return true;
   }

   static std::string_view classOf(char c) {
      switch (c) {
      case 'd': return "[0-9]";
      case 'D': return "[^0-9]";
      case 's': return "[\\t-\\r ]";
      case 'S': return "[^\\t-\\r ]";
      case 'w': return "[0-9A-Za-z_]";
      case 'W': return "[^0-9A-Za-z_]";
      default: return {};
      }
   }

   static RegexFirst firstOf(char c) {
      RegexFirst first;
      if (c == 'd' || c == 'D' || c == 'w' || c == 'W') addFirst(first, '0', '9');
      if (c == 's' || c == 'S') {
         addFirst(first, '\t', '\r');
         addFirst(first, ' ', ' ');
      }
      if (c == 'w' || c == 'W') {
         addFirst(first, 'A', 'Z');
         addFirst(first, 'a', 'z');
         addFirst(first, '_', '_');
      }
      return c == 'D' || c == 'S' || c == 'W' ? ~first : first;
   }

   NodePtr escape(bool& isConstraint) {
      rest_.remove_prefix(1);
      if (rest_.empty()) throwInvalid("invalid escape \\ sequence");
      const char c = rest_[0];
      if (!isDigit(c) && !isLetter(c)) return literal(takeCharacter());
      rest_.remove_prefix(1);
      if (const std::string_view set = classOf(c); !set.empty()) {
         return text(std::string(set), firstOf(c), true);
      }
      isConstraint = true;
      switch (c) {
      case 'A': return constraint(RegexNode::startOfText);
      case 'Z': return constraint(RegexNode::endOfText);
      case 'm': return wordEdge(true);
      case 'M': return wordEdge(false);
      case 'y': return constraint("\\b");
      case 'Y': out_.hasNonBoundary = true; return constraint("\\B");
      default: break;
      }
      isConstraint = false;
      uint32_t character;
      if (characterEscape(c, character)) return literal(character);
      if (isDigit(c)) {
         const uint32_t group = number10(c);
         if (inLook_ || group > out_.captures || !isClosed_[group]) throwInvalid("invalid backreference number");
         return backReference(group);
      }
      throwInvalid("invalid escape \\ sequence");
   }

   NodePtr backReference(uint32_t group) {
      NodePtr node = special(Kind::BackReference);
      node->capture = group;
      node->width = widths_[group];
      node->first.set(); // of the group: not known here
      return node;
   }

   /// The number whose first digit, `c`, has been consumed.
   uint32_t number10(char c) {
      uint32_t value = static_cast<uint32_t>(c - '0');
      for (; !rest_.empty() && isDigit(rest_[0]) && value < weightMax; rest_.remove_prefix(1))
         value = value * 10 + static_cast<uint32_t>(rest_[0] - '0');
      return value;
   }

   // ---- bracket expressions ----

   NodePtr bracketOrBoundary(bool& isConstraint) {
      if (atText("[[:<:]]") || atText("[[:>:]]")) {
         const bool isStart = rest_[3] == '<';
         rest_.remove_prefix(7);
         isConstraint = true;
         return wordEdge(isStart);
      }
      rest_.remove_prefix(1);
      const bool isNegated = take('^');
      std::string set;
      RegexFirst first;
      bool hasClass = false, isFirst = true;
      while (rest_.empty() || !at(']') || isFirst) {
         if (rest_.empty()) throwInvalid("brackets [] not balanced");
         const bool wasFirst = std::exchange(isFirst, false);
         if (atText("[:")) {
            namedClass(set);
            first.set(); // of a class: not known here
            hasClass = true;
            continue;
         }
         if (at('-') && !wasFirst && rest_.size() > 1 && rest_[1] != ']') throwInvalid("invalid character range");
         if (atClassEscape()) {
            appendClassEscape(set, rest_[1]);
            first |= firstOf(rest_[1]);
            rest_.remove_prefix(2);
            continue;
         }
         const bool isEquivalence = atText("[=");
         const uint32_t low = bracketCharacter();
         uint32_t high = low;
         if (!isEquivalence && at('-') && rest_.size() > 1 && rest_[1] != ']') {
            rest_.remove_prefix(1);
            if (atText("[:") || atText("[=") || atClassEscape()) throwInvalid("invalid character range");
            high = bracketCharacter();
            if (high < low) throwInvalid("invalid character range");
         }
         appendRange(set, first, low, high);
      }
      rest_.remove_prefix(1);
      const bool isExact = !hasClass && !first.test(128) && (!isNegated || out_.flags.dotNewline);
      if (isNegated && !out_.flags.dotNewline) set.append("\\n");
      if (isNegated) {
         first = hasClass ? ~RegexFirst() : ~first;
         first.set(128);
      }
      return text((isNegated ? "[^" : "[") + set + "]", first, isExact);
   }

   bool atClassEscape() const { return at('\\') && rest_.size() > 1 && !classOf(rest_[1]).empty(); }

   static void appendClassEscape(std::string& set, char c) {
      switch (c) {
      case 'D': set.append("\\x{0}-/:-\\x{10ffff}"); return;
      case 'W': set.append("\\x{0}-/:-@\\[-\\^`\\{-\\x{10ffff}"); return;
      case 'S': set.append("\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{10ffff}"); return;
      default: break;
      }
      const std::string_view positive = classOf(c);
      set.append(positive.substr(1, positive.size() - 2));
   }

   uint32_t bracketCharacter() {
      if (rest_.empty()) throwInvalid("brackets [] not balanced");
      if (atText("[.") || atText("[=")) {
         const std::string close = {rest_[1], ']'};
         const size_t end = rest_.find(close, 2);
         if (end == std::string_view::npos) throwInvalid("brackets [] not balanced");
         const std::string_view name = rest_.substr(2, end - 2);
         rest_.remove_prefix(end + 2);
         if (!name.empty() && name.size() == characterBytes(name[0])) return decodeCharacter(name);
         if (const std::optional<uint32_t> character = collatingElement(name)) return *character;
         throwInvalid("invalid collating element");
      }
      if (at('\\')) {
         rest_.remove_prefix(1);
         if (rest_.empty()) throwInvalid("invalid escape \\ sequence");
         const char c = rest_[0];
         if (!isDigit(c) && !isLetter(c)) return takeCharacter();
         rest_.remove_prefix(1);
         uint32_t character;
         if (!characterEscape(c, character)) throwInvalid("invalid escape \\ sequence");
         return character;
      }
      return takeCharacter();
   }

   void appendRange(std::string& set, RegexFirst& first, uint32_t low, uint32_t high) const {
      const auto put = [&](uint32_t l, uint32_t h) {
         addFirst(first, l, h);
         set.append(escaped(l));
         if (h != l) set.append("-").append(escaped(h));
      };
      put(low, high);
      if (!out_.flags.ignoreCase) return;
      const auto fold = [&](uint32_t from, uint32_t to, int32_t shift) {
         const uint32_t l = std::max(low, from), h = std::min(high, to);
         if (l <= h) put(l + static_cast<uint32_t>(shift), h + static_cast<uint32_t>(shift));
      };
      fold('a', 'z', -32);
      fold('A', 'Z', 32);
   }

   void namedClass(std::string& set) {
      const size_t end = rest_.find(":]", 2);
      if (end == std::string_view::npos) throwInvalid("brackets [] not balanced");
      std::string name(rest_.substr(2, end - 2));
      rest_.remove_prefix(end + 2);
      if (out_.flags.ignoreCase && (name == "lower" || name == "upper")) name = "alpha";
      for (const char* known : {"alpha", "upper", "lower", "digit", "xdigit", "alnum", "print", "blank", "space",
                                "punct", "graph", "cntrl", "word", "ascii"}) {
         if (name != known) continue;
         set.append("[:").append(name).append(":]");
         return;
      }
      throwInvalid("invalid character class");
   }

   std::string_view rest_;
   uint32_t weight_ = 0; ///< of the nodes made
   RegexSyntax& out_;
   bool previousIsWord_ = false;
   bool inLook_ = false;
   std::vector<bool> isClosed_;     ///< by capturing group: it has ended
   std::vector<RegexWidth> widths_; ///< of the groups that have ended
};

/// Embedded options at the start: ***:, ***=, (?xyz).
std::string_view takePrefixes(std::string_view pattern, RegexFlags& flags) {
   if (pattern.starts_with("***=")) {
      flags.literal = true;
      return pattern.substr(4);
   }
   if (pattern.starts_with("***:")) pattern.remove_prefix(4);
   if (!pattern.starts_with("(?") || pattern.size() < 3 || !isLetter(pattern[2])) return pattern;
   size_t at = 2;
   for (; at < pattern.size() && isLetter(pattern[at]); ++at)
      if (!applyRegexOption(flags, pattern[at])) throwInvalid("invalid embedded option");
   if (at >= pattern.size() || pattern[at] != ')') throwInvalid("invalid embedded option");
   return pattern.substr(at + 1);
}

} // namespace

bool applyRegexOption(RegexFlags& flags, char option) {
   switch (option) {
   case 'b': throwNotSupported("basic regular expressions");
   case 'c': flags.ignoreCase = false; break;
   case 'e': break;
   case 'i': flags.ignoreCase = true; break;
   case 'm':
   case 'n':
      flags.dotNewline = false;
      flags.lineAnchors = true;
      break;
   case 'p': flags.dotNewline = false; break;
   case 'q': flags.literal = true; break;
   case 's':
      flags.dotNewline = true;
      flags.lineAnchors = false;
      break;
   case 't': flags.expanded = false; break;
   case 'w': flags.lineAnchors = true; break;
   case 'x': flags.expanded = true; break;
   default: return false;
   }
   return true;
}

RegexSyntax parseRegex(std::string_view pattern, RegexFlags flags) {
   RegexSyntax result;
   if (!flags.literal) pattern = takePrefixes(pattern, flags);
   result.flags = flags;
   if (flags.literal) {
      result.root = std::make_unique<RegexNode>();
      while (!pattern.empty()) {
         const uint32_t c = decodeCharacter(pattern);
         pattern.remove_prefix(characterBytes(pattern[0]));
         if (flags.ignoreCase && c < 0x80 && isLetter(static_cast<char>(c))) {
            result.root->text += {'[', asciiUpper(static_cast<char>(c)), asciiLower(static_cast<char>(c)), ']'};
         } else {
            result.root->text += escaped(c);
         }
      }
      return result;
   }
   result.root = Parser(pattern, result).parse();
   return result;
}

} // namespace ouzel::executor
