#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "executor/function/families.hpp"
#include "executor/function/program/register_batch.hpp"
#include "executor/function/registry.hpp"
#include "executor/kernel/gather.hpp"

// Calls of functions in PL/pgSQL that have become code for registers.

namespace ouzel::executor {

namespace {

/// Copies an argument to the registers of an input.
template <typename T>
void load(const Vector& vector, const uint32_t* rows, uint32_t count, int64_t* values, uint8_t* nulls) {
   const T* from = vector.values<T>();
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = vector.positionOf(rows[i]);
      if constexpr (std::is_same_v<T, double>)
         std::memcpy(&values[i], &from[at], sizeof values[i]);
      else
         values[i] = from[at];
      nulls[i] = !isValidBit(vector.validity, at);
   }
}

void load(const Vector& vector, const uint32_t* rows, uint32_t count, int64_t* values, uint8_t* nulls) {
   switch (vector.type) {
   case PhysicalType::Bool: return load<uint8_t>(vector, rows, count, values, nulls);
   case PhysicalType::I16: return load<int16_t>(vector, rows, count, values, nulls);
   case PhysicalType::I32: return load<int32_t>(vector, rows, count, values, nulls);
   case PhysicalType::I64: return load<int64_t>(vector, rows, count, values, nulls);
   case PhysicalType::F64: return load<double>(vector, rows, count, values, nulls);
   default: throwInternal("an argument of a program that fits in no register");
   }
}

void store(ResultVector& result, int64_t value, uint32_t row) {
   switch (result.type()) {
   case PhysicalType::Bool: result.values<uint8_t>()[row] = value != 0; return;
   case PhysicalType::I16: result.values<int16_t>()[row] = static_cast<int16_t>(value); return;
   case PhysicalType::I32: result.values<int32_t>()[row] = static_cast<int32_t>(value); return;
   case PhysicalType::I64: result.values<int64_t>()[row] = value; return;
   case PhysicalType::F64: std::memcpy(&result.values<double>()[row], &value, sizeof value); return;
   default: throwInternal("a result of a program that fits in no register");
   }
}

/// ouzel_program(code, arguments...)
void run(const KernelCall& call, ResultVector& result) {
   if (call.rows.count() == 0) return;
   // The code is a constant of the plan.
   const RegisterCode code = RegisterCode::unpack(call.args[0].value<StringView>(call.rows.row(0)).view());
   RegisterBatch batch(code);
   uint32_t rows[RegisterBatch::rowsMax];
   for (uint32_t begin = 0; begin < call.rows.count(); begin += RegisterBatch::rowsMax) {
      const uint32_t count = std::min(RegisterBatch::rowsMax, call.rows.count() - begin);
      for (uint32_t i = 0; i < count; ++i)
         rows[i] = call.rows.row(begin + i);
      for (uint32_t input = 0; input < code.inputCount; ++input)
         load(call.args[input + 1], rows, count, batch.values(input), batch.nulls(input));
      batch.run(count);
      for (uint32_t i = 0; i < count; ++i)
         if (batch.resultNulls()[i])
            result.setNull(rows[i]);
         else
            store(result, batch.results()[i], rows[i]);
   }
}

/// ouzel_last(values...): a program has computed the others, too, and might have failed.
void last(const KernelCall& call, ResultVector& result) {
   const Vector& value = call.args.back();
   copyRows(value, call.rows, result.data(), result.validity());
   if (value.mayHaveNulls()) result.noteNulls();
}

} // namespace

void registerPrograms() {
   registerKernel("ouzel_last", anyArguments, {last, false, true});
   registerKernel("ouzel_program", anyArguments, {run, false, false});
}

} // namespace ouzel::executor
