#include "common/base_type/ts_query.hpp"

#include <array>

#include "common/base_type/ts_query_parser.hpp"
#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/stack.hpp"

namespace ouzel {

namespace {

using Kind = TsQueryNode::Kind;

constexpr size_t headerSize = 8;
constexpr char wordMark = 5;
constexpr char prefixFlag = 16;

/// The first byte of a node: operators of a higher number in PostgreSQL come first.
constexpr char markOf(Kind kind) {
   switch (kind) {
   case Kind::Phrase: return 1;
   case Kind::Or: return 2;
   case Kind::And: return 3;
   case Kind::Not: return 4;
   case Kind::Word: return wordMark;
   }
   return wordMark;
}
constexpr Kind kindOf(char mark) {
   constexpr std::array kinds{Kind::Phrase, Kind::Or, Kind::And, Kind::Not};
   return mark >= 1 && mark <= 4 ? kinds[static_cast<size_t>(mark - 1)] : Kind::Word;
}

/// Remainders of the polynomial of CRC-32, with its bits reversed.
constexpr std::array<uint32_t, 256> remainders = [] {
   std::array<uint32_t, 256> table{};
   for (uint32_t i = 0; i < 256; ++i) {
      uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit)
         rest = (rest & 1) != 0 ? (rest >> 1) ^ 0xEDB88320 : rest >> 1;
      table[i] = rest;
   }
   return table;
}();

/// Reads the tree of a value.
class Reader {
public:
   Reader(TsQuery& query, std::string_view bytes) : query_(query), reader_(bytes), rest_(bytes) {}
   int32_t readNode() {
      checkStack();
      const auto mark = reader_.take<char>();
      const Kind kind = kindOf(mark);
      if (kind == Kind::Word) return readWord();
      const int32_t right = readNode();
      if (kind == Kind::Not) return query_.addNot(right);
      const int32_t left = readNode();
      const uint16_t distance = kind == Kind::Phrase ? static_cast<uint16_t>(~reader_.take<uint16_t>()) : uint16_t{0};
      return query_.add(kind, left, right, distance);
   }
   void readFlags() {
      for (const int32_t word : words_) {
         const auto flags = reader_.take<char>();
         query_[word].weights = static_cast<uint8_t>(flags & 15);
         query_[word].isPrefix = (flags & prefixFlag) != 0;
      }
   }
   size_t rest() const { return reader_.size(); }

private:
   int32_t readWord() {
      reader_.take<uint32_t>(); // the checksum
      const std::string_view rest = rest_.substr(rest_.size() - reader_.size());
      const std::string_view word = reader_.takeBytes(rest.find('\0'));
      reader_.takeBytes(1);
      words_.push_back(query_.addWord(word));
      return words_.back();
   }
   TsQuery& query_;
   WireReader reader_;
   std::string_view rest_;
   std::vector<int32_t> words_;
};

/// Writes the tree of a value.
struct Writer {
   const TsQuery& query;
   std::string tree = {}, flags = {};
   uint32_t nodes = 0;
   size_t words = 0; ///< their bytes, with a zero byte each

   void write(int32_t number) {
      checkStack();
      const TsQueryNode& node = query[number];
      ++nodes;
      tree += markOf(node.kind);
      if (node.isWord()) {
         appendBig(tree, ~(tsWordChecksum(node.word) ^ 0x8000'0000u)); // a signed number in PostgreSQL
         tree += node.word;
         tree += '\0';
         flags += static_cast<char>(node.weights | (node.isPrefix ? prefixFlag : 0));
         words += node.word.size() + 1;
         return;
      }
      if (node.kind != Kind::Not) write(node.right);
      write(node.left);
      if (node.kind == Kind::Phrase) appendBig(tree, static_cast<uint16_t>(~node.distance));
   }
};

constexpr int priorityOf(Kind kind) {
   switch (kind) {
   case Kind::Or: return 1;
   case Kind::And: return 2;
   case Kind::Phrase: return 3;
   case Kind::Not: return 4;
   case Kind::Word: return 5;
   }
   return 5;
}

struct Printer {
   const TsQuery& query;
   std::string& out;

   void printWord(const TsQueryNode& node) {
      appendTsWord(out, node.word);
      if (node.weights == 0 && !node.isPrefix) return;
      out += ':';
      if (node.isPrefix) out += '*';
      for (int weight = 3; weight >= 0; --weight)
         if ((node.weights >> weight & 1) != 0) out += static_cast<char>('D' - weight);
   }
   void printOperator(const TsQueryNode& node) {
      if (node.kind == Kind::Or)
         out += " | ";
      else if (node.kind == Kind::And)
         out += " & ";
      else if (node.distance == 1)
         out += " <-> ";
      else
         out += " <" + std::to_string(node.distance) + "> ";
   }
   /// `isRightOfPhrase`: the phrase operator depends on the order of its operands.
   void print(int32_t number, int parentPriority, bool isRightOfPhrase) {
      checkStack();
      const TsQueryNode& node = query[number];
      if (node.isWord()) return printWord(node);
      const int priority = priorityOf(node.kind);
      const bool isInside = priority < parentPriority || (node.kind == Kind::Phrase && isRightOfPhrase);
      if (isInside) out += "( ";
      if (node.kind == Kind::Not) {
         out += '!';
         print(node.left, priority, false);
      } else {
         print(node.left, priority, false);
         printOperator(node);
         print(node.right, priority, node.kind == Kind::Phrase);
      }
      if (isInside) out += " )";
   }
};

} // namespace

uint32_t tsWordChecksum(std::string_view word) {
   uint32_t rest = ~0u;
   for (const char c : word)
      rest = remainders[(rest >> 24) ^ static_cast<unsigned char>(c)] ^ (rest << 8);
   return ~rest;
}

TsQuery::TsQuery(std::string_view bytes) {
   if (bytes.size() <= headerSize) return;
   Reader reader(*this, bytes.substr(headerSize));
   root = reader.readNode();
   reader.readFlags();
}

std::string_view tsQueryKey(std::string_view bytes) {
   if (bytes.size() <= headerSize) return bytes;
   TsQuery query;
   Reader reader(query, bytes.substr(headerSize));
   reader.readNode();
   return bytes.substr(0, bytes.size() - reader.rest());
}

int32_t TsQuery::addWord(std::string_view word, uint8_t weights, bool isPrefix) {
   nodes.push_back({.weights = weights, .isPrefix = isPrefix, .word = word});
   return static_cast<int32_t>(nodes.size() - 1);
}
int32_t TsQuery::addNot(int32_t operand) {
   nodes.push_back({.kind = Kind::Not, .word = {}, .left = operand});
   return static_cast<int32_t>(nodes.size() - 1);
}
int32_t TsQuery::add(Kind kind, int32_t left, int32_t right, uint16_t distance) {
   nodes.push_back({.kind = kind, .distance = distance, .word = {}, .left = left, .right = right});
   return static_cast<int32_t>(nodes.size() - 1);
}
int32_t TsQuery::addCopy(const TsQuery& other, int32_t node) {
   checkStack();
   if (node == none) return none;
   TsQueryNode copy = other[node];
   copy.left = addCopy(other, copy.left);
   copy.right = addCopy(other, copy.right);
   nodes.push_back(copy);
   return static_cast<int32_t>(nodes.size() - 1);
}

uint32_t TsQuery::nodeCount(int32_t node) const {
   if (node == none) return 0;
   checkStack();
   return 1 + nodeCount((*this)[node].left) + nodeCount((*this)[node].right);
}

std::string TsQuery::store() const {
   Writer writer{*this};
   if (!isEmpty()) writer.write(root);
   constexpr size_t bytesOfNode = 12; // in PostgreSQL
   const uint64_t size = headerSize + bytesOfNode * writer.nodes + writer.words;
   if (size > 0x3FFF'FFFF || writer.words > tsWordsSizeMax)
      throw SqlError(sqlstate::programLimitExceeded, "tsquery is too large");
   std::string bytes;
   appendBig(bytes, writer.nodes);
   appendBig(bytes, static_cast<uint32_t>(size));
   return bytes + writer.tree + writer.flags;
}

void TsQuery::print(std::string& out) const {
   if (!isEmpty()) Printer{*this, out}.print(root, -1, false);
}

void requireTsDistance(int64_t distance) {
   if (distance < 0 || distance > tsDistanceMax)
      throw SqlError(sqlstate::invalidParameterValue,
                     "distance in phrase operator must be an integer value between zero and " +
                         std::to_string(tsDistanceMax) + " inclusive");
}

void requireTsQueryWord(std::string_view word, std::string_view query) {
   if (word.size() > tsWordSizeMax)
      throw SqlError(sqlstate::programLimitExceeded, "word is too long in tsquery: \"" + std::string(query) + '"');
}

namespace {

void appendText(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   TsQuery(bytes.view()).print(out);
}

void parseText(void* target, std::string_view text, int32_t, Arena& arena) {
   putValue(target, arena.copyString(parseTsQuery(text)));
}

/// The wire's numbers of operators.
constexpr std::array<Kind, 5> wireKinds{Kind::Word, Kind::Not, Kind::And, Kind::Or, Kind::Phrase};
constexpr int8_t wireNumber(Kind kind) {
   return static_cast<int8_t>(kind); // as it happens
}
static_assert(wireKinds[static_cast<size_t>(Kind::Phrase)] == Kind::Phrase);
constexpr int8_t wireWord = 1, wireOperator = 2;

/// The wire has an operator first, then its right operand, then the left one.
void sendNode(std::string& out, const TsQuery& query, int32_t number) {
   checkStack();
   const TsQueryNode& node = query[number];
   out += static_cast<char>(node.isWord() ? wireWord : wireOperator);
   if (node.isWord()) {
      out += static_cast<char>(node.weights);
      out += static_cast<char>(node.isPrefix);
      out += node.word;
      out += '\0';
      return;
   }
   out += static_cast<char>(wireNumber(node.kind));
   if (node.kind == Kind::Phrase) appendBig(out, node.distance);
   if (node.right != TsQuery::none) sendNode(out, query, node.right);
   sendNode(out, query, node.left);
}

void appendBinary(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const TsQuery query(bytes.view());
   appendBig(out, query.nodeCount(query.root));
   if (!query.isEmpty()) sendNode(out, query, query.root);
}

/// Reads a message node by node.
class Receiver {
public:
   explicit Receiver(std::string_view bytes) : bytes_(bytes), reader_(bytes) {}
   std::string run() {
      nodes_ = reader_.take<uint32_t>();
      if (nodes_ > 0x3FFFFFFF / 12) fail("invalid size of tsquery");
      if (nodes_ > 0) query_.root = receiveNode();
      if (nodes_ > 0) fail("invalid tsquery: extra nodes");
      reader_.finish();
      return query_.store();
   }

private:
   [[noreturn]] static void fail(const std::string& what) { throw SqlError(sqlstate::internalError, what); }
   int32_t receiveNode() {
      checkStack();
      if (nodes_-- == 0) fail("malformed tsquery: operand not found");
      const auto type = reader_.take<int8_t>();
      if (type == wireWord) return receiveWord();
      if (type != wireOperator) fail("unrecognized tsquery node type: " + std::to_string(type));
      const auto number = reader_.take<int8_t>();
      if (number < 1 || number > 4) fail("invalid tsquery: unrecognized operator type " + std::to_string(number));
      const Kind kind = wireKinds[static_cast<size_t>(number)];
      const uint16_t distance = kind == Kind::Phrase ? reader_.take<uint16_t>() : uint16_t{0};
      if (kind == Kind::Not) return query_.addNot(receiveNode());
      const int32_t right = receiveNode(), left = receiveNode();
      return query_.add(kind, left, right, distance);
   }
   int32_t receiveWord() {
      const auto weights = reader_.take<uint8_t>();
      const auto prefix = reader_.take<uint8_t>();
      const std::string_view rest = bytes_.substr(bytes_.size() - reader_.size());
      const size_t end = rest.find('\0');
      if (end == std::string_view::npos) throwTooShort();
      const std::string_view word = reader_.takeBytes(end);
      reader_.takeBytes(1);
      checkUtf8(word);
      if (weights > 15) fail("invalid tsquery: invalid weight bitmap");
      if (word.size() > tsWordSizeMax) fail("invalid tsquery: operand too long");
      return query_.addWord(word, weights, prefix != 0);
   }
   std::string_view bytes_;
   WireReader reader_;
   uint32_t nodes_ = 0;
   TsQuery query_;
};

void parseBinary(void* target, std::string_view bytes, int32_t, Arena& arena) {
   putValue(target, arena.copyString(Receiver(bytes).run()));
}

} // namespace

const TypeForm tsqueryForm{
    .oid = oid::tsquery,
    .wireSize = -1,
    .textGrowth = 3,
    .appendText = appendText,
    .parseText = parseText,
    .appendBinary = appendBinary,
    .parseBinary = parseBinary,
};

} // namespace ouzel
