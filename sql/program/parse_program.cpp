#include "sql/program/parse_program.hpp"

#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

void checkSignature(const ProgramSource& source, const TypeSource& types) {
   const DeclaredType& result = source.returnType;
   const bool isOfTrigger = source.kind == ProgramKind::Trigger || source.kind == ProgramKind::EventTrigger;
   if (result.kind == TypeClass::Pseudo && result.type.oid != oid::voidType && !isOfTrigger)
      throw SqlError(sqlstate::featureNotSupported,
                     "PL/pgSQL functions cannot return type " + types.nameOf(result.type));
   for (const ProgramArgument& argument : source.arguments)
      if (argument.type.kind == TypeClass::Pseudo)
         throw SqlError(sqlstate::featureNotSupported,
                        "PL/pgSQL functions cannot accept type " + types.nameOf(argument.type.type));
}

Program parseProgram(const ProgramSource& source, const TypeSource& types) {
   checkSignature(source, types);
   Parser parser(source, types);
   try {
      return parser.run();
   } catch (SqlError& error) {
      if (source.isDefinition && error.position() > 0) throw;
      if (error.position() > 0) { // the client's text is another one
         error.setInternal(std::string(source.body), error.position());
         error.setPosition(0);
      }
      std::string context = error.contextText();
      if (!context.empty()) context += '\n';
      context +=
          "compilation of PL/pgSQL function \"" + source.name + "\" near line " + std::to_string(parser.latestLine());
      error.setContext(std::move(context));
      throw;
   }
}

} // namespace ouzel::sql::program
