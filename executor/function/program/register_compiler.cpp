#include "executor/function/program/register_compiler.hpp"

#include <algorithm>
#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::executor {

using sql::Expr;
using sql::ExprKind;
using Op = RegisterCode::Op;

namespace {

bool isFixed(PhysicalType type) {
   return type == PhysicalType::Bool || type == PhysicalType::I16 || type == PhysicalType::I32 ||
          type == PhysicalType::I64 || type == PhysicalType::F64;
}

bool isFloat(const Expr& expr) {
   return expr.type.oid == oid::float8;
}

/// What the kernel of a name does (executor/function/number); `bytes`: of an integer result.
struct Known {
   Op op;
   uint8_t bytes = 0;
};

std::unordered_map<std::string, Known> makeKnown() {
   std::unordered_map<std::string, Known> known;
   constexpr std::pair<const char*, uint8_t> widths[] = {{"int2", 2},  {"int4", 4},  {"int8", 8},
                                                         {"int24", 4}, {"int42", 4}, {"int28", 8},
                                                         {"int82", 8}, {"int48", 8}, {"int84", 8}};
   constexpr std::pair<const char*, Op> operators[] = {
       {"pl", Op::Add},    {"mi", Op::Subtract},  {"mul", Op::Multiply}, {"div", Op::Divide}, {"mod", Op::Modulo},
       {"um", Op::Negate}, {"abs", Op::Absolute}, {"and", Op::BitAnd},   {"or", Op::BitOr},   {"xor", Op::BitXor}};
   for (const auto& [prefix, bytes] : widths)
      for (const auto& [suffix, op] : operators)
         known.emplace(std::string(prefix) + suffix, Known{op, bytes});
   for (const char* widening : {"i2toi4", "int28", "int48"})
      known.emplace(widening, Known{Op::Move, 8});
   known.insert({{"i4toi2", {Op::Narrow, 2}}, {"int82", {Op::Narrow, 2}}, {"int84", {Op::Narrow, 4}}});
   known.insert({{"float8pl", {Op::AddFloat}},
                 {"float8mi", {Op::SubtractFloat}},
                 {"float8mul", {Op::MultiplyFloat}},
                 {"float8div", {Op::DivideFloat}},
                 {"float8um", {Op::NegateFloat}},
                 {"float8abs", {Op::AbsoluteFloat}}});
   for (const char* conversion : {"i2tod", "i4tod", "i8tod"})
      known.emplace(conversion, Known{Op::ToFloat});
   known.insert({{"dtoi2", {Op::FromFloat, 2}}, {"dtoi4", {Op::FromFloat, 4}}, {"dtoi8", {Op::FromFloat, 8}}});
   return known;
}

const Known* findKnown(const catalog::FunctionInfo& function) {
   static const std::unordered_map<std::string, Known> known = makeKnown();
   constexpr Oid internal = 12;
   const auto found = known.find(std::string(function.source));
   return found == known.end() || function.language != internal ? nullptr : &found->second;
}

} // namespace

bool RegisterCompiler::takes(const SqlType& type) {
   switch (type.oid) {
   case oid::boolean:
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::float8:
   case oid::date: return !type.domain;
   default: return false;
   }
}

RegisterCode::Instruction& RegisterCompiler::add(Op op, Register dst, Register a, Register b, size_t extra) {
   return code_.code.emplace_back(
       RegisterCode::Instruction{op, dst, a, b, static_cast<uint8_t>(extra), 0, context_, uint32_t{0}});
}

uint16_t RegisterCompiler::contextOf(const sql::Origin* origin) {
   if (!origin) return 0;
   std::string text = origin->text;
   for (const sql::Origin* outer = origin->outer.get(); outer; outer = outer->outer.get())
      text += "\n" + outer->text;
   auto known = std::find(code_.contexts.begin(), code_.contexts.end(), text);
   if (known == code_.contexts.end()) {
      if (code_.contexts.size() == UINT16_MAX) return 0;
      known = code_.contexts.insert(known, std::move(text));
   }
   return static_cast<uint16_t>(known - code_.contexts.begin() + 1);
}

uint32_t RegisterCompiler::jump(Op op, Register tested) {
   add(op, 0, tested);
   return here() - 1;
}

void RegisterCompiler::landAll(const std::vector<uint32_t>& jumps) {
   for (const uint32_t one : jumps)
      land(one);
}

RegisterCompiler::Register RegisterCompiler::allocate() {
   if (next_ >= temporariesMax) {
      giveUp();
      return 0;
   }
   return static_cast<Register>(next_++);
}

RegisterCompiler::Register RegisterCompiler::constant(int64_t value, bool isNull) {
   RegisterCode::Register wanted;
   wanted.i64 = value;
   wanted.isNull = isNull;
   const auto known = std::find_if(code_.constants.begin(), code_.constants.end(), [&](const auto& one) {
      return one.isNull == isNull && (isNull || one.i64 == value);
   });
   const auto place = static_cast<size_t>(known - code_.constants.begin());
   if (known == code_.constants.end()) code_.constants.push_back(wanted);
   if (place >= constantsMax) giveUp();
   return static_cast<Register>(RegisterCode::registersMax - 1 - std::min<size_t>(place, constantsMax));
}

RegisterCompiler::Register RegisterCompiler::operand(const Expr& expr, uint32_t free) {
   if (expr.kind == ExprKind::Parameter || expr.kind == ExprKind::Column) {
      const auto leaf = leaf_(expr);
      if (!leaf) giveUp();
      return leaf.value_or(0);
   }
   if (expr.kind == ExprKind::Constant && takes(expr.type)) {
      const Value& value = expr.as<sql::scalar::Constant>().value;
      if (value.isNull) return constant(0, true);
      if (!isFixed(value.type) || (value.type == PhysicalType::F64) != isFloat(expr)) giveUp();
      return constant(value.i64); // a double has the same place
   }
   if (expr.kind == ExprKind::Call && expr.args.size() == 1) { // a wider integer is the same register
      const Known* known = findKnown(*expr.as<sql::scalar::Call>().function);
      if (known && known->op == Op::Move) return operand(*expr.args[0], free);
   }
   if (free >= temporariesMax) {
      giveUp();
      return 0;
   }
   const auto dst = static_cast<Register>(free);
   compute(expr, dst, free + 1);
   return dst;
}

void RegisterCompiler::into(Register dst, const Expr& expr) {
   // Only the last instruction of these writes the register, which the expression may read.
   if (expr.kind == ExprKind::Call || expr.kind == ExprKind::Compare) return compute(expr, dst, next_);
   const Register from = operand(expr, next_);
   if (from != dst) add(Op::Move, dst, from);
}

void RegisterCompiler::compute(const Expr& expr, Register dst, uint32_t free) {
   checkStack();
   if (!takes(expr.type)) giveUp();
   if (!isGood_) return;
   const uint16_t outer = context_;
   if (expr.origin) context_ = contextOf(expr.origin.get());
   computeNode(expr, dst, free);
   context_ = outer;
}

void RegisterCompiler::computeNode(const Expr& expr, Register dst, uint32_t free) {
   switch (expr.kind) {
   case ExprKind::SubscriptRef: {
      const Expr& array = *expr.args[0];
      const bool isPlain = array.kind == ExprKind::Parameter || array.kind == ExprKind::Column;
      if (!isPlain || expr.args.size() != 2 || expr.args[1]->type.oid != oid::int4) return giveUp();
      const Register bytes = operand(array, free), subscript = operand(*expr.args[1], free);
      add(Op::Element, dst, bytes, subscript, static_cast<size_t>(storedRepresentation(expr.type).physical));
      return;
   }
   case ExprKind::Relabel:
      if (isFloat(*expr.args[0]) != isFloat(expr)) return giveUp();
      add(Op::Move, dst, operand(*expr.args[0], free));
      return;
   case ExprKind::Call: return ofCall(expr, dst, free);
   case ExprKind::Compare: {
      if (expr.args[0]->type.oid != expr.args[1]->type.oid || !takes(expr.args[0]->type)) return giveUp();
      const Register a = operand(*expr.args[0], free), b = operand(*expr.args[1], free + 1);
      add(isFloat(*expr.args[0]) ? Op::CompareFloat : Op::Compare, dst, a, b,
          static_cast<size_t>(expr.as<sql::scalar::Compare>().op));
      return;
   }
   case ExprKind::And:
   case ExprKind::Or: return ofConnective(expr, dst, free);
   case ExprKind::Not: add(Op::Not, dst, operand(*expr.args[0], free)); return;
   case ExprKind::IsNull:
   case ExprKind::IsNotNull:
   case ExprKind::IsTrue:
   case ExprKind::IsNotTrue:
   case ExprKind::IsFalse:
   case ExprKind::IsNotFalse: {
      const Register tested = operand(*expr.args[0], free);
      add(Op::Test, dst, tested, 0, static_cast<size_t>(expr.kind));
      return;
   }
   case ExprKind::Case: return ofCase(expr, dst, free);
   case ExprKind::Coalesce: return ofCoalesce(expr, dst, free);
   case ExprKind::InList: return ofInList(expr, dst, free);
   default: return giveUp();
   }
}

void RegisterCompiler::ofCall(const Expr& expr, Register dst, uint32_t free) {
   if (expr.as<sql::scalar::Call>().function->name == "ouzel_last") { // the others might have failed
      for (const sql::ExprPtr& arg : expr.args)
         add(Op::Move, dst, operand(*arg, free));
      return;
   }
   const Known* known = findKnown(*expr.as<sql::scalar::Call>().function);
   if (!known || expr.args.empty() || expr.args.size() > 2) return giveUp();
   const Register a = operand(*expr.args[0], free);
   const Register b = expr.args.size() == 2 ? operand(*expr.args[1], free + 1) : a;
   add(known->op, dst, a, b, known->bytes);
}

void RegisterCompiler::ofConnective(const Expr& expr, Register dst, uint32_t free) {
   const bool isAnd = expr.kind == ExprKind::And;
   std::vector<uint32_t> ends;
   for (size_t i = 0; i < expr.args.size(); ++i) {
      const Register term = operand(*expr.args[i], free);
      if (i == 0)
         add(Op::Move, dst, term);
      else
         add(isAnd ? Op::And : Op::Or, dst, dst, term);
      if (i + 1 < expr.args.size()) ends.push_back(jump(isAnd ? Op::JumpIfFalse : Op::JumpIfTrue, dst));
   }
   landAll(ends);
}

void RegisterCompiler::ofCase(const Expr& expr, Register dst, uint32_t free) {
   std::vector<uint32_t> ends;
   const size_t pairs = expr.args.size() / 2;
   for (size_t i = 0; i < pairs; ++i) {
      const uint32_t next = jump(Op::JumpUnlessTrue, operand(*expr.args[2 * i], free));
      add(Op::Move, dst, operand(*expr.args[2 * i + 1], free));
      ends.push_back(jump(Op::Jump));
      land(next);
   }
   add(Op::Move, dst, expr.args.size() % 2 == 1 ? operand(*expr.args.back(), free) : constant(0, true));
   landAll(ends);
}

void RegisterCompiler::ofCoalesce(const Expr& expr, Register dst, uint32_t free) {
   std::vector<uint32_t> ends;
   for (const auto& arg : expr.args) {
      add(Op::Move, dst, operand(*arg, free));
      ends.push_back(jump(Op::JumpUnlessNull, dst));
   }
   landAll(ends);
}

/// The OR of equalities.
void RegisterCompiler::ofInList(const Expr& expr, Register dst, uint32_t free) {
   if (isFloat(*expr.args[0]) || !takes(expr.args[0]->type) || free + 2 >= temporariesMax) return giveUp();
   const Register value = operand(*expr.args[0], free), one = static_cast<Register>(free + 1);
   add(Op::Move, dst, constant(0));
   std::vector<uint32_t> ends;
   for (size_t i = 1; i < expr.args.size(); ++i) {
      if (expr.args[i]->type.oid != expr.args[0]->type.oid) return giveUp();
      add(Op::Compare, one, value, operand(*expr.args[i], free + 2), static_cast<size_t>(sql::CompareOp::Eq));
      add(Op::Or, dst, dst, one);
      ends.push_back(jump(Op::JumpIfTrue, dst));
   }
   landAll(ends);
   if (expr.as<sql::scalar::InList>().negated) add(Op::Not, dst, dst);
}

} // namespace ouzel::executor
