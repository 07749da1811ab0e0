#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"
#include "sql/program/names.hpp"

// The variables of a program and the SQL texts in it.

namespace ouzel::sql::program {

/// What a type makes of a variable.
enum class TypeClass : uint8_t {
   Scalar,
   Record, ///< record, a row type, or a domain over one
   Pseudo, ///< no variable can have it
};
struct DeclaredType {
   SqlType type;
   TypeClass kind = TypeClass::Scalar;
};

enum class SqlForm : uint8_t {
   Expression, ///< what may stand behind SELECT: usually one expression, but FROM, WHERE and so on may follow
   Statement,
};

/// SQL text in a body. Names in it that `scope` sees are variables. It is bound when it is first executed.
struct SqlText {
   std::string text; ///< as reports quote it, with blanks in place of INTO; a statement may end in a comment
   SqlForm form = SqlForm::Expression;
   uint32_t id = 0;     ///< counted from 0 in a program, so that its compiled form can be found in an array
   uint32_t offset = 0; ///< of the text in the body, in bytes
   NameId scope = noName;
};

/// Values of variables that a trigger function finds set.
enum class Promise : uint8_t {
   None,
   TriggerName,
   TriggerWhen,
   TriggerLevel,
   TriggerOperation,
   TriggerRelation,
   TriggerTableName,
   TriggerTableSchema,
   TriggerArgumentCount,
   TriggerArguments,
   EventName,
   EventTag,
};

enum class Scrolling : uint8_t { Unsaid, Scroll, NoScroll };

/// A cursor declared with its query: its variable is of type refcursor and begins as its own name.
struct BoundCursor {
   SqlText query;
   Scrolling scrolling = Scrolling::Unsaid;
   bool hasArguments = false;
   std::vector<VariableId> arguments;
};

enum class VariableKind : uint8_t {
   Scalar,
   Record,
   Field, ///< of a record variable, where it is assigned to or named in an expression
};

struct Variable {
   VariableKind kind = VariableKind::Scalar;
   std::string name; ///< a field's: that of the field
   uint32_t line = 0;
   DeclaredType type; ///< a field's is not known
   bool isConstant = false, isNotNull = false;
   bool isHidden = false;          ///< of CASE: its type is that of the expression after CASE
   std::optional<SqlText> initial; ///< evaluated when its block begins; none: NULL
   Promise promise = Promise::None;
   std::shared_ptr<const BoundCursor> cursor;
   VariableId record = noVariable; ///< of a field
};

} // namespace ouzel::sql::program
