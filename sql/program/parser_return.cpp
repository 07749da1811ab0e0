#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

/// What a RETURN without an expression gives.
Result Parser::outputResult() const {
   Result result;
   if (source_.returnsSet || program_.outputs.empty() || program_.kind == ProgramKind::DoBlock) return result;
   if (program_.outputs.size() == 1 && program_.kind == ProgramKind::Function) {
      result.kind = ResultKind::Variable;
      result.variable = program_.outputs[0];
   } else {
      result.kind = ResultKind::OutputParameters;
   }
   return result;
}

Statement Parser::parseReturn() {
   const uint32_t begin = reader_.current().raw.offset;
   if (reader_.next().isEnd()) reader_.fail("unexpected end of function definition");
   if (reader_.current().isEvenIfVariable("next")) return parseReturnNext(begin);
   if (reader_.current().isEvenIfVariable("query")) return parseReturnQuery(begin);
   reader_.pushBack();
   reader_.lineOf(begin);
   const bool isProcedure = program_.kind == ProgramKind::Procedure;
   const bool isVoid = isProcedure
                           ? program_.outputs.empty()
                           : program_.kind == ProgramKind::DoBlock || program_.kind == ProgramKind::EventTrigger ||
                                 source_.returnType.type.oid == oid::voidType;
   const auto refuseParameter = [&](SqlState state, const char* what) {
      if (!reader_.next().is(";"))
         throw reader_.error(state, std::string("RETURN cannot have a parameter in ") + what,
                             reader_.current().raw.offset);
      return statement(begin, Return{outputResult()});
   };
   if (source_.returnsSet) {
      if (reader_.next().is(";")) return statement(begin, Return{});
      throw reader_
          .error(sqlstate::datatypeMismatch, "RETURN cannot have a parameter in function returning set",
                 reader_.current().raw.offset)
          .hint("Use RETURN NEXT or RETURN QUERY.");
   }
   if (isVoid && isProcedure) return refuseParameter(sqlstate::syntaxError, "a procedure");
   if (isVoid) return refuseParameter(sqlstate::datatypeMismatch, "function returning void");
   if (!program_.outputs.empty()) return refuseParameter(sqlstate::datatypeMismatch, "function with OUT parameters");
   return statement(begin, Return{returnedValue()});
}

Result Parser::returnedValue() {
   Result result;
   const Token& token = reader_.next();
   const bool isVariable = token.kind == WordKind::Variable && reader_.peekIs(";") &&
                           program_.variables[token.variable].kind != VariableKind::Field;
   if (isVariable) {
      result.kind = ResultKind::Variable;
      result.variable = token.variable;
      expect(";");
   } else {
      reader_.pushBack();
      result.kind = ResultKind::Expression;
      result.expression = readExpression({";"}, ";");
   }
   return result;
}

Statement Parser::parseReturnNext(uint32_t offset) {
   if (!source_.returnsSet)
      throw reader_.error(sqlstate::datatypeMismatch, "cannot use RETURN NEXT in a non-SETOF function", offset);
   reader_.lineOf(offset);
   if (program_.outputs.empty()) return statement(offset, ReturnNext{returnedValue()});
   if (!reader_.next().is(";"))
      throw reader_.error(sqlstate::datatypeMismatch,
                          "RETURN NEXT cannot have a parameter in function with OUT parameters",
                          reader_.current().raw.offset);
   Result result;
   const bool isSingle = program_.outputs.size() == 1;
   result.kind = isSingle ? ResultKind::Variable : ResultKind::OutputParameters;
   if (isSingle) result.variable = program_.outputs[0];
   return statement(offset, ReturnNext{std::move(result)});
}

Statement Parser::parseReturnQuery(uint32_t offset) {
   if (!source_.returnsSet)
      throw reader_.error(sqlstate::datatypeMismatch, "cannot use RETURN QUERY in a non-SETOF function", offset);
   reader_.lineOf(offset);
   ReturnQuery node;
   if (take("execute")) {
      node.dynamicQuery = readExpression({";", "using"}, "; or USING");
      if (reader_.current().is("using")) node.parameters = readList({",", ";"}, ", or ;");
   } else {
      node.query = readStatementText();
   }
   return statement(offset, std::move(node));
}

} // namespace ouzel::sql::program
