#include "sql/parse/fingerprint.hpp"

#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "sql/parse/constant_places.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/text_tokens.hpp"

namespace ouzel::sql {

namespace {

/// Gives the tokens of a query, and says which are constants.
class QueryTokens {
public:
   QueryTokens(const ParsedStatement& statement, const ConstantPlaces& constants)
      : tokens_(statement.text), text_(statement.text), offset_(statement.offset), constants_(constants) {}

   TextToken token;
   bool isConstant = false;
   ConstantPlace::Kind kind = ConstantPlace::Kind::String;

   bool next() {
      if (!tokens_.next(token)) return false;
      const auto& places = constants_.places;
      while (next_ < places.size() && places[next_].offset < offset_ + token.begin)
         ++next_;
      isConstant = next_ < places.size() && places[next_].offset == offset_ + token.begin;
      if (isConstant) {
         kind = places[next_].kind;
         takeNumber();
      } else if (!constants_.isComplete) {
         isConstant = token.kind == TextToken::Kind::String || token.kind == TextToken::Kind::Number;
         kind = ConstantPlace::Kind::String;
      }
      return true;
   }

private:
   /// The constant -1 is two tokens.
   void takeNumber() {
      if (text_[token.begin] != '-') return;
      TextToken number;
      if (tokens_.next(number)) token.end = number.end;
   }

   TextTokens tokens_;
   const std::string_view text_;
   const uint32_t offset_;
   const ConstantPlaces& constants_;
   size_t next_ = 0;
};

uint64_t hashToken(TextToken::Kind kind, std::string_view text) {
   if (kind != TextToken::Kind::Word) return hashBytes(text);
   constexpr size_t bytesMax = 64; // longer than a name can be
   char lower[bytesMax];
   const size_t size = std::min(text.size(), bytesMax);
   for (size_t i = 0; i < size; ++i)
      lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] | 0x20) : text[i];
   return hashBytes(lower, size);
}

uint64_t hashQuery(const ParsedStatement& statement) {
   const ConstantPlaces constants = findConstants(*statement.node);
   QueryTokens tokens(statement, constants);
   uint64_t hash = 1;
   while (tokens.next()) {
      const TextToken& token = tokens.token;
      hash =
          tokens.isConstant
              ? hashCombine(hash, 0x100 + static_cast<uint64_t>(tokens.kind))
              : hashCombine(hash, hashToken(token.kind, statement.text.substr(token.begin, token.end - token.begin)) +
                                      static_cast<uint64_t>(token.kind));
   }
   return hash;
}

/// SELECT INTO is a command: CREATE TABLE AS in other words.
bool isQuery(const ::Node& node) {
   switch (nodeTag(&node)) {
   case T_SelectStmt: return as<::SelectStmt>(&node)->intoClause == nullptr;
   case T_InsertStmt:
   case T_UpdateStmt:
   case T_DeleteStmt:
   case T_MergeStmt: return true;
   default: return false;
   }
}

/// The query whose constants do not show; null: none.
const ::Node* shownQuery(const ParsedStatement& statement) {
   if (isNode(statement.node, T_PrepareStmt)) {
      const ::Node* query = as<::PrepareStmt>(statement.node)->query;
      return isQuery(*query) ? query : nullptr;
   }
   return isCommand(statement) ? nullptr : statement.node;
}

} // namespace

bool isCommand(const ParsedStatement& statement) {
   return !isQuery(*statement.node);
}

uint64_t fingerprint(const ParsedStatement& statement) {
   const uint64_t hash = isCommand(statement) ? hashBytes(statement.text) : hashQuery(statement);
   return hash != 0 ? hash : 1;
}

uint64_t fingerprintOfText(std::string_view sql) {
   try {
      const auto script = ParsedScript::parse(sql);
      return script.statements().empty() ? 0 : fingerprint(script.statements()[0]);
   } catch (const SqlError&) {
      return 0;
   }
}

std::string normalizedText(const ParsedStatement& statement) {
   const ::Node* query = shownQuery(statement);
   if (!query) return std::string(statement.text);
   const ConstantPlaces constants = findConstants(*query);
   QueryTokens tokens(statement, constants);
   std::string out;
   uint32_t copied = 0;
   int32_t number = constants.parametersMax;
   while (tokens.next()) {
      if (!tokens.isConstant) continue;
      out.append(statement.text.substr(copied, tokens.token.begin - copied));
      out.append("$").append(std::to_string(++number));
      copied = tokens.token.end;
   }
   return out.append(statement.text.substr(copied));
}

} // namespace ouzel::sql
