#include "executor/function/program/register_batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/thread/interruption.hpp"
#include "sql/algebra/expr.hpp"

namespace ouzel::executor {

using Op = RegisterCode::Op;

namespace {

constexpr uint32_t aloneMax = 4; ///< rows of a group that are faster one by one

double asDouble(int64_t bits) {
   double value;
   std::memcpy(&value, &bits, sizeof value);
   return value;
}
int64_t asBits(double value) {
   int64_t bits;
   std::memcpy(&bits, &value, sizeof bits);
   return bits;
}

/// All rows from the first on; loops over them become vector loops.
struct DenseRows {
   uint32_t count;
   template <typename Visit>
   void each(Visit visit) const {
// A row reads and writes only its own places, also where an instruction writes what it reads.
#ifndef __clang__
#pragma GCC ivdep
#endif
      for (uint32_t row = 0; row < count; ++row)
         visit(row);
   }
};
struct ListedRows {
   const uint16_t* rows;
   uint32_t count;
   template <typename Visit>
   void each(Visit visit) const {
      for (uint32_t i = 0; i < count; ++i)
         visit(rows[i]);
   }
};

bool fitsIn(int64_t value, uint32_t bytes) {
   return bytes == 8 || (bytes == 4 ? value == static_cast<int32_t>(value) : value == static_cast<int16_t>(value));
}

} // namespace

RegisterBatch::RegisterBatch(const RegisterCode& code) : code_(code) {
   const auto use = [&](uint8_t number) {
      if (values_[number]) return;
      values_[number] = std::make_unique<int64_t[]>(rowsMax);
      nulls_[number] = std::make_unique<uint8_t[]>(rowsMax);
   };
   for (uint32_t i = 0; i < code.inputCount; ++i)
      use(static_cast<uint8_t>(i));
   for (const Instruction& step : code.code) {
      use(step.dst);
      use(step.a);
      use(step.b);
   }
   for (size_t i = 0; i < code.constants.size(); ++i) {
      const auto number = static_cast<uint8_t>(RegisterCode::registersMax - 1 - i);
      if (!values_[number]) continue;
      std::fill_n(values_[number].get(), rowsMax, code.constants[i].i64);
      std::fill_n(nulls_[number].get(), rowsMax, static_cast<uint8_t>(code.constants[i].isNull));
      mayBeNull_[number] = code.constants[i].isNull;
   }
}

RegisterBatch::~RegisterBatch() = default;

std::unique_ptr<RegisterBatch::Group> RegisterBatch::takeGroup() {
   std::unique_ptr<Group> group;
   if (free_.empty()) {
      group = std::make_unique<Group>();
      group->rows = std::make_unique<uint16_t[]>(rowsMax);
   } else {
      group = std::move(free_.back());
      free_.pop_back();
   }
   group->count = 0;
   return group;
}

/// Groups before the same instruction become one.
void RegisterBatch::put(std::unique_ptr<Group> group) {
   if (group->count == 0) return free_.push_back(std::move(group));
   const auto place =
       std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one->at <= group->at; });
   if (place == waiting_.end() || (*place)->at != group->at) {
      waiting_.insert(place, std::move(group));
      return;
   }
   Group& other = **place;
   std::copy_n(group->rows.get(), group->count, other.rows.get() + other.count);
   other.count += group->count;
   free_.push_back(std::move(group));
}

void RegisterBatch::run(uint32_t rows) {
   rowCount_ = rows;
   waiting_.clear();
   for (uint32_t i = 0; i < code_.inputCount; ++i)
      mayBeNull_[i] = std::any_of(nulls_[i].get(), nulls_[i].get() + rows, [](uint8_t isNull) { return isNull != 0; });
   auto all = takeGroup();
   all->at = 0;
   all->count = rows;
   for (uint32_t row = 0; row < rows; ++row)
      all->rows[row] = static_cast<uint16_t>(row);
   waiting_.push_back(std::move(all));
   while (!waiting_.empty()) {
      auto next = std::move(waiting_.back());
      waiting_.pop_back();
      run(std::move(next));
   }
}

void RegisterBatch::run(std::unique_ptr<Group> group) {
   if (group->count <= aloneMax) {
      runAlone(*group);
      return free_.push_back(std::move(group));
   }
   while (group) {
      const Instruction& step = code_.code[group->at];
      switch (step.op) {
      case Op::Jump: group->at = step.target; break;
      case Op::JumpBack:
         if (++steps_ % 256 == 0) checkInterrupted();
         group->at = step.target;
         break;
      case Op::JumpIfFalse:
      case Op::JumpIfTrue:
      case Op::JumpUnlessTrue:
      case Op::JumpUnlessNull:
      case Op::NextUp:
      case Op::NextDown:
         if (++steps_ % 256 == 0) checkInterrupted();
         jump(group, step);
         break;
      case Op::Return:
         for (uint32_t i = 0; i < group->count; ++i) {
            const uint32_t row = group->rows[i];
            results_[row] = values_[step.a][row];
            resultNulls_[row] = nulls_[step.a][row];
         }
         free_.push_back(std::move(group));
         return;
      case Op::Fail: code_.failAt(step);
      case Op::FailIfNull:
         for (uint32_t i = 0; i < group->count; ++i)
            if (nulls_[step.a][group->rows[i]]) code_.failAt(step);
         ++group->at;
         break;
      default: compute(*group, step); ++group->at;
      }
      // Others that are behind go first, and are joined by this group where they meet.
      if (group && !waiting_.empty() && waiting_.back()->at <= group->at) {
         put(std::move(group));
         return;
      }
   }
}

void RegisterBatch::runAlone(const Group& group) {
   RegisterCode::Register registers[RegisterCode::registersMax];
   code_.prepare(registers);
   for (uint32_t i = 0; i < group.count; ++i) {
      const uint32_t row = group.rows[i];
      for (uint32_t number = 0; number < RegisterCode::registersMax - code_.constants.size(); ++number) {
         if (!values_[number]) continue;
         registers[number].i64 = values_[number][row];
         registers[number].isNull = nulls_[number][row] != 0;
      }
      const RegisterCode::Register result = code_.run(registers, group.at);
      results_[row] = result.i64;
      resultNulls_[row] = result.isNull;
   }
}

/// Calls `use` with a test of a row: whether it jumps.
template <typename Use>
void RegisterBatch::withTest(const Instruction& step, Use use) {
   const int64_t *a = values_[step.a].get(), *b = values_[step.b].get(), *out = values_[step.dst].get();
   const uint8_t* nulls = nulls_[step.a].get();
   switch (step.op) {
   case Op::JumpIfFalse: return use([=](uint32_t row) { return (nulls[row] == 0) & (a[row] == 0); });
   case Op::JumpIfTrue: return use([=](uint32_t row) { return (nulls[row] == 0) & (a[row] != 0); });
   case Op::JumpUnlessTrue: return use([=](uint32_t row) { return (nulls[row] != 0) | (a[row] == 0); });
   case Op::JumpUnlessNull: return use([=](uint32_t row) { return nulls[row] == 0; });
   case Op::NextUp: return use([=](uint32_t row) { return a[row] - out[row] >= b[row]; });
   default: return use([=](uint32_t row) { return out[row] - a[row] >= b[row]; });
   }
}

/// The counter of a FOR loop, of rows that go on.
template <typename Rows>
void RegisterBatch::advance(Rows rows, const Instruction& step) {
   const int64_t* by = values_[step.b].get();
   int64_t* counter = values_[step.dst].get();
   if (step.op == Op::NextUp)
      rows.each([&](uint32_t row) { counter[row] += by[row]; });
   else if (step.op == Op::NextDown)
      rows.each([&](uint32_t row) { counter[row] -= by[row]; });
}

void RegisterBatch::jump(std::unique_ptr<Group>& group, const Instruction& step) {
   const bool isDense = group->count == rowCount_;
   const DenseRows all{rowCount_};
   const ListedRows listed{group->rows.get(), group->count};
   uint32_t count = 0;
   withTest(step, [&](auto jumps) {
      const auto add = [&](uint32_t row) { count += jumps(row); };
      isDense ? all.each(add) : listed.each(add);
   });
   if (count == group->count) {
      isDense ? advance(all, step) : advance(listed, step);
      group->at = step.target;
      return;
   }
   ++group->at;
   if (count == 0) return;
   auto jumping = takeGroup();
   jumping->at = step.target;
   uint32_t staying = 0;
   withTest(step, [&](auto jumps) {
      for (uint32_t i = 0; i < group->count; ++i) {
         const uint16_t row = group->rows[i];
         if (jumps(row))
            jumping->rows[jumping->count++] = row;
         else
            group->rows[staying++] = row;
      }
   });
   group->count = staying;
   advance(ListedRows{jumping->rows.get(), jumping->count}, step);
   put(std::move(jumping));
   put(std::move(group));
}

/// Integers and doubles without NULLs. False: the instruction is another one, or a row fails.
template <typename Rows>
bool RegisterBatch::computeFast(Rows rows, const Instruction& step) {
   const int64_t *a = values_[step.a].get(), *b = values_[step.b].get();
   int64_t* out = values_[step.dst].get();
   const uint32_t bytes = step.extra;
   const auto compare = [&](auto holds) {
      rows.each([&](uint32_t row) { out[row] = holds(a[row], b[row]); });
      return true;
   };
   switch (step.op) {
   case Op::Move: rows.each([&](uint32_t row) { out[row] = a[row]; }); return true;
   case Op::Add:
   case Op::Subtract: {
      const int64_t sign = step.op == Op::Add ? 0 : -1;
      uint64_t failures = 0;
      if (bytes == 8) {
         rows.each([&](uint32_t row) {
            const uint64_t x = static_cast<uint64_t>(a[row]), y = static_cast<uint64_t>(b[row]);
            const uint64_t sum = sign ? x - y : x + y;
            failures |= sign ? (x ^ y) & (x ^ sum) : (x ^ sum) & (y ^ sum);
         });
         if (failures >> 63) return false;
         rows.each([&](uint32_t row) { out[row] = sign ? a[row] - b[row] : a[row] + b[row]; });
         return true;
      }
      rows.each([&](uint32_t row) {
         const int64_t sum = sign ? a[row] - b[row] : a[row] + b[row];
         failures |= static_cast<uint64_t>(sum ^ (bytes == 4 ? static_cast<int32_t>(sum) : static_cast<int16_t>(sum)));
      });
      if (failures) return false;
      rows.each([&](uint32_t row) { out[row] = sign ? a[row] - b[row] : a[row] + b[row]; });
      return true;
   }
   case Op::Multiply: {
      if (bytes == 8) return false;
      uint64_t failures = 0;
      rows.each([&](uint32_t row) {
         const int64_t product = int64_t{static_cast<int32_t>(a[row])} * static_cast<int32_t>(b[row]);
         failures |= static_cast<uint64_t>(
             product ^ (bytes == 4 ? static_cast<int32_t>(product) : static_cast<int16_t>(product)));
      });
      if (failures) return false;
      rows.each([&](uint32_t row) { out[row] = int64_t{static_cast<int32_t>(a[row])} * static_cast<int32_t>(b[row]); });
      return true;
   }
   case Op::Divide:
   case Op::Modulo: { // quotients of 32 bits are exact in doubles, and these divide in vectors
      uint64_t bad = 0;
      rows.each([&](uint32_t row) {
         bad |= static_cast<uint64_t>(a[row] ^ static_cast<int32_t>(a[row])) |
                static_cast<uint64_t>(b[row] ^ static_cast<int32_t>(b[row])) | static_cast<uint64_t>(b[row] == 0) |
                static_cast<uint64_t>(b[row] == -1);
      });
      if (bad || bytes == 2) return false;
      const bool isDivision = step.op == Op::Divide;
      rows.each([&](uint32_t row) {
         const auto x = static_cast<int32_t>(a[row]), y = static_cast<int32_t>(b[row]);
         const auto q = static_cast<int32_t>(static_cast<double>(x) / static_cast<double>(y));
         out[row] = isDivision ? q : x - q * y;
      });
      return true;
   }
   case Op::Compare:
      switch (static_cast<sql::CompareOp>(step.extra)) {
      case sql::CompareOp::Eq:
      case sql::CompareOp::IsNotDistinctFrom: return compare([](int64_t x, int64_t y) { return x == y; });
      case sql::CompareOp::Ne:
      case sql::CompareOp::IsDistinctFrom: return compare([](int64_t x, int64_t y) { return x != y; });
      case sql::CompareOp::Lt: return compare([](int64_t x, int64_t y) { return x < y; });
      case sql::CompareOp::Le: return compare([](int64_t x, int64_t y) { return x <= y; });
      case sql::CompareOp::Gt: return compare([](int64_t x, int64_t y) { return x > y; });
      case sql::CompareOp::Ge: return compare([](int64_t x, int64_t y) { return x >= y; });
      }
      return false;
   case Op::AddFloat:
   case Op::SubtractFloat:
   case Op::MultiplyFloat: {
      bool failed = false;
      rows.each([&](uint32_t row) {
         const double x = asDouble(a[row]), y = asDouble(b[row]);
         const double r = step.op == Op::AddFloat ? x + y : step.op == Op::SubtractFloat ? x - y : x * y;
         failed |= !(std::fabs(r) < HUGE_VAL) || (r == 0 && step.op == Op::MultiplyFloat);
      });
      if (failed) return false; // perhaps: the slow way knows
      rows.each([&](uint32_t row) {
         const double x = asDouble(a[row]), y = asDouble(b[row]);
         out[row] = asBits(step.op == Op::AddFloat ? x + y : step.op == Op::SubtractFloat ? x - y : x * y);
      });
      return true;
   }
   case Op::ToFloat: rows.each([&](uint32_t row) { out[row] = asBits(static_cast<double>(a[row])); }); return true;
   case Op::Narrow: {
      bool failed = false;
      rows.each([&](uint32_t row) { failed |= !fitsIn(a[row], bytes); });
      if (failed) return false;
      rows.each([&](uint32_t row) { out[row] = a[row]; });
      return true;
   }
   default: return false;
   }
}

void RegisterBatch::compute(const Group& group, const Instruction& step) {
   const bool isDense = group.count == rowCount_;
   const ListedRows listed{group.rows.get(), group.count};
   if (!mayBeNull_[step.a] && !mayBeNull_[step.b] &&
       (isDense ? computeFast(DenseRows{rowCount_}, step) : computeFast(listed, step))) {
      if (!mayBeNull_[step.dst]) return;
      uint8_t* nulls = nulls_[step.dst].get();
      listed.each([&](uint32_t row) { nulls[row] = 0; });
      mayBeNull_[step.dst] = !isDense;
      return;
   }
   bool hasNulls = false;
   const auto computeRow = [&](uint32_t row) {
      RegisterCode::Register a, b, out;
      a.i64 = values_[step.a][row];
      a.isNull = nulls_[step.a][row] != 0;
      b.i64 = values_[step.b][row];
      b.isNull = nulls_[step.b][row] != 0;
      out.i64 = values_[step.dst][row];
      RegisterCode::computeOne(step, out, a, b);
      values_[step.dst][row] = out.i64;
      nulls_[step.dst][row] = out.isNull;
      hasNulls |= out.isNull;
   };
   try {
      listed.each(computeRow);
   } catch (SqlError& error) {
      code_.addContext(error, step);
      throw;
   }
   mayBeNull_[step.dst] = hasNulls || (mayBeNull_[step.dst] && !isDense);
}

} // namespace ouzel::executor
