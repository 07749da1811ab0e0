#include "sql/program/parser.hpp"

// Variables that statements write.

namespace ouzel::sql::program {

void Parser::checkAssignable(VariableId variable, uint32_t offset) const {
   const Variable* written = &program_.variables[variable];
   if (written->kind == VariableKind::Field) written = &program_.variables[written->record];
   if (written->isConstant)
      throw reader_.error(sqlstate::errorInAssignment, "variable \"" + written->name + "\" is declared CONSTANT",
                          offset);
}

/// Behind INTO. `isStrict`, if STRICT may stand there, tells whether it does.
Target Parser::parseInto(bool* isStrict) {
   if (isStrict) *isStrict = take("strict");
   const Token& token = reader_.next();
   if (token.kind != WordKind::Variable) throwNotVariable(reader_);
   const VariableId variable = token.variable;
   const uint32_t offset = token.raw.offset;
   if (!isRow(variable)) return parseScalarList(variable, offset);
   checkAssignable(variable, offset);
   if (reader_.next().is(","))
      throw reader_.error(sqlstate::syntaxError, "record variable cannot be part of multiple-item INTO list",
                          reader_.current().raw.offset);
   reader_.pushBack();
   return {true, {variable}};
}

/// Behind the first variable.
Target Parser::parseScalarList(VariableId first, uint32_t offset) {
   constexpr size_t targetsMax = 1024;
   Target target = singleTarget(first, offset);
   while (take(",")) {
      if (target.variables.size() >= targetsMax)
         throw reader_.error(sqlstate::programLimitExceeded, "too many INTO variables specified",
                             reader_.current().raw.offset);
      const Token& token = reader_.next();
      if (token.kind != WordKind::Variable) throwNotVariable(reader_);
      checkAssignable(token.variable, token.raw.offset);
      if (isRow(token.variable))
         throw reader_.error(sqlstate::syntaxError, "\"" + token.dottedName() + "\" is not a scalar variable",
                             token.raw.offset);
      target.variables.push_back(token.variable);
   }
   reader_.lineOf(offset);
   return target;
}

Target Parser::singleTarget(VariableId variable, uint32_t offset) {
   checkAssignable(variable, offset);
   ++rowCount_;
   return {false, {variable}};
}

} // namespace ouzel::sql::program
