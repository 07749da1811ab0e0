#include <catch2/catch.hpp>
#include <random>

#include "common/hash/vector_hash.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/kernel/gather.hpp"
#include "executor/kernel/select.hpp"
#include "tests/unit/executor/expression_support.hpp"

using namespace ouzel;
using namespace ouzel::executor;
using test::Column;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const std::vector<uint32_t> sizes{0, 1, 2, 7, 8, 9, 63, 64, 65, 130}; // full batches take minutes here
#else
const std::vector<uint32_t> sizes{0, 1, 2, 7, 8, 9, 63, 64, 65, 2047, 2048};
#endif
const std::vector<PhysicalType> types{PhysicalType::Bool, PhysicalType::I16,      PhysicalType::I32,
                                      PhysicalType::I64,  PhysicalType::I128,     PhysicalType::F32,
                                      PhysicalType::F64,  PhysicalType::Interval, PhysicalType::String};

Value randomValue(PhysicalType type, std::mt19937_64& rng) {
   if (rng() % 8 == 0) return Value::null(type);
   const int64_t n = static_cast<int64_t>(rng() % 9) - 4;
   switch (type) {
   case PhysicalType::Bool: return Value::boolean(n > 0);
   case PhysicalType::I128: return Value::wide(static_cast<int128>(n) << 70);
   case PhysicalType::F32:
   case PhysicalType::F64:
      return Value::real(type, n == 4 ? __builtin_nan("") : n == 3 ? -0.0 : static_cast<double>(n) / 2);
   case PhysicalType::Interval: return Value::ofInterval({n * 86'400'000'000, static_cast<int32_t>(n), 0});
   case PhysicalType::String:
      return Value::string(std::string(static_cast<size_t>(n + 4) * 5, 'a') + std::to_string(rng() % 2));
   default: return Value::integer(type, n);
   }
}

int order(const Value& a, const Value& b) {
   switch (a.type) {
   case PhysicalType::I128: return a.i128 < b.i128 ? -1 : a.i128 > b.i128;
   case PhysicalType::F32:
   case PhysicalType::F64: {
      const bool an = a.f64 != a.f64, bn = b.f64 != b.f64;
      if (an || bn) return an - bn;
      return a.f64 < b.f64 ? -1 : a.f64 > b.f64;
   }
   case PhysicalType::Interval: {
      const int128 x = intervalSpan(a.interval), y = intervalSpan(b.interval);
      return x < y ? -1 : x > y;
   }
   case PhysicalType::String: return a.bytes.compare(b.bytes);
   default: return a.i64 < b.i64 ? -1 : a.i64 > b.i64;
   }
}

bool holds(sql::CompareOp op, const Value& a, const Value& b) {
   using sql::CompareOp;
   if (op == CompareOp::IsDistinctFrom || op == CompareOp::IsNotDistinctFrom) {
      const bool same = a.isNull || b.isNull ? a.isNull && b.isNull : order(a, b) == 0;
      return same == (op == CompareOp::IsNotDistinctFrom);
   }
   if (a.isNull || b.isNull) return false;
   const int o = order(a, b);
   switch (op) {
   case CompareOp::Eq: return o == 0;
   case CompareOp::Ne: return o != 0;
   case CompareOp::Lt: return o < 0;
   case CompareOp::Le: return o <= 0;
   case CompareOp::Gt: return o > 0;
   default: return o >= 0;
   }
}

} // namespace

CATCH_TEST_CASE("comparisons select what a scalar comparison would", "[kernel]") {
   const uint64_t seed = 7;
   std::mt19937_64 rng(seed);
   for (const PhysicalType type : types) {
      for (const uint32_t size : sizes) {
         std::vector<Value> a, b;
         for (uint32_t i = 0; i < size; ++i) {
            a.push_back(randomValue(type, rng));
            b.push_back(randomValue(type, rng));
         }
         const Value bound = randomValue(type, rng);
         const Column columns[] = {Column::flat(type, a), Column::dictionary(type, a), Column::flat(type, b),
                                   Column::dictionary(type, b), Column::constant(type, bound)};
         std::vector<RowIndex> list;
         for (uint32_t i = 0; i < size; ++i)
            if (rng() % 3) list.push_back(static_cast<RowIndex>(i));
         for (const Column& lhs : columns) {
            for (const Column& rhs : columns) {
               for (const Selection rows : {Selection::dense(size), Selection::list(list)}) {
                  for (int op = 0; op < 8; ++op) {
                     const auto compareOp = static_cast<sql::CompareOp>(op);
                     std::vector<RowIndex> expected;
                     for (uint32_t i = 0; i < rows.count(); ++i)
                        if (holds(compareOp, Value::fromVector(lhs.vector(), rows.row(i)),
                                  Value::fromVector(rhs.vector(), rows.row(i))))
                           expected.push_back(rows.row(i));
                     std::vector<RowIndex> out(rows.count());
                     if (!rows.isDense()) std::copy(rows.rows(), rows.rows() + rows.count(), out.begin());
                     const Selection in = rows.isDense() ? rows : Selection::list(out.data(), rows.count());
                     uint8_t scratch[batchRowsMax];
                     out.resize(compareSelect(compareOp, lhs.vector(), rhs.vector(), in, scratch, out.data()));
                     CATCH_REQUIRE(out == expected);
                  }
               }
            }
         }
      }
   }
}

CATCH_TEST_CASE("equal values hash equal in every encoding", "[kernel]") {
   std::mt19937_64 rng(11);
   for (const PhysicalType type : types) {
      std::vector<Value> values;
      for (uint32_t i = 0; i < 300; ++i)
         values.push_back(randomValue(type, rng));
      const Column flat = Column::flat(type, values), dictionary = Column::dictionary(type, values);
      std::vector<uint64_t> a(300), b(300);
      hashVector(flat.vector(), Selection::dense(300), a.data());
      hashVector(dictionary.vector(), Selection::dense(300), b.data());
      CATCH_REQUIRE(a == b);
      hashCombineVector(flat.vector(), Selection::dense(300), a.data());
      hashCombineVector(dictionary.vector(), Selection::dense(300), b.data());
      CATCH_REQUIRE(a == b);
      for (uint32_t i = 0; i < 300; ++i)
         for (uint32_t k = 0; k < i; ++k)
            if (holds(sql::CompareOp::IsNotDistinctFrom, values[i], values[k])) CATCH_REQUIRE(a[i] == a[k]);
   }
}

CATCH_TEST_CASE("rows are gathered", "[kernel]") {
   std::mt19937_64 rng(13);
   for (const PhysicalType type : types) {
      for (const uint32_t size : sizes) {
         std::vector<Value> values;
         std::vector<RowIndex> list;
         for (uint32_t i = 0; i < size; ++i) {
            values.push_back(randomValue(type, rng));
            if (rng() % 2) list.push_back(static_cast<RowIndex>(i));
         }
         for (const Column& column : {Column::flat(type, values), Column::dictionary(type, values)}) {
            for (const Selection rows : {Selection::dense(size), Selection::list(list)}) {
               std::vector<uint128> data(size + 1);
               ValidityWord validity[validityWords(batchRowsMax)];
               const bool hasNulls = gatherDense(column.vector(), rows, data.data(), validity);
               const Vector gathered = Vector::flat(type, data.data(), hasNulls ? validity : nullptr);
               for (uint32_t i = 0; i < rows.count(); ++i)
                  CATCH_REQUIRE(Value::fromVector(gathered, i).identical(values[rows.row(i)]));
            }
         }
      }
   }
}

CATCH_TEST_CASE("boolean and null selections split the rows", "[kernel]") {
   std::mt19937_64 rng(17);
   for (const uint32_t size : sizes) {
      std::vector<Value> values;
      for (uint32_t i = 0; i < size; ++i)
         values.push_back(randomValue(PhysicalType::Bool, rng));
      for (const Column& column :
           {Column::flat(PhysicalType::Bool, values), Column::dictionary(PhysicalType::Bool, values)}) {
         const Selection all = Selection::dense(size);
         std::vector<RowIndex> yes(size), no(size), null(size), rest(size);
         const uint32_t yesCount = selectTrue(column.vector(), all, yes.data());
         const uint32_t noCount = selectFalse(column.vector(), all, no.data());
         const uint32_t nullCount = selectNull(column.vector(), all, null.data());
         CATCH_REQUIRE(yesCount + noCount + nullCount == size);
         CATCH_REQUIRE(selectNotNull(column.vector(), all, rest.data()) == yesCount + noCount);
         CATCH_REQUIRE(selectDifference(all, Selection::list(yes.data(), yesCount), rest.data()) ==
                       noCount + nullCount);
         for (uint32_t i = 0; i < yesCount; ++i)
            CATCH_REQUIRE((!values[yes[i]].isNull && values[yes[i]].i64 == 1));
      }
   }
}
