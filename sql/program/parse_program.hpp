#pragma once
#include <span>

#include "sql/program/program.hpp"
#include "sql/program/type_source.hpp"

namespace ouzel::sql::program {

enum class ArgumentMode : uint8_t { In, Out, InOut, Variadic, Table };
struct ProgramArgument {
   std::string name; ///< empty: it has none, only $n
   ArgumentMode mode = ArgumentMode::In;
   DeclaredType type; ///< a polymorphic one as the call, or for a check of the definition an integer, resolves it
};

/// A function as CREATE FUNCTION, CREATE PROCEDURE or DO gives it, or the catalog.
struct ProgramSource {
   std::string_view body;
   std::string name;      ///< without schema; it is also the outermost label. Of DO: "inline_code_block"
   std::string signature; ///< of a function, for the context of errors: "f(integer)"
   ProgramKind kind = ProgramKind::Function;
   std::span<const ProgramArgument> arguments;
   DeclaredType returnType; ///< of a Function; record if it has several output arguments
   bool returnsSet = false;
   /// Whether the return type is declared polymorphic: the body knows it as that of a variable $0, if there are no
   /// output arguments.
   bool returnsPolymorphic = false;
   /// Whether this is the definition itself (CREATE FUNCTION, DO) and not a later call of it.
   bool isDefinition = true;
   /// Whether the syntax of SQL texts is checked. Otherwise their errors come when they are executed.
   bool checksSyntax = true;
};

/// Throws 0A000 for arguments and results that a program cannot have.
void checkSignature(const ProgramSource& source, const TypeSource& types);

/// Parses a body. Its errors have PostgreSQL's messages and SQLSTATEs, a position counted in characters of the body,
/// and, where they have none or where `source` is no definition, a context: `compilation of PL/pgSQL function "f" near
/// line 3`.
Program parseProgram(const ProgramSource& source, const TypeSource& types);

/// The position in `statement`, the text of the command, of a position in the body that a literal of it gives; 0: it is
/// not found, or more than once.
uint32_t positionInStatement(std::string_view statement, std::string_view body, uint32_t position);

} // namespace ouzel::sql::program
