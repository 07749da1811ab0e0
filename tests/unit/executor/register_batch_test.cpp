#include "executor/function/program/register_batch.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "common/error/sql_error.hpp"
#include "sql/algebra/expr.hpp"

using namespace ouzel;
using namespace ouzel::executor;
using Op = RegisterCode::Op;

namespace {

constexpr uint8_t inputs = 2, locals = 4, constants = 4;

/// Random code: computations, jumps forward, and one loop around all, which ends.
RegisterCode makeCode(std::mt19937_64& rng) {
   RegisterCode code;
   code.inputCount = inputs;
   code.result = PhysicalType::I64;
   const auto constant = [&](int64_t value, bool isNull) {
      RegisterCode::Register one;
      one.i64 = value;
      one.isNull = isNull;
      code.constants.push_back(one);
      return static_cast<uint8_t>(RegisterCode::registersMax - code.constants.size());
   };
   const uint8_t zero = constant(0, false), one = constant(1, false);
   constant(static_cast<int64_t>(rng() % 10), false);
   constant(0, rng() % 2 == 0);
   const auto any = [&]() -> uint8_t {
      const uint64_t choice = rng() % (inputs + locals + constants);
      return static_cast<uint8_t>(
          choice < inputs + locals ? choice : RegisterCode::registersMax - 1 - (choice - inputs - locals));
   };
   const auto local = [&] { return static_cast<uint8_t>(inputs + rng() % locals); };
   const auto add = [&](Op op, uint8_t dst, uint8_t a, uint8_t b, uint8_t extra, uint32_t target = 0) {
      code.code.push_back({op, dst, a, b, extra, 0, 0, target});
   };
   const uint8_t counter = inputs + locals, last = counter + 1;
   for (uint8_t i = 0; i < locals; ++i)
      add(Op::Move, static_cast<uint8_t>(inputs + i), rng() % 2 ? zero : static_cast<uint8_t>(rng() % inputs), zero, 0);
   add(Op::Move, counter, zero, zero, 0);
   add(Op::Move, last, constant(static_cast<int64_t>(rng() % 6), false), zero, 0);
   const auto begin = static_cast<uint32_t>(code.code.size());
   const uint32_t length = 3 + static_cast<uint32_t>(rng() % 12);
   for (uint32_t i = 0; i < length; ++i) {
      constexpr Op computing[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo, Op::Negate, Op::Move};
      constexpr Op jumping[] = {Op::JumpIfFalse, Op::JumpIfTrue, Op::JumpUnlessTrue, Op::JumpUnlessNull, Op::Jump};
      const uint64_t kind = rng() % 10;
      if (kind < 5) {
         add(computing[rng() % std::size(computing)], local(), any(), any(), rng() % 2 ? 4 : 8);
      } else if (kind < 7) {
         add(Op::Compare, local(), any(), any(), static_cast<uint8_t>(rng() % 8));
      } else {
         const uint32_t target = begin + i + 1 + static_cast<uint32_t>(rng() % (length - i));
         add(jumping[rng() % std::size(jumping)], 0, any(), zero, 0, target);
      }
   }
   add(Op::NextUp, counter, last, one, 0, begin);
   add(Op::Return, 0, local(), zero, 0);
   return code;
}

/// The row's result; none: it fails.
std::optional<RegisterCode::Register> runAlone(const RegisterCode& code, const int64_t* values, const bool* nulls) {
   RegisterCode::Register registers[RegisterCode::registersMax];
   code.prepare(registers);
   for (uint32_t i = 0; i < inputs; ++i) {
      registers[i].i64 = values[i];
      registers[i].isNull = nulls[i];
   }
   try {
      return code.run(registers);
   } catch (const SqlError&) {
      return std::nullopt;
   }
}

} // namespace

CATCH_TEST_CASE("code for registers gives the same for many rows and for one", "[program]") {
   const uint64_t seed = std::random_device()();
   CATCH_INFO("seed " << seed);
   std::mt19937_64 rng(seed);
   for (int round = 0; round < 3000; ++round) {
      const RegisterCode made = makeCode(rng);
      const RegisterCode code = RegisterCode::unpack(made.pack());
      RegisterBatch batch(code);
      const auto rows = static_cast<uint32_t>(1 + rng() % RegisterBatch::rowsMax);
      std::vector<std::optional<RegisterCode::Register>> expected;
      uint32_t kept = 0;
      for (uint32_t row = 0; row < rows; ++row) {
         int64_t values[inputs];
         bool nulls[inputs];
         for (uint32_t i = 0; i < inputs; ++i) {
            values[i] = static_cast<int64_t>(rng() % 7) - 3;
            if (rng() % 10 == 0) values[i] = static_cast<int64_t>(rng());
            nulls[i] = rng() % 8 == 0;
         }
         const auto result = runAlone(code, values, nulls);
         if (!result) continue; // a row that fails is an error of the batch
         for (uint32_t i = 0; i < inputs; ++i) {
            batch.values(i)[kept] = values[i];
            batch.nulls(i)[kept] = nulls[i];
         }
         expected.push_back(result);
         ++kept;
      }
      if (kept == 0) continue;
      batch.run(kept);
      for (uint32_t row = 0; row < kept; ++row) {
         CATCH_REQUIRE((batch.resultNulls()[row] != 0) == expected[row]->isNull);
         if (!expected[row]->isNull) CATCH_REQUIRE(batch.results()[row] == expected[row]->i64);
      }
   }
}
