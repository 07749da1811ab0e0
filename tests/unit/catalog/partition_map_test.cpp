#include "catalog/object/partition_map.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "common/hash/lookup3.hpp"
#include "common/type/order_key.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

const SqlType int4{oid::int4, -1, invalidOid};

PartitionDatum datum(int value) {
   PartitionDatum result;
   result.text = std::to_string(value);
   appendValueKey(result.key, int4, Value::integer(PhysicalType::I32, value));
   return result;
}

PartitionDatum infinite(PartitionDatum::Kind kind) {
   PartitionDatum result;
   result.kind = kind;
   return result;
}

Value number(int value) {
   return Value::integer(PhysicalType::I32, value);
}

PartitionMap mapOf(PartitionStrategy strategy, const std::vector<PartitionBound>& bounds, size_t columns = 1) {
   PartitionKey key;
   key.strategy = strategy;
   std::vector<const PartitionBound*> pointers;
   for (const PartitionBound& bound : bounds)
      pointers.push_back(&bound);
   return PartitionMap(key, std::vector<SqlType>(columns, int4), pointers);
}

PartitionBound range(std::vector<PartitionDatum> lower, std::vector<PartitionDatum> upper) {
   PartitionBound bound;
   bound.lower = std::move(lower);
   bound.upper = std::move(upper);
   return bound;
}

PartitionBound byDefault(PartitionStrategy strategy) {
   PartitionBound bound;
   bound.strategy = strategy;
   bound.isDefault = true;
   return bound;
}

int find(const PartitionMap& map, std::vector<Value> row) {
   return map.find(row);
}

std::vector<bool> chosen(const PartitionMap& map, std::vector<PartitionCondition> conditions) {
   std::vector<bool> kept;
   map.choose(conditions, kept);
   return kept;
}

} // namespace

CATCH_TEST_CASE("ranges take rows from their lower bound on", "[partition]") {
   const PartitionMap map =
       mapOf(PartitionStrategy::Range, {range({datum(10)}, {datum(20)}), range({datum(0)}, {datum(10)}),
                                        range({datum(30)}, {infinite(PartitionDatum::Kind::Maximum)})});
   CATCH_CHECK(find(map, {number(-1)}) == PartitionMap::none);
   CATCH_CHECK(find(map, {number(0)}) == 1);
   CATCH_CHECK(find(map, {number(9)}) == 1);
   CATCH_CHECK(find(map, {number(10)}) == 0);
   CATCH_CHECK(find(map, {number(20)}) == PartitionMap::none);
   CATCH_CHECK(find(map, {number(1 << 30)}) == 2);
   CATCH_CHECK(find(map, {Value::null(PhysicalType::I32)}) == PartitionMap::none);
   CATCH_CHECK(map.inOrder() == std::vector<uint32_t>{1, 0, 2});
   CATCH_CHECK(map.overlapping(range({datum(20)}, {datum(30)})) == PartitionMap::none);
   CATCH_CHECK(map.overlapping(range({datum(20)}, {datum(31)})) == 2);
}

CATCH_TEST_CASE("integers of any width are the same key", "[partition]") {
   const PartitionMap map = mapOf(PartitionStrategy::Range, {range({datum(0)}, {datum(10)})});
   CATCH_CHECK(find(map, {Value::integer(PhysicalType::I64, 5)}) == 0);
   CATCH_CHECK(find(map, {Value::integer(PhysicalType::I64, int64_t{1} << 32)}) == PartitionMap::none);
}

CATCH_TEST_CASE("lists have a place for NULL, and a default for what is left", "[partition]") {
   PartitionBound odd, even;
   odd.strategy = even.strategy = PartitionStrategy::List;
   odd.values = {datum(1), datum(3), infinite(PartitionDatum::Kind::Null)};
   even.values = {datum(2)};
   const PartitionMap map = mapOf(PartitionStrategy::List, {odd, even, byDefault(PartitionStrategy::List)});
   CATCH_CHECK(find(map, {number(3)}) == 0);
   CATCH_CHECK(find(map, {number(2)}) == 1);
   CATCH_CHECK(find(map, {number(7)}) == 2);
   CATCH_CHECK(find(map, {Value::null(PhysicalType::I32)}) == 0);
   CATCH_CHECK(chosen(map, {{.isNull = true}}) == std::vector<bool>{true, false, false});
   CATCH_CHECK(chosen(map, {{.equal = std::vector<Value>{number(2), number(9)}}}) ==
               std::vector<bool>{false, true, true});
   CATCH_CHECK(chosen(map, {{}}) == std::vector<bool>{true, true, true});
}

CATCH_TEST_CASE("hashes are PostgreSQL's", "[partition]") {
   const auto asSigned = [](uint64_t hash) { return static_cast<int64_t>(hash); };
   CATCH_CHECK(asSigned(lookup3(uint32_t{1}, 0)) == -3670598878359251130);          // hashint4extended(1, 0)
   CATCH_CHECK(asSigned(lookup3("", 0)) == -6939563903564495251);                   // hashtextextended('', 0)
   CATCH_CHECK(asSigned(lookup3("partition by hash", 8)) == -5046162850796504239);  // hashtextextended(..., 8)
   CATCH_CHECK(asSigned(lookup3OfInteger(-5000000000, 77)) == 3774128439497080850); // hashint8extended(..., 77)
   CATCH_CHECK(lookup3OfInteger(-1, 5) == lookup3(uint32_t{0xffffffff}, 5));
}

CATCH_TEST_CASE("a predicate keeps all partitions with rows that satisfy it", "[partition]") {
   std::mt19937 random(7);
   const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
   for (int round = 0; round < 300; ++round) {
      // Ranges over two columns between sorted tuples, some of them missing.
      std::vector<std::pair<int, int>> cuts;
      for (int i = 0; i < 8; ++i)
         cuts.emplace_back(draw(5), draw(5));
      std::sort(cuts.begin(), cuts.end());
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      std::vector<PartitionBound> bounds;
      for (size_t i = 0; i + 1 < cuts.size(); ++i)
         if (draw(4) != 0)
            bounds.push_back(
                range({datum(cuts[i].first), draw(5) ? datum(cuts[i].second) : infinite(PartitionDatum::Kind::Minimum)},
                      {datum(cuts[i + 1].first), datum(cuts[i + 1].second)}));
      // MINVALUE may make ranges overlap: keep those that do not.
      std::vector<PartitionBound> kept;
      for (const PartitionBound& bound : bounds)
         if (tupleKey(bound.lower) < tupleKey(bound.upper) &&
             mapOf(PartitionStrategy::Range, kept, 2).overlapping(bound) == PartitionMap::none)
            kept.push_back(bound);
      if (draw(2)) kept.push_back(byDefault(PartitionStrategy::Range));
      const PartitionMap map = mapOf(PartitionStrategy::Range, kept, 2);
      std::vector<PartitionCondition> conditions(2);
      for (PartitionCondition& condition : conditions)
         switch (draw(5)) {
         case 0: condition.equal = std::vector<Value>{number(draw(6)), number(draw(6))}; break;
         case 1:
            condition.lower = number(draw(6));
            condition.excludesLower = draw(2);
            break;
         case 2:
            condition.upper = number(draw(6));
            condition.excludesUpper = draw(2);
            break;
         case 3: condition.isNull = draw(4) == 0; break;
         default: break;
         }
      const std::vector<bool> left = chosen(map, conditions);
      const auto satisfies = [&](const PartitionCondition& condition, const Value& value) {
         if (condition.isNull) return value.isNull;
         if (condition.isAnything()) return true;
         if (value.isNull) return false;
         if (condition.equal) return (*condition.equal)[0].i64 == value.i64 || (*condition.equal)[1].i64 == value.i64;
         if (condition.lower && value.i64 < condition.lower->i64 + condition.excludesLower) return false;
         return !condition.upper || value.i64 <= condition.upper->i64 - condition.excludesUpper;
      };
      for (int a = -1; a < 7; ++a)
         for (int b = -1; b < 7; ++b) {
            const Value first = a < 0 ? Value::null(PhysicalType::I32) : number(a),
                        second = b < 0 ? Value::null(PhysicalType::I32) : number(b);
            if (!satisfies(conditions[0], first) || !satisfies(conditions[1], second)) continue;
            const int partition = find(map, {first, second});
            if (partition != PartitionMap::none) CATCH_CHECK(left[static_cast<size_t>(partition)]);
         }
   }
}
