#include <memory>

#include "common/error/sql_error.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"

// Hypothetical-set aggregates: the position that a hypothetical row, made of the direct arguments, would have among the
// rows of the group. Rows come in the order of WITHIN GROUP, so it suffices to count the rows before the hypothetical
// row and its peers. States are never combined.

namespace ouzel::executor {

namespace {

/// The arguments are n columns of WITHIN GROUP, then n direct arguments, which are the same in all rows of a group.
struct State {
   int64_t rows = 0;
   int64_t before = 0;         ///< rows that sort before the hypothetical row
   int64_t beside = 0;         ///< peers of the hypothetical row
   int64_t distinctBefore = 0; ///< number of different rows among the rows before
   struct Cell {
      KeptValue kept;
      bool isNull = false;
   };
   Cell* last = nullptr; ///< the last of the different rows before
};

const std::byte* addressOf(const Vector& vector, uint32_t row) {
   return static_cast<const std::byte*>(vector.data) + size_t{vector.positionOf(row)} * physicalSize(vector.type);
}

int orderToHypothetical(const AggregateInput& input, uint32_t columns, uint32_t row) {
   for (uint32_t i = 0; i < columns; ++i) {
      const Vector &column = input.args[i], &direct = input.args[columns + i];
      const bool descending = input.descending[i] != 0, hasNull = column.isNull(row) || direct.isNull(row);
      const StringOrder keyed = hasNull ? nullptr : keyedOrder(input.argTypes[i]);
      int order = 0;
      if (!keyed)
         order = sortOrder(column, row, direct, row, descending, input.nullsFirst[i] != 0);
      else
         order = (descending ? -1 : 1) * keyed(column.value<StringView>(row), direct.value<StringView>(row));
      if (order != 0) return order;
   }
   return 0;
}

bool isLast(const State& s, const AggregateInput& input, uint32_t columns, uint32_t row) {
   if (!s.last) return false;
   for (uint32_t i = 0; i < columns; ++i) {
      const Vector& column = input.args[i];
      const bool isNull = column.isNull(row);
      if (isNull != s.last[i].isNull) return false;
      if (isNull) continue;
      const auto* last = reinterpret_cast<const StringView*>(s.last[i].kept.value());
      const StringOrder keyed = keyedOrder(input.argTypes[i]);
      const bool isSame = keyed ? keyed(*last, column.value<StringView>(row)) == 0
                                : valueEquality(column.type)(s.last[i].kept.value(), addressOf(column, row));
      if (!isSame) return false;
   }
   return true;
}

void remember(State& s, const AggregateInput& input, uint32_t columns, uint32_t row) {
   if (!s.last) {
      s.last = static_cast<State::Cell*>(input.arena.allocate(sizeof(State::Cell) * columns, alignof(State::Cell)));
      std::uninitialized_default_construct_n(s.last, columns);
   }
   for (uint32_t i = 0; i < columns; ++i) {
      const Vector& column = input.args[i];
      s.last[i].isNull = column.isNull(row);
      if (!s.last[i].isNull) s.last[i].kept.keep(column, row, input.arena);
   }
}

void add(State& s, const AggregateInput& input, uint32_t row) {
   const auto columns = static_cast<uint32_t>(input.args.size() / 2);
   const int order = orderToHypothetical(input, columns, row);
   ++s.rows;
   if (order == 0) ++s.beside;
   if (order >= 0) return;
   ++s.before;
   if (isLast(s, input, columns, row)) return;
   ++s.distinctBefore;
   remember(s, input, columns, row);
}

void initialize(std::byte* state) {
   new (state) State();
}
void update(const AggregateInput& input, std::byte* const* states) {
   for (uint32_t i = 0; i < input.rows.count(); ++i)
      add(stateAt<State>(states[i]), input, input.rows.row(i));
}
void updateOne(const AggregateInput& input, std::byte* state) {
   for (uint32_t i = 0; i < input.rows.count(); ++i)
      add(stateAt<State>(state), input, input.rows.row(i));
}

template <typename T, T (*result)(const State&)>
void finalize(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& out) {
   for (uint32_t i = 0; i < count; ++i)
      out.values<T>()[i] = result(stateAt<State>(states[i]));
}

template <typename T, T (*result)(const State&)>
constexpr AggregateKernel kernel{sizeof(State), initialize, update, updateOne, combineNever, finalize<T, result>, true};

int64_t rank(const State& s) {
   return s.before + 1;
}
int64_t denseRank(const State& s) {
   return s.distinctBefore + 1;
}
double percentRank(const State& s) {
   return s.rows == 0 ? 0 : static_cast<double>(s.before) / static_cast<double>(s.rows);
}
double cumeDist(const State& s) {
   return static_cast<double>(s.before + s.beside + 1) / static_cast<double>(s.rows + 1);
}

} // namespace

const AggregateKernel* findHypotheticalAggregate(const AggregateRequest& request) {
   if (request.name == "rank") return &kernel<int64_t, rank>;
   if (request.name == "dense_rank") return &kernel<int64_t, denseRank>;
   if (request.name == "percent_rank") return &kernel<double, percentRank>;
   if (request.name == "cume_dist") return &kernel<double, cumeDist>;
   return nullptr;
}

} // namespace ouzel::executor
