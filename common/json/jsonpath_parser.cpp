#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/json/jsonpath.hpp"
#include "common/json/jsonpath_lexer.hpp"
#include "common/number/decimal.hpp"
#include "common/text/number_text.hpp"
#include "common/thread/stack.hpp"

// Text of jsonpath to its tree. The grammar is PostgreSQL's: expressions, which give items, and predicates, which give
// a truth value, are different things; a predicate in parentheses with an accessor behind is an expression.
//
//   path       = ["strict" | "lax"] (predicate | expr)
//   predicate  = predicate "||" predicate | predicate "&&" predicate | "!" delimited | delimited
//              | "(" predicate ")" "is" "unknown" | expr "==" expr | ... | expr "starts" "with" (string | variable)
//              | expr "like_regex" string ["flag" string]
//   delimited  = "(" predicate ")" | "exists" "(" expr ")"
//   expr       = expr ("+" | "-") expr | expr ("*" | "/" | "%") expr | ("+" | "-") expr | "(" expr ")" | chain
//   chain      = (primary | "(" expr ")" | "(" predicate ")") accessor...

namespace ouzel::json {

namespace {

PatternCheck patternCheck = nullptr;

/// What a rule gives.
struct Parsed {
   PathNode* node;
   bool isPredicate;
};

/// PostgreSQL reports a misplaced @ and last when the whole path is read, in the order of the items.
void checkPlaces(const PathNode* node, bool isInFilter, bool isInSubscript) {
   checkStack();
   for (; node; node = node->next) {
      if (node->op == PathOp::Current && !isInFilter)
         throw SqlError(sqlstate::syntaxError, "@ is not allowed in root expressions");
      if (node->op == PathOp::Last && !isInSubscript)
         throw SqlError(sqlstate::syntaxError, "LAST is allowed only in array subscripts");
      checkPlaces(node->left, isInFilter || node->op == PathOp::Filter, isInSubscript);
      checkPlaces(node->right, isInFilter, isInSubscript);
      for (const PathSubscript& subscript : node->subscripts) {
         checkPlaces(subscript.from, isInFilter, true);
         checkPlaces(subscript.to, isInFilter, true);
      }
   }
}

class PathParser {
public:
   PathParser(std::string_view text, Arena& arena) : text_(text), lexer_(text, arena), arena_(arena) {}

   JsonPath run() {
      JsonPath path;
      if (peek().word == PathWord::End)
         throw SqlError(sqlstate::invalidTextRepresentation,
                        "invalid input syntax for type jsonpath: \"" + std::string(text_) + '"');
      if (take(PathWord::Strict))
         path.isLax = false;
      else
         take(PathWord::Lax);
      path.root = disjunction().node;
      if (peek().word != PathWord::End) fail();
      checkPlaces(path.root, false, false);
      return path;
   }

private:
   // ---- words ----

   /// A word is read when it is asked for: what is wrong in the next word is found after what is wrong before it.
   const PathToken& peek() {
      if (!hasToken_) token_ = lexer_.next();
      hasToken_ = true;
      return token_;
   }
   [[noreturn]] void fail() { PathLexer::fail("syntax error", peek().near); }
   bool take(PathWord word) {
      if (peek().word != word) return false;
      hasToken_ = false;
      return true;
   }
   bool isSymbol(char symbol) { return peek().word == PathWord::Symbol && peek().symbol == symbol; }
   bool take(char symbol) {
      if (!isSymbol(symbol)) return false;
      hasToken_ = false;
      return true;
   }
   void expect(char symbol) {
      if (!take(symbol)) fail();
   }
   std::string_view expectText(PathWord word) {
      const std::string_view text = peek().text;
      if (!take(word)) fail();
      return text;
   }

   // ---- nodes ----

   PathNode* make(PathOp op, const PathNode* left = nullptr, const PathNode* right = nullptr) {
      auto* node = new (arena_.allocate(sizeof(PathNode), alignof(PathNode))) PathNode;
      node->op = op;
      node->left = left;
      node->right = right;
      return node;
   }
   PathNode* makeText(PathOp op, std::string_view text) {
      PathNode* node = make(op);
      node->text = text;
      return node;
   }
   PathNode* makeNumber(std::string_view text) {
      PathNode* node = make(PathOp::Number);
      node->number = decimal::parse(text, arena_);
      return node;
   }
   /// A sign before a number belongs to the number.
   PathNode* makeSigned(char sign, PathNode* operand) {
      if (operand->op != PathOp::Number || operand->next)
         return make(sign == '+' ? PathOp::Plus : PathOp::Minus, operand);
      if (sign == '-') operand->number = decimal::negate(operand->number, arena_);
      return operand;
   }

   // ---- predicates ----

   /// A predicate, or an expression that stands alone.
   Parsed disjunction() {
      Parsed result = conjunction();
      while (result.isPredicate && take(PathWord::Or))
         result.node = make(PathOp::Or, result.node, predicate(conjunction()));
      return result;
   }
   Parsed conjunction() {
      Parsed result = test();
      while (result.isPredicate && take(PathWord::And))
         result.node = make(PathOp::And, result.node, predicate(test()));
      return result;
   }
   PathNode* predicate(const Parsed& parsed) {
      if (!parsed.isPredicate) fail();
      return parsed.node;
   }

   Parsed test() {
      checkStack();
      if (take(PathWord::Not)) return {make(PathOp::Not, delimited()), true};
      if (peek().word == PathWord::Exists) return {delimited(), true};
      const Parsed left = sum(true);
      if (left.isPredicate) return left;
      if (const PathOp op = comparison(); op != PathOp::Null) {
         hasToken_ = false;
         return {make(op, left.node, expression(sum())), true};
      }
      if (take(PathWord::Starts)) {
         if (!take(PathWord::With)) fail();
         const bool isVariable = peek().word == PathWord::Variable;
         const std::string_view text = expectText(isVariable ? PathWord::Variable : PathWord::String);
         PathNode* initial = makeText(isVariable ? PathOp::Variable : PathOp::String, text);
         return {make(PathOp::StartsWith, left.node, initial), true};
      }
      if (take(PathWord::LikeRegex)) return {likeRegex(left.node), true};
      return left;
   }
   PathNode* delimited() {
      if (take(PathWord::Exists)) {
         expect('(');
         PathNode* operand = expression(sum());
         expect(')');
         return make(PathOp::Exists, operand);
      }
      expect('(');
      PathNode* inner = predicate(disjunction());
      expect(')');
      return inner;
   }
   PathOp comparison() {
      switch (peek().word) {
      case PathWord::Equal: return PathOp::Equal;
      case PathWord::NotEqual: return PathOp::NotEqual;
      case PathWord::Less: return PathOp::Less;
      case PathWord::LessOrEqual: return PathOp::LessOrEqual;
      case PathWord::Greater: return PathOp::Greater;
      case PathWord::GreaterOrEqual: return PathOp::GreaterOrEqual;
      default: return PathOp::Null;
      }
   }
   PathNode* likeRegex(PathNode* operand) {
      PathNode* node = make(PathOp::LikeRegex, operand);
      node->text = expectText(PathWord::String);
      if (take(PathWord::Flag)) node->regexFlags = regexFlags(expectText(PathWord::String));
      if ((node->regexFlags & (regexWhiteSpace | regexLiteral)) == regexWhiteSpace)
         throw SqlError(sqlstate::featureNotSupported,
                        "XQuery \"x\" flag (expanded regular expressions) is not implemented");
      if (patternCheck) patternCheck(node->text, node->regexFlags);
      return node;
   }
   static uint8_t regexFlags(std::string_view text) {
      uint8_t flags = 0;
      for (size_t i = 0; i < text.size(); ++i) {
         constexpr std::string_view letters = "ismxq"; // in the order of their bits
         const size_t bit = letters.find(text[i]);
         if (bit == std::string_view::npos) {
            size_t size = 1; // of the character
            while (i + size < text.size() && (static_cast<unsigned char>(text[i + size]) & 0xc0) == 0x80)
               ++size;
            throw SqlError(sqlstate::syntaxError, "invalid input syntax for type jsonpath")
                .detail("Unrecognized flag character \"" + std::string(text.substr(i, size)) +
                        "\" in LIKE_REGEX predicate.");
         }
         flags = static_cast<uint8_t>(flags | 1u << bit);
      }
      return flags;
   }

   // ---- expressions ----

   PathNode* expression(const Parsed& parsed) {
      if (parsed.isPredicate) fail();
      return parsed.node;
   }
   /// What stands alone (`isAlone`) may turn out to be a predicate in parentheses; an operand of an operator may not.
   Parsed sum(bool isAlone = false) {
      Parsed result = product(isAlone);
      while (!result.isPredicate && (isSymbol('+') || isSymbol('-'))) {
         const PathOp op = isSymbol('+') ? PathOp::Add : PathOp::Subtract;
         hasToken_ = false;
         result.node = make(op, result.node, expression(product()));
      }
      return result;
   }
   Parsed product(bool isAlone = false) {
      Parsed result = factor(isAlone);
      while (!result.isPredicate && (isSymbol('*') || isSymbol('/') || isSymbol('%'))) {
         const PathOp op = isSymbol('*') ? PathOp::Multiply : isSymbol('/') ? PathOp::Divide : PathOp::Modulo;
         hasToken_ = false;
         result.node = make(op, result.node, expression(factor()));
      }
      return result;
   }
   Parsed factor(bool isAlone = false) {
      checkStack();
      if (isSymbol('+') || isSymbol('-')) {
         const char sign = peek().symbol;
         hasToken_ = false;
         return {makeSigned(sign, expression(factor())), false};
      }
      Parsed head{nullptr, false};
      if (take('(')) {
         head = disjunction();
         expect(')');
         if (isAlone && head.isPredicate && take(PathWord::Is)) {
            if (!take(PathWord::Unknown)) fail();
            return {make(PathOp::IsUnknown, head.node), true};
         }
      } else {
         head.node = primary();
      }
      PathNode* end = head.node;
      while (end->next)
         end = const_cast<PathNode*>(end->next); // made here a moment ago
      while (PathNode* accessor = takeAccessor()) {
         end->next = accessor;
         end = accessor;
         head.isPredicate = false;
      }
      return head;
   }

   PathNode* primary() {
      if (take('$')) return make(PathOp::Root);
      if (take('@')) return make(PathOp::Current);
      const PathToken token = peek();
      hasToken_ = false;
      switch (token.word) {
      case PathWord::Last: return make(PathOp::Last);
      case PathWord::Null: return make(PathOp::Null);
      case PathWord::True:
      case PathWord::False: {
         PathNode* node = make(PathOp::Boolean);
         node->boolean = token.word == PathWord::True;
         return node;
      }
      case PathWord::String: return makeText(PathOp::String, token.text);
      case PathWord::Variable: return makeText(PathOp::Variable, token.text);
      case PathWord::Integer:
      case PathWord::Number: return makeNumber(token.text);
      default: hasToken_ = true; fail();
      }
   }

   // ---- accessors ----

   /// Null: no accessor follows.
   PathNode* takeAccessor() {
      if (take('[')) return elements();
      if (take('?')) {
         expect('(');
         PathNode* condition = predicate(disjunction());
         expect(')');
         return make(PathOp::Filter, condition);
      }
      if (!take('.')) return nullptr;
      if (take('*')) return make(PathOp::AnyKey);
      if (take(PathWord::AnyLevel)) return anyLevel();
      const PathToken token = peek();
      if (token.word != PathWord::String && token.word < PathWord::Identifier) fail();
      hasToken_ = false;
      const PathOp op = method(token.word);
      if (op == PathOp::Null || !take('(')) return makeText(PathOp::Key, token.text);
      PathNode* node = make(op);
      if (op == PathOp::DateTime && peek().word == PathWord::String) {
         node->text = expectText(PathWord::String);
         node->boolean = true;
      }
      expect(')');
      return node;
   }
   static PathOp method(PathWord word) {
      switch (word) {
      case PathWord::Abs: return PathOp::Abs;
      case PathWord::Size: return PathOp::Size;
      case PathWord::Type: return PathOp::Type;
      case PathWord::Floor: return PathOp::Floor;
      case PathWord::Double: return PathOp::Double;
      case PathWord::Ceiling: return PathOp::Ceiling;
      case PathWord::KeyValue: return PathOp::KeyValue;
      case PathWord::DateTime: return PathOp::DateTime;
      default: return PathOp::Null;
      }
   }

   PathNode* elements() {
      if (take('*')) {
         expect(']');
         return make(PathOp::AnyElement);
      }
      std::vector<PathSubscript> subscripts;
      do {
         const PathNode* from = expression(sum());
         subscripts.push_back({from, take(PathWord::To) ? expression(sum()) : nullptr});
      } while (take(','));
      expect(']');
      PathNode* node = make(PathOp::Subscripts);
      auto* kept = arena_.allocateArray<PathSubscript>(subscripts.size());
      std::copy(subscripts.begin(), subscripts.end(), kept);
      node->subscripts = {kept, subscripts.size()};
      return node;
   }

   PathNode* anyLevel() {
      PathNode* node = make(PathOp::Any);
      node->last = PathNode::leaves;
      if (!take('{')) return node;
      node->first = node->last = level();
      if (take(PathWord::To)) node->last = level();
      expect('}');
      return node;
   }
   uint32_t level() {
      if (take(PathWord::Last)) return PathNode::leaves;
      const std::string_view text = expectText(PathWord::Integer);
      int32_t value = 0;
      if (parseInteger(text, value) != ParseStatus::Ok) throwValueOutOfRange("integer", text);
      return static_cast<uint32_t>(value);
   }

   std::string_view text_;
   PathLexer lexer_;
   Arena& arena_;
   PathToken token_;
   bool hasToken_ = false;
};

} // namespace

void setPatternCheck(PatternCheck check) {
   patternCheck = check;
}

JsonPath parsePath(std::string_view text, Arena& arena) {
   return PathParser(text, arena).run();
}

std::string pathFromText(std::string_view text, Reservation* memory) {
   Arena arena(memory);
   return encodePath(parsePath(text, arena));
}

} // namespace ouzel::json
