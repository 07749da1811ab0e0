#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "executor/schedule/running_query.hpp"
#include "executor/schedule/scheduler.hpp"
#include "io/spill/spill.hpp"
#include "tests/unit/executor/expression_support.hpp"

// Compares aggregation with a map of groups, under hostile settings and with two workers.

namespace ouzel::executor {
namespace {

using sql::ColumnId;
using sql::plan::Node;
using sql::plan::NodePtr;
using Row = std::vector<Value>;

enum Slot : size_t { Key1, Key2, Number, Text, Order };

struct Case {
   PhysicalType keyType = PhysicalType::I32;
   uint32_t rows = 0, distinct = 5;
   /// Indexes of keys in each set; empty: plain GROUP BY of both keys.
   std::vector<std::vector<uint32_t>> sets;
   bool noKeys = false;
   bool collected = true; ///< also aggregates that keep their input
   uint32_t batchRows = batchRowsMax;
   bool zeroHashes = false, blockTwice = false, parallel = false;
   size_t memoryLimit = SIZE_MAX; ///< the query's limit; with one it may spill
};

io::SpillManager& spill() {
   static io::SpillManager manager(io::SpillOptions{{std::filesystem::temp_directory_path()}});
   return manager;
}

catalog::FunctionInfo makeFunction(std::string_view name) {
   catalog::FunctionInfo info{};
   info.name = name;
   info.kind = catalog::FunctionKind::Aggregate;
   return info;
}
const catalog::FunctionInfo countFunction = makeFunction("count"), sumFunction = makeFunction("sum"),
                            minFunction = makeFunction("min"), maxFunction = makeFunction("max"),
                            stringAggFunction = makeFunction("string_agg");

SqlType typeOf(PhysicalType type) {
   switch (type) {
   case PhysicalType::I16: return {oid::int2};
   case PhysicalType::I64: return {oid::int8};
   case PhysicalType::F64: return {oid::float8};
   case PhysicalType::String: return {oid::text};
   case PhysicalType::Decimal: return {oid::numeric};
   default: return {oid::int4};
   }
}

Value makeKey(PhysicalType type, int64_t v, bool otherForm) {
   Arena arena;
   switch (type) {
   case PhysicalType::F64: return Value::real(type, v == 0 && otherForm ? -0.0 : static_cast<double>(v));
   case PhysicalType::String:
      return Value::string(v % 2 ? "k" + std::to_string(v) : "a key of more than twelve bytes " + std::to_string(v));
   case PhysicalType::Decimal: // equal values of two scales
      return Value::string(std::string(decimal::parse(std::to_string(v) + (otherForm ? ".50" : ".5"), arena).view()),
                           type);
   default: return Value::integer(type, v);
   }
}

/// A text that is equal for equal values, independent of their representation.
std::string canonical(const Value& v) {
   if (v.isNull) return "NULL";
   if (v.type == PhysicalType::F64) return std::to_string(v.f64 == 0 ? 0.0 : v.f64);
   if (v.type == PhysicalType::Decimal) {
      Arena arena;
      return decimal::toString(decimal::trimScale(StringView(v.bytes), arena));
   }
   if (v.type == PhysicalType::String) return v.bytes;
   return std::to_string(v.i64);
}

struct Fixture {
   explicit Fixture(const Case& c) : test(c), random(c.rows * 31 + c.distinct) {
      const PhysicalType types[] = {c.keyType, PhysicalType::I16, PhysicalType::I32, PhysicalType::String,
                                    PhysicalType::I64};
      for (const PhysicalType type : types)
         columns.push_back(plan.columns.add({"c", typeOf(type), {type, 0}, invalidOid, 0, true}));
      for (uint32_t i = 0; i < c.rows; ++i) {
         const auto v = static_cast<int64_t>(random() % c.distinct);
         Row row;
         row.push_back(random() % 11 == 0 ? Value::null(c.keyType) : makeKey(c.keyType, v, random() % 2 == 0));
         row.push_back(random() % 11 == 0 ? Value::null(PhysicalType::I16)
                                          : Value::integer(PhysicalType::I16, static_cast<int64_t>(random() % 3)));
         row.push_back(random() % 5 == 0 ? Value::null(PhysicalType::I32)
                                         : Value::integer(PhysicalType::I32, static_cast<int64_t>(random() % 9) - 4));
         row.push_back(random() % 5 == 0 ? Value::null(PhysicalType::String)
                                         : Value::string(std::string(random() % 20, static_cast<char>('a' + i % 5))));
         row.push_back(Value::integer(PhysicalType::I64, static_cast<int64_t>(i) * 7919 % 1'000'003));
         rows.push_back(std::move(row));
      }
   }

   sql::ExprPtr column(size_t slot) {
      auto expr = sql::makeColumn(columns[slot], plan.columns[columns[slot]].type);
      expr->repr = plan.columns[columns[slot]].repr;
      return expr;
   }
   ColumnId output(Node& node, PhysicalType type) {
      const ColumnId id = plan.columns.add({"r", typeOf(type), {type, 0}, invalidOid, 0, true});
      node.output.push_back(id);
      plan.output.push_back({"r", id, typeOf(type), invalidOid, 0});
      return id;
   }
   sql::AggregateCall& call(Node& node, const catalog::FunctionInfo& function, PhysicalType result) {
      sql::AggregateCall call;
      call.column = output(node, result);
      call.function = &function;
      call.type = typeOf(result);
      return node.as<sql::plan::Aggregate>().aggregates.emplace_back(std::move(call));
   }

   void buildPlan() {
      NodePtr input = std::make_unique<Node>(sql::plan::VirtualScan{});
      for (size_t i = 0; i < columns.size(); ++i)
         input->as<sql::plan::Scan>().columns.push_back({columns[i], static_cast<int16_t>(i + 1)});
      input->output = columns;
      if (test.parallel) { // grouping by all columns keeps the distinct rows; many lanes read the groups
         auto distinct = std::make_unique<Node>(sql::plan::Aggregate{});
         distinct->children.push_back(std::move(input));
         std::vector<ColumnId> keys;
         for (size_t slot = 0; slot < columns.size(); ++slot) {
            const ColumnId id = plan.columns.add(plan.columns[columns[slot]]);
            distinct->as<sql::plan::Aggregate>().keys.push_back({id, column(slot)});
            keys.push_back(id);
         }
         columns = distinct->output = keys;
         input = std::move(distinct);
      }
      auto node = std::make_unique<Node>(sql::plan::Aggregate{});
      auto& aggregate = node->as<sql::plan::Aggregate>();
      node->children.push_back(std::move(input));
      if (!test.noKeys)
         for (const size_t slot : {Key1, Key2})
            aggregate.keys.push_back({output(*node, plan.columns[columns[slot]].repr.physical), column(slot)});
      aggregate.groupingSets = test.sets;
      aggregate.aggregates.reserve(16);
      call(*node, countFunction, PhysicalType::I64).star = true;
      auto& filtered = call(*node, countFunction, PhysicalType::I64);
      filtered.args.push_back(column(Number));
      filtered.filter = sql::makeCompare(sql::CompareOp::Eq, column(Key2),
                                         sql::makeConstant({oid::int2}, Value::integer(PhysicalType::I16, 1)));
      filtered.filter->repr = {PhysicalType::Bool, 0};
      call(*node, sumFunction, PhysicalType::I64).args.push_back(column(Number));
      call(*node, minFunction, PhysicalType::String).args.push_back(column(Text));
      call(*node, maxFunction, PhysicalType::I64).args.push_back(column(Order));
      for (const auto* function : {&countFunction, &sumFunction}) {
         auto& distinct = call(*node, *function, PhysicalType::I64);
         distinct.args.push_back(column(Number));
         distinct.distinct = true;
      }
      if (test.collected)
         for (const bool distinct : {false, true}) {
            auto& joined = call(*node, stringAggFunction, PhysicalType::String);
            joined.args.push_back(column(Text));
            joined.args.push_back(sql::makeConstant({oid::text}, Value::string(",")));
            joined.distinct = distinct;
            sql::SortKey key;
            key.expr = column(distinct ? Text : Order);
            key.descending = true;
            joined.orderBy.push_back(std::move(key));
         }
      if (!test.sets.empty()) aggregate.groupingCalls.push_back({output(*node, PhysicalType::I32), {0, 1}});
      plan.root = std::move(node);
   }

   std::string naiveGroup(const std::vector<uint32_t>& set, const std::vector<const Row*>& group) const {
      std::vector<std::string> out;
      if (!test.noKeys)
         for (const uint32_t key : {0u, 1u})
            out.push_back(std::find(set.begin(), set.end(), key) == set.end() ? "NULL" : canonical((*group[0])[key]));
      int64_t filtered = 0, sum = 0, sumDistinct = 0, maxOrder = INT64_MIN;
      bool any = false;
      std::set<int64_t> numbers;
      std::vector<std::string> texts;
      std::vector<std::pair<int64_t, std::string>> ordered;
      std::set<std::string, std::greater<>> distinctTexts;
      for (const Row* row : group) {
         const Value& number = (*row)[Number];
         maxOrder = std::max(maxOrder, (*row)[Order].i64);
         if (!number.isNull) {
            any = true;
            sum += number.i64;
            filtered += !(*row)[Key2].isNull && (*row)[Key2].i64 == 1;
            if (numbers.insert(number.i64).second) sumDistinct += number.i64;
         }
         if ((*row)[Text].isNull) continue;
         texts.push_back((*row)[Text].bytes);
         ordered.emplace_back((*row)[Order].i64, (*row)[Text].bytes);
         distinctTexts.insert((*row)[Text].bytes);
      }
      out.push_back(std::to_string(group.size()));
      out.push_back(std::to_string(filtered));
      out.push_back(any ? std::to_string(sum) : "NULL");
      out.push_back(texts.empty() ? "NULL" : *std::min_element(texts.begin(), texts.end()));
      out.push_back(group.empty() ? "NULL" : std::to_string(maxOrder));
      out.push_back(std::to_string(numbers.size()));
      out.push_back(any ? std::to_string(sumDistinct) : "NULL");
      if (test.collected) {
         std::sort(ordered.begin(), ordered.end(), std::greater<>());
         std::string joined, joinedDistinct;
         for (const auto& [order, text] : ordered)
            joined += (joined.empty() && &text == &ordered[0].second ? "" : ",") + text;
         bool first = true;
         for (const auto& text : distinctTexts)
            joinedDistinct += (std::exchange(first, false) ? "" : ",") + text;
         out.push_back(texts.empty() ? "NULL" : joined);
         out.push_back(texts.empty() ? "NULL" : joinedDistinct);
      }
      if (!test.sets.empty()) {
         int mask = 0;
         for (const uint32_t key : {0u, 1u})
            mask = mask * 2 + (std::find(set.begin(), set.end(), key) == set.end());
         out.push_back(std::to_string(mask));
      }
      std::string text;
      for (const auto& part : out)
         text += part + "|";
      return text;
   }

   std::vector<std::string> naive() const {
      std::vector<std::string> out;
      auto sets = test.sets;
      if (sets.empty()) sets.push_back(test.noKeys ? std::vector<uint32_t>{} : std::vector<uint32_t>{0, 1});
      for (const auto& set : sets) {
         std::map<std::string, std::vector<const Row*>> groups;
         if (set.empty()) groups[""];
         for (const Row& row : rows) {
            std::string key;
            for (const uint32_t k : set)
               key += canonical(row[k]) + "|";
            groups[key].push_back(&row);
         }
         for (const auto& [key, group] : groups)
            out.push_back(naiveGroup(set, group));
      }
      std::sort(out.begin(), out.end());
      return out;
   }

   std::vector<std::string> run() {
      MemoryLedger ledger{size_t{4} << 30};
      std::vector<std::string> out;
      bool hasSpilled = false;
      {
         Reservation memory{ledger};
         Scheduler scheduler(2);
         ExecutionContext context;
         context.scheduler = &scheduler;
         context.functions = test::testContext();
         context.memory = &memory;
         context.settings.batchRows = test.batchRows;
         context.settings.zeroHashes = test.zeroHashes;
         context.settings.blockTwice = test.blockTwice;
         context.memoryLimit = test.memoryLimit;
         if (test.memoryLimit != SIZE_MAX) context.spill = &spill();
         context.virtualTable = [&](Oid, const std::vector<int16_t>& attributes, const auto& /*wanted*/,
                                    const std::function<void(std::vector<Value>&)>& give) {
            for (const Row& row : rows) {
               std::vector<Value> values;
               for (const int16_t attribute : attributes)
                  values.push_back(row[static_cast<size_t>(attribute) - 1]);
               give(values);
            }
         };
         RunningQuery query(plan, context);
         while (auto owned = query.next()) {
            const Batch& batch = owned->batch;
            std::vector<std::string> texts(batch.liveRows());
            for (const Vector& vector : batch.columns) {
               const auto values = test::rowsOf(vector, batch.selection);
               for (size_t i = 0; i < values.size(); ++i)
                  texts[i] += canonical(values[i]) + "|";
            }
            out.insert(out.end(), texts.begin(), texts.end());
         }
         for (const OperatorProfile& node : query.profile())
            for (const auto& [name, value] : node.notes)
               hasSpilled |= name == "Spilled Rows";
      }
      CATCH_REQUIRE(ledger.used() == 0);
      if (test.memoryLimit < (size_t{1} << 20)) CATCH_REQUIRE(hasSpilled);
      std::sort(out.begin(), out.end());
      return out;
   }

   Case test;
   std::mt19937 random;
   sql::plan::Plan plan;
   std::vector<ColumnId> columns;
   std::vector<Row> rows;
};

void check(const Case& c) {
   CATCH_INFO("key type " << static_cast<int>(c.keyType) << " rows " << c.rows << " distinct " << c.distinct << " sets "
                          << c.sets.size() << " batch " << c.batchRows << " zero " << c.zeroHashes << " parallel "
                          << c.parallel << " no keys " << c.noKeys);
   Fixture fixture(c);
   fixture.buildPlan();
   const auto expected = fixture.naive();
   const auto got = fixture.run();
   CATCH_REQUIRE(got.size() == expected.size());
   CATCH_REQUIRE(got == expected);
}

const std::vector<std::vector<std::vector<uint32_t>>> setChoices = {{}, {{0, 1}, {0}, {}}, {{1}, {0}}, {{}}};

} // namespace

CATCH_TEST_CASE("aggregation agrees with sorting into groups", "[aggregate]") {
   for (const PhysicalType type :
        {PhysicalType::I32, PhysicalType::I64, PhysicalType::F64, PhysicalType::String, PhysicalType::Decimal})
      for (const auto& sets : setChoices)
         for (const uint32_t rows : {0u, 1u, 7u, 300u})
            for (const uint32_t distinct : {1u, 5u, 1000u})
               check({type, rows, distinct, sets});
}

CATCH_TEST_CASE("aggregation without keys", "[aggregate]") {
   for (const uint32_t rows : {0u, 1u, 2u, 5000u}) {
      Case c;
      c.rows = rows;
      c.noKeys = true;
      check(c);
      c.parallel = true;
      check(c);
   }
}

CATCH_TEST_CASE("aggregation that spills", "[aggregate]") {
   for (const PhysicalType type : {PhysicalType::I32, PhysicalType::String})
      for (const size_t sets : {0u, 1u})
         for (const bool parallel : {false, true})
            for (const uint32_t distinct : {1u, 100u, 20'000u})
               for (const size_t limit : {size_t{1} << 14, size_t{1} << 21}) {
                  Case c{type, 10'000, distinct, setChoices[sets]};
                  c.parallel = parallel;
                  c.memoryLimit = limit;
                  check(c);
               }
}

CATCH_TEST_CASE("aggregation under hostile settings", "[aggregate]") {
   for (const PhysicalType type : {PhysicalType::I32, PhysicalType::String})
      for (const auto& sets : setChoices)
         for (const bool parallel : {false, true}) {
            Case c{type, 500, 40, sets};
            c.parallel = parallel;
            c.batchRows = 2;
            check(c);
            c.zeroHashes = true;
            check(c);
            c.blockTwice = true;
            c.batchRows = batchRowsMax;
            check(c);
         }
}

CATCH_TEST_CASE("aggregation of many rows by two workers", "[aggregate]") {
   for (const PhysicalType type : {PhysicalType::I64, PhysicalType::String})
      for (const uint32_t distinct : {2u, 3000u, 1'000'000u}) {
         Case c{type, 60'000, distinct, {}};
         c.parallel = true;
         check(c);
         c.collected = false;
         check(c);
      }
}

CATCH_TEST_CASE("more groups than the pre-aggregation table holds", "[aggregate]") {
   Case c{PhysicalType::I64, 250'000, 1'000'000'000, {}};
   c.collected = false;
   check(c);
   c.parallel = true;
   c.distinct = 120'000; // each group several times
   check(c);
}

} // namespace ouzel::executor
