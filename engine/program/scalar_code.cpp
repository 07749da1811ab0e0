#include "engine/program/scalar_code.hpp"

#include "executor/function/program/register_compiler.hpp"

namespace ouzel::engine {

using executor::RegisterCode;
using executor::RegisterCompiler;

bool ScalarCode::takes(const SqlType& type) {
   return RegisterCompiler::takes(type);
}

std::unique_ptr<ScalarCode> ScalarCode::compile(const sql::Expr& expr, std::span<const ParameterSource> sources) {
   if (!takes(expr.type)) return nullptr;
   RegisterCompiler compiler(static_cast<uint32_t>(sources.size()), [](const sql::Expr& leaf) {
      const auto* parameter = leaf.getIf<sql::scalar::Parameter>();
      return parameter ? std::optional(static_cast<uint8_t>(parameter->number)) : std::nullopt;
   });
   const uint8_t result = compiler.value(expr);
   if (!compiler.isGood()) return nullptr;
   compiler.add(RegisterCode::Op::Return, 0, result);
   auto code = std::make_unique<ScalarCode>();
   code->code_ = compiler.take(storedRepresentation(expr.type).physical);
   code->sources_.assign(sources.begin(), sources.end());
   code->registers_ = std::make_unique<Register[]>(RegisterCode::registersMax);
   code->code_.prepare(code->registers_.get());
   code->arrays_.resize(sources.size());
   for (const ParameterSource& source : sources)
      code->hasArrays_ |= !takes(source.type);
   return code;
}

ScalarCode::Register ScalarCode::run(const Variables& variables) {
   for (size_t i = 0; i < sources_.size(); ++i) {
      const Value& value = variables.at(sources_[i]).value;
      registers_[i].isNull = value.isNull;
      if (hasArrays_ && isVariableSize(value.type)) {
         arrays_[i] = value.bytes;
         registers_[i].array = &arrays_[i];
      } else {
         registers_[i].i64 = value.i64; // or the double in its place
      }
   }
   return code_.run(registers_.get());
}

Value ScalarCode::evaluate(const Variables& variables) {
   const Register result = run(variables);
   Value value = Value::null(code_.result);
   value.isNull = result.isNull;
   if (!result.isNull) value.i64 = result.i64; // a double has the same place
   return value;
}

} // namespace ouzel::engine
