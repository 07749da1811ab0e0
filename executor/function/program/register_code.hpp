#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/physical_type.hpp"

namespace ouzel::executor {

/// Code for registers: programs over integers, booleans, dates and double precision, with jumps. Functions in PL/pgSQL
/// that need no more become such code and run like any other function, and so do expressions over variables. Fails as
/// the kernels of executor/function/number do. Immutable while it runs.
class RegisterCode {
public:
   struct Register {
      union {
         int64_t i64 = 0; ///< also dates and booleans
         double f64;
         const std::string_view* array; ///< bytes of an array
      };
      bool isNull = true;
   };
   enum class Op : uint8_t {
      Move, ///< dst = a
      // integers; `extra`: bytes of the result
      Add,
      Subtract,
      Multiply,
      Divide,
      Modulo,
      Negate,
      Absolute,
      Narrow,
      BitAnd,
      BitOr,
      BitXor,
      // double precision
      AddFloat,
      SubtractFloat,
      MultiplyFloat,
      DivideFloat,
      NegateFloat,
      AbsoluteFloat,
      ToFloat,
      FromFloat, ///< `extra`: bytes of the result
      // `extra`: the CompareOp
      Compare,
      CompareFloat,
      Element, ///< dst = a[b]; `extra`: the physical type
      // booleans
      Not,
      And, ///< of values, both computed
      Or,
      Test, ///< `extra`: the ExprKind
      // The instruction at `target` is next, if a is so.
      Jump,
      JumpBack, ///< the same, and looks for a cancel now and then
      JumpIfFalse,
      JumpIfTrue,
      JumpUnlessTrue,
      JumpUnlessNull,
      NextUp,   ///< dst += b; on to `target` while it is at most a. All are there
      NextDown, ///< dst -= b; on to `target` while it is at least a
      Return,   ///< a is the result
      Fail,     ///< `extra`: the Failure
      FailIfNull,
   };
   enum class Failure : uint8_t { NoReturn, NoCase, NullLower, NullUpper, NullStep, BadStep };
   struct Instruction {
      Op op;
      uint8_t dst = 0, a = 0, b = 0, extra = 0;
      uint8_t unused = 0;
      uint16_t context = 0; ///< of `contexts`, from 1; 0: none
      uint32_t target = 0;
   };
   static constexpr uint32_t registersMax = 256;

   std::vector<Instruction> code; ///< ends in Return or Fail
   /// Of the last registers, from the last one down. The first registers are the inputs.
   std::vector<Register> constants;
   std::vector<std::string> contexts; ///< what errors say of where they happened
   uint8_t inputCount = 0;
   PhysicalType result = PhysicalType::I32;

   /// The same as bytes, and back.
   std::string pack() const;
   static RegisterCode unpack(std::string_view bytes);

   /// Fills the registers of constants, which stay as they are. REQUIRES: registersMax registers.
   void prepare(Register* registers) const {
      for (size_t i = 0; i < constants.size(); ++i)
         registers[registersMax - 1 - i] = constants[i];
   }
   /// REQUIRES: prepared; the inputs are filled in. `from`: the first instruction.
   Register run(Register* registers, uint32_t from = 0) const;

   // For those who run the code over many rows at a time (register_batch.hpp).
   /// Does what an instruction that is no jump says.
   static void computeOne(const Instruction& step, Register& out, const Register& a, const Register& b);
   [[noreturn]] void failAt(const Instruction& step) const;
   /// Adds what is known of where the error happened.
   void addContext(SqlError& error, const Instruction& step) const;

private:
   /// Leaves `at` before the instruction that fails.
   Register interpret(Register* registers, const Instruction*& at) const;
};

} // namespace ouzel::executor
