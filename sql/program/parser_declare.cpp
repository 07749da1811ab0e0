#include <algorithm>

#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

namespace {

/// The text as a literal that means the same whatever standard_conforming_strings is.
std::string quotedLiteral(std::string_view text) {
   std::string literal = text.find('\\') == std::string_view::npos ? "'" : "E'";
   for (const char c : text) {
      if (c == '\'' || c == '\\') literal += c;
      literal += c;
   }
   return literal + "'";
}

} // namespace

std::vector<VariableId> Parser::parseDeclarations() {
   const auto first = static_cast<VariableId>(program_.variables.size());
   reader_.lookup = Lookup::Declare;
   for (;;) {
      const Token& token = reader_.next();
      if (token.is("declare")) continue;
      if (token.is("<<")) {
         const uint32_t offset = token.raw.offset;
         takeLabel();
         throw reader_.error(sqlstate::syntaxError, "block label must be placed before DECLARE, not after", offset);
      }
      if (token.kind != WordKind::Word && !token.isUnreserved()) break;
      reader_.pushBack();
      parseDeclaration();
   }
   reader_.pushBack();
   reader_.lookup = Lookup::Normal;
   std::vector<VariableId> declared;
   for (auto id = first; id < program_.variables.size(); ++id)
      if (program_.variables[id].kind != VariableKind::Field) declared.push_back(id);
   return declared;
}

std::string Parser::declaredName() {
   const Token& token = reader_.next();
   if (token.kind != WordKind::Word && !token.isUnreserved()) reader_.fail();
   if (program_.names.isDeclaredHere(reader_.scope, token.names[0])) reader_.fail("duplicate declaration");
   return token.names[0];
}

void Parser::parseDeclaration() {
   const std::string name = declaredName();
   const uint32_t line = reader_.lineOf(reader_.current().raw.offset);
   const Token& next = reader_.next();
   const bool isAlias = next.is("alias");
   const bool isCursor = next.is("no") || next.is("scroll") || next.is("cursor");
   reader_.pushBack();
   if (isAlias)
      parseAlias(name);
   else if (isCursor)
      parseCursor(name, line);
   else
      parseVariable(name, line);
}

void Parser::parseAlias(const std::string& name) {
   expect("alias");
   expect("for");
   const Token token = reader_.next();
   if (token.kind != WordKind::Word && token.kind != WordKind::Dotted && !token.isUnreserved()) reader_.fail();
   const auto part = [&](size_t i) { return i < token.names.size() ? token.names[i] : std::string(); };
   const Name* found = program_.names.find(reader_.scope, part(0), part(1), part(2)).name;
   if (!found)
      throw reader_.error(sqlstate::undefinedObject, "variable \"" + token.dottedName() + "\" does not exist",
                          token.raw.offset);
   const NameKind kind = found->kind;
   const VariableId variable = found->variable;
   expect(";");
   addName(kind, name, variable);
}

void Parser::parseCursor(const std::string& name, uint32_t line) {
   const uint32_t begin = reader_.current().raw.offset;
   auto cursor = std::make_shared<BoundCursor>();
   if (take("no")) {
      expect("scroll");
      cursor->scrolling = Scrolling::NoScroll;
   } else if (take("scroll")) {
      cursor->scrolling = Scrolling::Scroll;
   }
   expect("cursor");
   pushLabel(NameKind::OtherLabel, name);
   if (take("(")) parseCursorArguments(*cursor);
   if (!reader_.next().is("is") && !reader_.current().is("for")) reader_.fail();
   cursor->query = readStatementText();
   popLabel();
   const VariableId variable =
       addVariable(name, line, {{oid::refcursor, -1, defaultCollation, invalidOid}, TypeClass::Scalar});
   program_.variables[variable].cursor = std::move(cursor);
   program_.variables[variable].initial =
       makeText(quotedLiteral(name) + "::pg_catalog.refcursor", SqlForm::Expression, begin);
}

void Parser::parseCursorArguments(BoundCursor& cursor) {
   const uint32_t begin = reader_.current().raw.offset;
   cursor.hasArguments = true;
   do {
      const std::string name = declaredName();
      const uint32_t line = reader_.lineOf(reader_.current().raw.offset);
      cursor.arguments.push_back(addVariable(name, line, parseType()));
   } while (take(","));
   expect(")");
   reader_.lineOf(begin);
   ++rowCount_;
}

void Parser::parseVariable(const std::string& name, uint32_t line) {
   const bool isConstant = take("constant");
   DeclaredType type = parseType();
   uint32_t collateOffset = 0;
   const Oid collation = take("collate") ? parseCollation(collateOffset) : invalidOid;
   const bool isNotNull = take("not");
   const uint32_t notNullOffset = reader_.current().raw.offset;
   if (isNotNull) expect("null");
   std::optional<SqlText> initial;
   const Token& after = reader_.next();
   if (after.is("=") || after.is(":=") || after.is("default"))
      initial = readExpression({";"}, ";");
   else if (!after.is(";"))
      reader_.fail();
   if (collation && !type.type.collation)
      throw reader_.error(sqlstate::datatypeMismatch,
                          "collations are not supported by type " + types_.nameOf(type.type), collateOffset);
   if (collation) type.type.collation = collation;
   Variable& variable = program_.variables[addVariable(name, line, type)];
   variable.isConstant = isConstant;
   variable.isNotNull = isNotNull;
   if (isNotNull && !initial)
      throw reader_.error(sqlstate::nullValueNotAllowed,
                          "variable \"" + name + "\" must have a default value, since it's declared NOT NULL",
                          notNullOffset);
   variable.initial = std::move(initial);
}

Oid Parser::parseCollation(uint32_t& offset) {
   offset = reader_.current().raw.offset;
   const Token& token = reader_.next();
   if (token.kind != WordKind::Word && token.kind != WordKind::Dotted && !token.isUnreserved()) reader_.fail();
   return types_.collation(token.names);
}

DeclaredType Parser::parseType() {
   const Token first = reader_.next();
   const uint32_t begin = first.raw.offset;
   const Token* token = &first;
   if (first.kind == WordKind::Word || first.kind == WordKind::Dotted || first.isUnreserved()) {
      token = &reader_.next();
      if (token->is("%")) {
         token = &reader_.next();
         if (const auto type = parseReferredType(first.names)) return *type;
      }
   }
   int depth = 0;
   for (; !token->is(";"); token = &reader_.next()) {
      if (token->isEnd()) reader_.fail(depth != 0 ? "mismatched parentheses" : "incomplete data type declaration");
      if (token->is("collate") || token->is("not") || token->is("=") || token->is(":=") || token->is("default")) break;
      if (depth == 0 && (token->is(",") || token->is(")"))) break;
      depth += token->is("(") - token->is(")");
   }
   const uint32_t end = reader_.current().raw.offset;
   if (begin == end) reader_.fail("missing data type declaration");
   const DeclaredType type = typeOfText(begin, end);
   reader_.pushBack();
   return type;
}

/// Behind `name %`, with the next word as the current token.
std::optional<DeclaredType> Parser::parseReferredType(const std::vector<std::string>& names) {
   if (reader_.current().is("rowtype")) return types_.ofRows(names);
   if (!reader_.current().is("type")) return std::nullopt;
   const bool isWord = names.size() == 1;
   const Name* found =
       names.size() <= 2 ? program_.names.find(reader_.scope, names[0], isWord ? "" : names[1]).name : nullptr;
   if (found && found->kind == NameKind::Scalar) return program_.variables[found->variable].type;
   if (isWord) return found ? std::nullopt : types_.namedByWord(names[0]);
   return types_.ofColumn(names);
}

DeclaredType Parser::typeOfText(uint32_t begin, uint32_t end) {
   const std::string_view text = reader_.body().substr(begin, end - begin);
   try {
      return types_.named(text);
   } catch (SqlError& error) {
      error.setPosition(reader_.position(begin) + std::max(error.position(), 1u) - 1);
      throw;
   }
}

} // namespace ouzel::sql::program
