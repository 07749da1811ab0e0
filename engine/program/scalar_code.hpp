#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/program/variables.hpp"
#include "executor/function/program/register_code.hpp"

namespace ouzel::engine {

/// An expression over a program's variables as code for registers: over numbers, booleans, dates and elements of arrays
/// of these. It runs without an allocation. Does not refer to the expression. Used by one thread.
class ScalarCode {
public:
   using Register = executor::RegisterCode::Register;

   /// Whether values of the type fit in registers and have no rules of their own.
   static bool takes(const SqlType& type);
   /// Null: the expression has something else. `sources`: what its Parameters stand for.
   static std::unique_ptr<ScalarCode> compile(const sql::Expr& expr, std::span<const ParameterSource> sources);
   /// REQUIRES: the variables have the types of `sources`.
   Register run(const Variables& variables);
   PhysicalType physical() const { return code_.result; }
   /// The same as a value.
   Value evaluate(const Variables& variables);

private:
   executor::RegisterCode code_;
   std::vector<ParameterSource> sources_;
   std::unique_ptr<Register[]> registers_;
   std::vector<std::string_view> arrays_; ///< by source; those of others are empty
   bool hasArrays_ = false;
};

} // namespace ouzel::engine
