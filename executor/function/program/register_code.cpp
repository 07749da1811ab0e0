#include "executor/function/program/register_code.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/array.hpp"
#include "sql/algebra/expr.hpp"

namespace ouzel::executor {

namespace {

using Register = RegisterCode::Register;

[[noreturn, gnu::cold]] void throwRange(uint32_t bytes) {
   throw SqlError(sqlstate::numericValueOutOfRange, bytes == 2   ? "smallint out of range"
                                                    : bytes == 4 ? "integer out of range"
                                                                 : "bigint out of range");
}
[[noreturn, gnu::cold]] void throwZero() {
   throw SqlError(sqlstate::divisionByZero, "division by zero");
}
[[noreturn, gnu::cold]] void throwFloat(bool isOverflow) {
   throw SqlError(sqlstate::numericValueOutOfRange,
                  isOverflow ? "value out of range: overflow" : "value out of range: underflow");
}

/// The value if it fits in so many bytes.
int64_t fitting(int64_t value, uint32_t bytes) {
   const bool fits =
       bytes == 8 || (bytes == 4 ? value == static_cast<int32_t>(value) : value == static_cast<int16_t>(value));
   if (!fits) [[unlikely]]
      throwRange(bytes);
   return value;
}

int64_t divide(int64_t a, int64_t b, uint32_t bytes) {
   if (b == 0) throwZero();
   if (b != -1) return a / b;
   if (a == std::numeric_limits<int64_t>::min()) throwRange(bytes);
   return fitting(-a, bytes);
}

int64_t negated(int64_t a, uint32_t bytes) {
   if (a == std::numeric_limits<int64_t>::min()) throwRange(bytes);
   return fitting(-a, bytes);
}

double checkedSum(double result, double a, double b) {
   if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) throwFloat(true);
   return result;
}
double checkedProduct(double result, double a, double b) {
   if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) throwFloat(true);
   if (result == 0 && a != 0 && b != 0) throwFloat(false);
   return result;
}
double quotient(double a, double b) {
   if (b == 0 && !std::isnan(a)) throwZero();
   const double result = a / b;
   if (std::isinf(result) && !std::isinf(a)) throwFloat(true);
   if (result == 0 && a != 0 && !std::isinf(b)) throwFloat(false);
   return result;
}

int64_t rounded(double value, uint32_t bytes) {
   const double whole = std::rint(value);
   const auto bound = static_cast<double>(uint64_t{1} << (bytes * 8 - 1));
   if (!(whole >= -bound && whole < bound)) throwRange(bytes);
   return static_cast<int64_t>(whole);
}

/// -1, 0, 1; NaN equals itself and comes after all other values.
int order(double a, double b) {
   if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
   return static_cast<int>(a > b) - static_cast<int>(a < b);
}
int order(int64_t a, int64_t b) {
   return static_cast<int>(a > b) - static_cast<int>(a < b);
}

bool holds(sql::CompareOp op, int order) {
   switch (op) {
   case sql::CompareOp::Eq:
   case sql::CompareOp::IsNotDistinctFrom: return order == 0;
   case sql::CompareOp::Ne:
   case sql::CompareOp::IsDistinctFrom: return order != 0;
   case sql::CompareOp::Lt: return order < 0;
   case sql::CompareOp::Le: return order <= 0;
   case sql::CompareOp::Gt: return order > 0;
   case sql::CompareOp::Ge: return order >= 0;
   }
   return false;
}

void setBoolean(Register& out, bool value) {
   out.i64 = value;
   out.isNull = false;
}

template <typename Order>
void compare(Register& out, sql::CompareOp op, const Register& a, const Register& b, Order orderOf) {
   if (a.isNull || b.isNull) {
      const bool isEqual = a.isNull && b.isNull;
      if (sql::isNullSafe(op))
         setBoolean(out, holds(op, isEqual ? 0 : 1));
      else
         out.isNull = true;
      return;
   }
   setBoolean(out, holds(op, orderOf()));
}

bool passes(sql::ExprKind test, const Register& a) {
   const bool isTrue = !a.isNull && a.i64 != 0, isFalse = !a.isNull && a.i64 == 0;
   switch (test) {
   case sql::ExprKind::IsNull: return a.isNull;
   case sql::ExprKind::IsNotNull: return !a.isNull;
   case sql::ExprKind::IsTrue: return isTrue;
   case sql::ExprKind::IsNotTrue: return !isTrue;
   case sql::ExprKind::IsFalse: return isFalse;
   default: return !isFalse;
   }
}

template <typename T>
T read(const void* from) {
   T value;
   std::memcpy(&value, from, sizeof value);
   return value;
}

void load(Register& out, PhysicalType type, const void* from) {
   out.isNull = false;
   switch (type) {
   case PhysicalType::Bool: out.i64 = read<uint8_t>(from) != 0; return;
   case PhysicalType::I16: out.i64 = read<int16_t>(from); return;
   case PhysicalType::I32: out.i64 = read<int32_t>(from); return;
   case PhysicalType::I64: out.i64 = read<int64_t>(from); return;
   case PhysicalType::F64: out.f64 = read<double>(from); return;
   default: throwInternal("an element that is no scalar");
   }
}

/// An element of an array of one dimension; other arrays have none.
void element(Register& out, const Register& array, const Register& subscript, PhysicalType type) {
   const int64_t at = subscript.i64;
   const bool isKnown = !array.isNull && !subscript.isNull;
   const std::string_view* bytes = array.array;
   out.isNull = true;
   if (!isKnown) return;
   const ArrayView view(*bytes);
   if (view.dimensionCount() != 1) return;
   const ArrayDimension dimension = view.dimension(0);
   const int64_t index = at - dimension.lower;
   if (index < 0 || index >= dimension.length) return;
   if (!view.hasNulls())
      return load(out, type, view.elementBytes().data() + static_cast<size_t>(index) * physicalSize(type));
   ArrayView::Cursor cursor(view);
   cursor.moveTo(static_cast<uint32_t>(index));
   if (cursor.next() && !cursor.isNull()) load(out, type, cursor.value());
}

[[noreturn, gnu::cold]] void throwNullBound(const char* what) {
   throw SqlError(sqlstate::nullValueNotAllowed, std::string(what) + " of FOR loop cannot be null");
}

[[noreturn, gnu::cold]] void fail(RegisterCode::Failure failure) {
   switch (failure) {
   case RegisterCode::Failure::NoReturn:
      throw SqlError(sqlstate::sREFunctionExecutedNoReturnStatement, "control reached end of function without RETURN");
   case RegisterCode::Failure::NoCase:
      throw SqlError(sqlstate::caseNotFound, "case not found").hint("CASE statement is missing ELSE part.");
   case RegisterCode::Failure::NullLower: throwNullBound("lower bound");
   case RegisterCode::Failure::NullUpper: throwNullBound("upper bound");
   case RegisterCode::Failure::NullStep: throwNullBound("BY value");
   case RegisterCode::Failure::BadStep: break;
   }
   throw SqlError(sqlstate::invalidParameterValue, "BY value of FOR loop must be greater than zero");
}

int64_t remainder(int64_t a, int64_t b) {
   if (b == 0) throwZero();
   if (b == -1) return 0;
   const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
   return x == a && y == b ? x % y : a % b; // the narrow division is several times as fast
}

/// What an instruction that is no jump does.
[[gnu::always_inline]] inline void compute(const RegisterCode::Instruction& step, Register& out, const Register& a,
                                           const Register& b) {
   using Op = RegisterCode::Op;
   const auto strict = [&](auto compute) {
      if (a.isNull || b.isNull) [[unlikely]]
         out.isNull = true;
      else
         compute(), out.isNull = false;
   };
   const auto strictOne = [&](auto compute) {
      if (a.isNull) [[unlikely]]
         out.isNull = true;
      else
         compute(), out.isNull = false;
   };
   const uint32_t bytes = step.extra;
   switch (step.op) {
   case Op::Move: out = a; break;
   case Op::Add:
      strict([&] {
         int64_t sum;
         if (__builtin_add_overflow(a.i64, b.i64, &sum)) throwRange(bytes);
         out.i64 = fitting(sum, bytes);
      });
      break;
   case Op::Subtract:
      strict([&] {
         int64_t difference;
         if (__builtin_sub_overflow(a.i64, b.i64, &difference)) throwRange(bytes);
         out.i64 = fitting(difference, bytes);
      });
      break;
   case Op::Multiply:
      strict([&] {
         int64_t product;
         if (__builtin_mul_overflow(a.i64, b.i64, &product)) throwRange(bytes);
         out.i64 = fitting(product, bytes);
      });
      break;
   case Op::Divide: strict([&] { out.i64 = divide(a.i64, b.i64, bytes); }); break;
   case Op::Modulo: strict([&] { out.i64 = remainder(a.i64, b.i64); }); break;
   case Op::Negate: strictOne([&] { out.i64 = negated(a.i64, bytes); }); break;
   case Op::Absolute: strictOne([&] { out.i64 = a.i64 < 0 ? negated(a.i64, bytes) : a.i64; }); break;
   case Op::Narrow: strictOne([&] { out.i64 = fitting(a.i64, bytes); }); break;
   case Op::BitAnd: strict([&] { out.i64 = a.i64 & b.i64; }); break;
   case Op::BitOr: strict([&] { out.i64 = a.i64 | b.i64; }); break;
   case Op::BitXor: strict([&] { out.i64 = a.i64 ^ b.i64; }); break;
   case Op::AddFloat: strict([&] { out.f64 = checkedSum(a.f64 + b.f64, a.f64, b.f64); }); break;
   case Op::SubtractFloat: strict([&] { out.f64 = checkedSum(a.f64 - b.f64, a.f64, b.f64); }); break;
   case Op::MultiplyFloat: strict([&] { out.f64 = checkedProduct(a.f64 * b.f64, a.f64, b.f64); }); break;
   case Op::DivideFloat: strict([&] { out.f64 = quotient(a.f64, b.f64); }); break;
   case Op::NegateFloat: strictOne([&] { out.f64 = -a.f64; }); break;
   case Op::AbsoluteFloat: strictOne([&] { out.f64 = std::fabs(a.f64); }); break;
   case Op::ToFloat: strictOne([&] { out.f64 = static_cast<double>(a.i64); }); break;
   case Op::FromFloat: strictOne([&] { out.i64 = rounded(a.f64, bytes); }); break;
   case Op::Compare:
      compare(out, static_cast<sql::CompareOp>(step.extra), a, b, [&] { return order(a.i64, b.i64); });
      break;
   case Op::CompareFloat:
      compare(out, static_cast<sql::CompareOp>(step.extra), a, b, [&] { return order(a.f64, b.f64); });
      break;
   case Op::Element: element(out, a, b, static_cast<PhysicalType>(step.extra)); break;
   case Op::Not: strictOne([&] { out.i64 = a.i64 == 0; }); break;
   case Op::And: {
      const bool isFalse = (!a.isNull && a.i64 == 0) || (!b.isNull && b.i64 == 0);
      const bool isUnknown = !isFalse && (a.isNull || b.isNull);
      setBoolean(out, !isFalse);
      out.isNull = isUnknown;
      break;
   }
   case Op::Or: {
      const bool isTrue = (!a.isNull && a.i64 != 0) || (!b.isNull && b.i64 != 0);
      const bool isUnknown = !isTrue && (a.isNull || b.isNull);
      setBoolean(out, isTrue);
      out.isNull = isUnknown;
      break;
   }
   case Op::Test: setBoolean(out, passes(static_cast<sql::ExprKind>(step.extra), a)); break;
   default: break; // a jump
   }
}

} // namespace

void RegisterCode::computeOne(const Instruction& step, Register& out, const Register& a, const Register& b) {
   compute(step, out, a, b);
}
void RegisterCode::failAt(const Instruction& step) const {
   try {
      fail(static_cast<Failure>(step.extra));
   } catch (SqlError& error) {
      addContext(error, step);
      throw;
   }
}
void RegisterCode::addContext(SqlError& error, const Instruction& step) const {
   if (step.context > 0) error.addContext(contexts[step.context - 1u]);
}

Register RegisterCode::run(Register* registers, uint32_t from) const {
   const Instruction* at = code.data() + from;
   try {
      return interpret(registers, at);
   } catch (SqlError& error) {
      addContext(error, *at);
      throw;
   }
}

// Interprets instruction by instruction. A state machine: one case each, on purpose.
Register RegisterCode::interpret(Register* registers, const Instruction*& at) const {
   const Instruction* const begin = code.data();
   uint32_t sinceCheck = 0;
   for (;; ++at) {
      const Instruction& step = *at;
      Register& out = registers[step.dst];
      const Register &a = registers[step.a], &b = registers[step.b];
      switch (step.op) {
      case Op::JumpBack:
         if (++sinceCheck % 4096 == 0) checkInterrupted();
         [[fallthrough]];
      case Op::Jump: at = begin + step.target - 1; break;
      case Op::JumpIfFalse:
         if (!a.isNull && a.i64 == 0) at = begin + step.target - 1;
         break;
      case Op::JumpIfTrue:
         if (!a.isNull && a.i64 != 0) at = begin + step.target - 1;
         break;
      case Op::JumpUnlessTrue:
         if (a.isNull || a.i64 == 0) at = begin + step.target - 1;
         break;
      case Op::JumpUnlessNull:
         if (!a.isNull) at = begin + step.target - 1;
         break;
      case Op::NextUp:
         if (++sinceCheck % 4096 == 0) checkInterrupted();
         if (a.i64 - out.i64 >= b.i64) {
            out.i64 += b.i64;
            at = begin + step.target - 1;
         }
         break;
      case Op::NextDown:
         if (++sinceCheck % 4096 == 0) checkInterrupted();
         if (out.i64 - a.i64 >= b.i64) {
            out.i64 -= b.i64;
            at = begin + step.target - 1;
         }
         break;
      case Op::Return: return a;
      case Op::Fail: fail(static_cast<Failure>(step.extra));
      case Op::FailIfNull:
         if (a.isNull) fail(static_cast<Failure>(step.extra));
         break;
      default: compute(step, out, a, b);
      }
   }
}

namespace {

struct Header {
   uint32_t instructions, constants, contexts;
   uint8_t inputs;
   PhysicalType result;
   uint8_t unused[2];
};

} // namespace

std::string RegisterCode::pack() const {
   Header header{};
   header.instructions = static_cast<uint32_t>(code.size());
   header.constants = static_cast<uint32_t>(constants.size());
   header.contexts = static_cast<uint32_t>(contexts.size());
   header.inputs = inputCount;
   header.result = result;
   std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
   bytes.append(reinterpret_cast<const char*>(code.data()), code.size() * sizeof(Instruction));
   for (const Register& constant : constants) { // without the bytes between members
      bytes.append(reinterpret_cast<const char*>(&constant.i64), sizeof constant.i64);
      bytes.push_back(constant.isNull ? 1 : 0);
   }
   for (const std::string& context : contexts) {
      const auto length = static_cast<uint32_t>(context.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
      bytes.append(context);
   }
   return bytes;
}

RegisterCode RegisterCode::unpack(std::string_view bytes) {
   Header header;
   RegisterCode code;
   std::memcpy(&header, bytes.data(), sizeof header);
   const char* at = bytes.data() + sizeof header;
   code.inputCount = header.inputs;
   code.result = header.result;
   code.code.resize(header.instructions);
   std::memcpy(code.code.data(), at, header.instructions * sizeof(Instruction));
   at += header.instructions * sizeof(Instruction);
   for (uint32_t i = 0; i < header.constants; ++i, at += sizeof(int64_t) + 1) {
      Register& constant = code.constants.emplace_back();
      std::memcpy(&constant.i64, at, sizeof constant.i64);
      constant.isNull = at[sizeof(int64_t)] != 0;
   }
   for (uint32_t i = 0; i < header.contexts; ++i) {
      uint32_t length = 0;
      std::memcpy(&length, at, sizeof length);
      code.contexts.emplace_back(at + sizeof length, length);
      at += sizeof length + length;
   }
   return code;
}

} // namespace ouzel::executor
