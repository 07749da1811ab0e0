#include "common/text/ascii.hpp"
#include "sql/program/parser.hpp"

// RAISE, ASSERT, GET DIAGNOSTICS.

namespace ouzel::sql::program {

namespace {

size_t countPlaceholders(std::string_view message) {
   size_t count = 0;
   for (size_t i = 0; i < message.size(); ++i) {
      if (message[i] != '%') continue;
      if (i + 1 < message.size() && message[i + 1] == '%')
         ++i;
      else
         ++count;
   }
   return count;
}

} // namespace

Statement Parser::parseRaise() {
   const uint32_t begin = reader_.current().raw.offset;
   reader_.lineOf(begin);
   Raise node;
   const auto next = [&]() -> const Token& {
      if (reader_.next().isEnd()) reader_.fail("unexpected end of function definition");
      return reader_.current();
   };
   if (next().is(";")) {
      node.isRethrow = true;
      return statement(begin, std::move(node));
   }
   constexpr std::pair<std::string_view, RaiseLevel> levels[] = {
       {"exception", RaiseLevel::Exception}, {"warning", RaiseLevel::Warning}, {"notice", RaiseLevel::Notice},
       {"info", RaiseLevel::Info},           {"log", RaiseLevel::Log},         {"debug", RaiseLevel::Debug}};
   for (const auto& [word, level] : levels) {
      if (!reader_.current().isEvenIfVariable(word)) continue;
      node.level = level;
      next();
      break;
   }
   if (reader_.current().isString())
      parseRaiseMessage(node);
   else if (!reader_.current().is("using"))
      parseRaiseCondition(node);
   if (reader_.current().is("using")) parseRaiseOptions(node);
   if (node.message) {
      const size_t expected = countPlaceholders(*node.message), given = node.parameters.size();
      if (expected < given) throw SqlError(sqlstate::syntaxError, "too many parameters specified for RAISE");
      if (expected > given) throw SqlError(sqlstate::syntaxError, "too few parameters specified for RAISE");
   }
   return statement(begin, std::move(node));
}

void Parser::parseRaiseMessage(Raise& raise) {
   raise.message = stringValue(reader_.current());
   const Token& after = reader_.next();
   if (after.is(","))
      raise.parameters = readList({",", ";", "using"}, ", or ; or USING");
   else if (!after.is(";") && !after.is("using"))
      reader_.fail();
}

void Parser::parseRaiseCondition(Raise& raise) {
   const Token& token = reader_.current();
   if (token.isEvenIfVariable("sqlstate")) {
      raise.condition = sqlstateLiteral();
   } else {
      if (token.kind != WordKind::Word && !token.isUnreserved()) reader_.fail();
      raise.condition = token.names[0];
      conditionCode(raise.condition);
   }
   if (!reader_.next().is(";") && !reader_.current().is("using")) reader_.fail();
}

void Parser::parseRaiseOptions(Raise& raise) {
   constexpr std::pair<std::string_view, RaiseOption> options[] = {
       {"errcode", RaiseOption::ErrorCode}, {"message", RaiseOption::Message}, {"detail", RaiseOption::Detail},
       {"hint", RaiseOption::Hint},         {"column", RaiseOption::Column},   {"constraint", RaiseOption::Constraint},
       {"datatype", RaiseOption::DataType}, {"table", RaiseOption::Table},     {"schema", RaiseOption::Schema}};
   do {
      if (reader_.next().isEnd()) reader_.fail("unexpected end of function definition");
      const RaiseOption* found = nullptr;
      for (const auto& [word, option] : options)
         if (reader_.current().isEvenIfVariable(word)) found = &option;
      if (!found) reader_.fail("unrecognized RAISE statement option");
      if (!reader_.next().is("=") && !reader_.current().is(":=")) reader_.fail("syntax error, expected \"=\"");
      raise.options.emplace_back(*found, readExpression({",", ";"}, ", or ;"));
   } while (!reader_.current().is(";"));
}

std::string Parser::sqlstateLiteral() {
   if (!reader_.next().isString()) reader_.fail();
   std::string code = stringValue(reader_.current());
   if (!isConditionCode(code)) reader_.fail("invalid SQLSTATE code");
   return code;
}

Statement Parser::parseAssert() {
   const uint32_t begin = reader_.current().raw.offset;
   reader_.lineOf(begin);
   Assert node{readExpression({",", ";"}, ", or ;"), {}};
   if (reader_.current().is(",")) node.message = readExpression({";"}, ";");
   return statement(begin, std::move(node));
}

namespace {

struct DiagnosticName {
   std::string_view word;
   DiagnosticItem item;
   bool isCurrent, isStacked; ///< in which of the two it may stand
};
constexpr DiagnosticName diagnosticNames[] = {
    {"row_count", DiagnosticItem::RowCount, true, false},
    {"pg_context", DiagnosticItem::Context, true, true},
    {"pg_exception_detail", DiagnosticItem::ExceptionDetail, false, true},
    {"pg_exception_hint", DiagnosticItem::ExceptionHint, false, true},
    {"pg_exception_context", DiagnosticItem::ExceptionContext, false, true},
    {"column_name", DiagnosticItem::ColumnName, false, true},
    {"constraint_name", DiagnosticItem::ConstraintName, false, true},
    {"pg_datatype_name", DiagnosticItem::DataTypeName, false, true},
    {"message_text", DiagnosticItem::MessageText, false, true},
    {"table_name", DiagnosticItem::TableName, false, true},
    {"schema_name", DiagnosticItem::SchemaName, false, true},
    {"returned_sqlstate", DiagnosticItem::ReturnedSqlstate, false, true},
};

} // namespace

Statement Parser::parseGetDiagnostics() {
   const uint32_t begin = reader_.current().raw.offset;
   GetDiagnostics node{};
   node.isStacked = !take("current") && take("stacked");
   expect("diagnostics");
   do {
      const VariableId target = diagnosticTarget();
      if (!reader_.next().is("=") && !reader_.current().is(":=")) reader_.fail();
      node.items.emplace_back(target, diagnosticItem());
   } while (take(","));
   expect(";");
   for (const auto& [target, item] : node.items)
      for (const DiagnosticName& name : diagnosticNames) {
         if (name.item != item || (node.isStacked ? name.isStacked : name.isCurrent)) continue;
         std::string shown(name.word);
         for (char& c : shown)
            c = asciiUpper(c);
         throw reader_.error(sqlstate::syntaxError,
                             "diagnostics item " + shown + " is not allowed in GET " +
                                 (node.isStacked ? "STACKED" : "CURRENT") + " DIAGNOSTICS",
                             begin);
      }
   return statement(begin, std::move(node));
}

VariableId Parser::diagnosticTarget() {
   const Token token = reader_.next();
   if (token.kind != WordKind::Variable) throwNotVariable(reader_);
   if (isRow(token.variable) || reader_.peekIs("["))
      throw reader_.error(sqlstate::syntaxError, "\"" + token.dottedName() + "\" is not a scalar variable",
                          token.raw.offset);
   checkAssignable(token.variable, token.raw.offset);
   return token.variable;
}

DiagnosticItem Parser::diagnosticItem() {
   const Token& token = reader_.next();
   for (const DiagnosticName& name : diagnosticNames)
      if (token.isEvenIfVariable(name.word)) return name.item;
   reader_.fail("unrecognized GET DIAGNOSTICS item");
}

} // namespace ouzel::sql::program
