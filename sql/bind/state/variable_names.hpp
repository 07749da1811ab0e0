#pragma once
#include <functional>
#include <span>
#include <string>

#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// What a dotted name begins with: a variable, and how many parts of the name are the variable's.
struct FoundVariable {
   ExprPtr value{}; ///< null: there is no variable of the name
   uint32_t parts = 0;
};

/// A part of a variable that gets the value of an expression.
struct PartTarget {
   std::string steps;             ///< behind the variable: .field[1][2:3]
   SqlType type;                  ///< of the variable
   std::function<ExprPtr()> base; ///< makes its value: a constant or a Parameter
};

/// The variables of a program, which names in its SQL texts may mean besides columns. Used by one thread.
class VariableNames {
public:
   virtual ~VariableNames() = default;
   /// The value of the variable, a constant or a Row of constants. Throws 55000 for a record that is not assigned yet.
   virtual FoundVariable find(std::span<const std::string> names) const = 0;
   /// $1, $2, ... (from 1); null: there is no such parameter.
   virtual ExprPtr positional(uint32_t number) const = 0;
   /// What wins if a name is a variable and a column; by default that is 42702.
   enum class Conflict : uint8_t { Error, UseVariable, UseColumn };
   Conflict conflict = Conflict::Error;
};

} // namespace ouzel::sql
