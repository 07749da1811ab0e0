#pragma once
#include <functional>
#include <optional>

#include "executor/function/program/register_code.hpp"
#include "sql/algebra/expr.hpp"

namespace ouzel::executor {

/// Writes code for registers: expressions, and the jumps between them. What code cannot do makes it fail once and for
/// all: isGood() is false then.
class RegisterCompiler {
public:
   using Register = uint8_t;
   /// The register of a Column or Parameter; none: the expression cannot be compiled.
   using Leaf = std::function<std::optional<Register>(const sql::Expr&)>;

   /// `inputs`: registers that are filled in before the code runs, the first ones.
   RegisterCompiler(uint32_t inputs, Leaf leaf) : leaf_(std::move(leaf)), next_(inputs) {
      code_.inputCount = static_cast<Register>(inputs);
      isGood_ = inputs < temporariesMax;
   }

   /// Whether values of the type fit in registers and have no rules of their own.
   static bool takes(const SqlType& type);
   bool isGood() const { return isGood_; }

   /// A register that nothing else uses.
   Register allocate();
   Register constant(int64_t value, bool isNull = false);
   /// The register with the value of the expression: its own, or a temporary one, which the next call may use.
   Register value(const sql::Expr& expr) { return operand(expr, next_); }
   /// Puts the value in the register.
   void into(Register dst, const sql::Expr& expr);

   RegisterCode::Instruction& add(RegisterCode::Op op, Register dst, Register a = 0, Register b = 0, size_t extra = 0);
   uint32_t here() const { return static_cast<uint32_t>(code_.code.size()); }
   /// Gives its place, for land().
   uint32_t jump(RegisterCode::Op op, Register tested = 0);
   /// Jumps to a place that is there already.
   void jumpTo(uint32_t target, RegisterCode::Op op = RegisterCode::Op::JumpBack) {
      code_.code[jump(op)].target = target;
   }
   /// The jump goes to what comes next.
   void land(uint32_t jump) { code_.code[jump].target = here(); }
   void fail(RegisterCode::Failure failure) { add(RegisterCode::Op::Fail, 0, 0, 0, static_cast<size_t>(failure)); }
   void giveUp() { isGood_ = false; }
   /// Where in a program errors of the next instructions happen, but for those of expressions with an origin.
   void setOrigin(const std::shared_ptr<sql::Origin>& origin) { context_ = contextOf(origin.get()); }

   RegisterCode take(PhysicalType result) {
      code_.result = result;
      return std::move(code_);
   }

private:
   static constexpr uint32_t temporariesMax = 200, constantsMax = 50;

   Register operand(const sql::Expr& expr, uint32_t free);
   void compute(const sql::Expr& expr, Register dst, uint32_t free);
   void computeNode(const sql::Expr& expr, Register dst, uint32_t free);
   void ofCall(const sql::Expr& expr, Register dst, uint32_t free);
   void ofConnective(const sql::Expr& expr, Register dst, uint32_t free);
   void ofCase(const sql::Expr& expr, Register dst, uint32_t free);
   void ofCoalesce(const sql::Expr& expr, Register dst, uint32_t free);
   void ofInList(const sql::Expr& expr, Register dst, uint32_t free);
   void landAll(const std::vector<uint32_t>& jumps);

   /// Of RegisterCode::contexts, from 1; 0: none, or too many.
   uint16_t contextOf(const sql::Origin* origin);

   const Leaf leaf_;
   RegisterCode code_;
   uint16_t context_ = 0; ///< of the next instruction
   uint32_t next_;
   bool isGood_ = true;
};

} // namespace ouzel::executor
