#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/hash/vector_hash.hpp"
#include "executor/materialize/key_hash.hpp"
#include "executor/operator/join/hash_join_table.hpp"
#include "executor/operator/join/join_rows.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/runtime_filter.hpp"
#include "executor/schedule/running_query.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "executor/schedule/scheduler.hpp"
#include "io/spill/spill.hpp"
#include "tests/unit/executor/expression_support.hpp"

// Compares joins of two Values nodes with two nested loops over their rows.

namespace ouzel::executor {
namespace {

using sql::ColumnId;
using sql::JoinKind;
using sql::plan::Node;
using sql::plan::NodePtr;
using Row = std::vector<Value>;

enum class Truth { False, Unknown, True };

/// The kind of keys, which determines the join's table.
enum class Keys { Dense, Sparse, Text, Two, NullsEqual };

struct Case {
   JoinKind kind = JoinKind::Inner;
   bool nestedLoop = false;
   bool residual = false;
   bool nullAware = false;
   Keys keys = Keys::Dense;
   uint32_t leftRows = 0, rightRows = 0;
   uint32_t distinct = 10;
   bool nulls = true;
   uint32_t batchRows = batchRowsMax;
   bool zeroHashes = false;
   size_t memoryLimit = SIZE_MAX; ///< bytes; when set, the join spills
};

io::SpillManager& spillManager() {
   static io::SpillManager manager(io::SpillOptions{{std::filesystem::temp_directory_path()}});
   return manager;
}

SqlType typeOf(PhysicalType type) {
   return type == PhysicalType::I64      ? SqlType{oid::int8}
          : type == PhysicalType::String ? SqlType{oid::text}
                                         : SqlType{oid::int4};
}

Value makeKey(Keys keys, uint32_t v, PhysicalType type) {
   switch (keys) {
   case Keys::Sparse: return Value::integer(type, static_cast<int64_t>(v) * 1'000'000'007LL - 5);
   case Keys::Text:
      return Value::string(v % 3 == 0 ? "short" + std::to_string(v) : "quite a long key of a row " + std::to_string(v));
   default: return Value::integer(type, static_cast<int64_t>(v) - 3);
   }
}

struct Fixture {
   explicit Fixture(const Case& c) : join(c), random(c.leftRows * 7919 + c.rightRows) {
      keyType = c.keys == Keys::Sparse ? PhysicalType::I64
                : c.keys == Keys::Text ? PhysicalType::String
                                       : PhysicalType::I32;
      for (int side = 0; side < 2; ++side) {
         for (const PhysicalType type : {keyType, PhysicalType::I32, PhysicalType::I64, PhysicalType::String})
            columns[side].push_back(plan.columns.add({"c", typeOf(type), {type, 0}, invalidOid, 0, true}));
         const uint32_t count = side ? c.rightRows : c.leftRows;
         for (uint32_t i = 0; i < count; ++i) {
            Row row;
            row.push_back(c.nulls && random() % 8 == 0
                              ? Value::null(keyType)
                              : makeKey(c.keys, static_cast<uint32_t>(random() % c.distinct), keyType));
            row.push_back(c.nulls && random() % 8 == 0 ? Value::null(PhysicalType::I32)
                                                       : Value::integer(PhysicalType::I32, random() % 3));
            row.push_back(Value::integer(PhysicalType::I64, side * 100'000 + i));
            row.push_back(random() % 9 == 0
                              ? Value::null(PhysicalType::String)
                              : Value::string(std::string(random() % 30, static_cast<char>('a' + i % 26))));
            rows[side].push_back(std::move(row));
         }
      }
   }

   NodePtr values(int side) {
      auto node = std::make_unique<Node>(sql::plan::Values{});
      node->output = columns[side];
      for (const Row& row : rows[side]) {
         std::vector<sql::ExprPtr> exprs;
         for (size_t c = 0; c < row.size(); ++c)
            exprs.push_back(sql::makeConstant(plan.columns[columns[side][c]].type, row[c]));
         node->as<sql::plan::Values>().rows.push_back(std::move(exprs));
      }
      return node;
   }
   sql::ExprPtr column(int side, size_t c) {
      auto expr = sql::makeColumn(columns[side][c], plan.columns[columns[side][c]].type);
      expr->repr = plan.columns[columns[side][c]].repr;
      return expr;
   }
   sql::ExprPtr compare(sql::CompareOp op, sql::ExprPtr a, sql::ExprPtr b) {
      auto expr = sql::makeCompare(op, std::move(a), std::move(b));
      expr->repr = {PhysicalType::Bool, 0};
      return expr;
   }

   bool givesLeft() const { return join.kind != JoinKind::RightSemi && join.kind != JoinKind::RightAnti; }
   bool givesRight() const {
      return join.kind != JoinKind::Semi && join.kind != JoinKind::Anti && join.kind != JoinKind::Mark;
   }

   void buildPlan() {
      using sql::plan::HashJoin, sql::plan::NestedLoopJoin, sql::plan::Operator;
      auto node = std::make_unique<Node>(join.nestedLoop ? Operator(NestedLoopJoin{}) : HashJoin{});
      auto& planned = node->as<sql::plan::Join>();
      node->children.push_back(values(0));
      node->children.push_back(values(1));
      planned.kind = join.kind;
      if (join.nestedLoop) {
         planned.predicates.push_back(compare(sql::CompareOp::Eq, column(0, 0), column(1, 0)));
      } else {
         auto& hashed = node->as<HashJoin>();
         hashed.nullAware = join.nullAware;
         hashed.keys.push_back({column(0, 0), column(1, 0), join.keys == Keys::NullsEqual});
         if (join.keys == Keys::Two) hashed.keys.push_back({column(0, 1), column(1, 1), false});
      }
      if (join.residual) planned.predicates.push_back(compare(sql::CompareOp::Lt, column(0, 1), column(1, 1)));
      // The output has some of the columns, in another order than the children.
      if (givesRight()) node->output.insert(node->output.end(), {columns[1][3], columns[1][2]});
      if (givesLeft()) node->output.insert(node->output.end(), {columns[0][2], columns[0][0], columns[0][3]});
      if (givesRight()) node->output.push_back(columns[1][0]);
      if (join.kind == JoinKind::Mark) {
         planned.markColumn =
             plan.columns.add({"m", SqlType{oid::boolean}, {PhysicalType::Bool, 0}, invalidOid, 0, true});
         node->output.push_back(planned.markColumn);
      }
      for (const ColumnId id : node->output)
         plan.output.push_back({"c", id, plan.columns[id].type, invalidOid, 0});
      plan.root = std::move(node);
   }

   static Truth equals(const Value& a, const Value& b) {
      if (a.isNull || b.isNull) return Truth::Unknown;
      return test::toText(a) == test::toText(b) ? Truth::True : Truth::False;
   }
   Truth holds(const Row& l, const Row& r) const {
      Truth keys = equals(l[0], r[0]);
      if (join.keys == Keys::NullsEqual) keys = l[0].isNull && r[0].isNull ? Truth::True : keys;
      if (join.keys == Keys::Two && !join.nestedLoop) keys = std::min(keys, equals(l[1], r[1]));
      // Unknown keys of a hash join do not match. All predicates of a nested loop are three-valued.
      if (keys == Truth::Unknown && !join.nestedLoop && !join.nullAware) keys = Truth::False;
      if (!join.residual) return keys;
      Truth residual = l[1].isNull || r[1].isNull ? Truth::Unknown : l[1].i64 < r[1].i64 ? Truth::True : Truth::False;
      return std::min(keys, residual);
   }

   /// The expected rows; none: the join must fail with 21000.
   std::optional<std::vector<std::string>> naive() const {
      std::vector<std::string> out;
      std::vector<bool> rightMatched(rows[1].size());
      const Row nulls{Value::null(keyType), Value::null(PhysicalType::I32), Value::null(PhysicalType::I64),
                      Value::null(PhysicalType::String)};
      const auto give = [&](const Row& l, const Row& r, Truth mark) {
         std::string text;
         const auto add = [&](const Value& v) { text += (v.isNull ? "NULL" : test::toText(v)) + "|"; };
         if (givesRight()) add(r[3]), add(r[2]);
         if (givesLeft()) add(l[2]), add(l[0]), add(l[3]);
         if (givesRight()) add(r[0]);
         if (join.kind == JoinKind::Mark)
            add(mark == Truth::Unknown ? Value::null(PhysicalType::Bool) : Value::boolean(mark == Truth::True));
         out.push_back(text);
      };
      for (const Row& l : rows[0]) {
         Truth any = Truth::False;
         uint32_t matches = 0;
         for (size_t i = 0; i < rows[1].size(); ++i) {
            const Row& r = rows[1][i];
            const Truth truth = holds(l, r);
            any = std::max(any, truth);
            if (truth != Truth::True) continue;
            ++matches;
            rightMatched[i] = true;
            if (join.kind == JoinKind::Inner || join.kind == JoinKind::Left || join.kind == JoinKind::Right ||
                join.kind == JoinKind::Full || join.kind == JoinKind::Single)
               give(l, r, any);
         }
         if (join.kind == JoinKind::Single && matches > 1) return std::nullopt;
         const bool drops = any == Truth::Unknown && join.nullAware;
         if (join.kind == JoinKind::Mark || (join.kind == JoinKind::Semi && matches) ||
             (join.kind == JoinKind::Anti && !matches && !drops) ||
             ((join.kind == JoinKind::Left || join.kind == JoinKind::Full || join.kind == JoinKind::Single) &&
              !matches))
            give(l, nulls, any);
      }
      for (size_t i = 0; i < rows[1].size(); ++i)
         if (join.kind == JoinKind::RightSemi
                 ? rightMatched[i]
                 : !rightMatched[i] && (join.kind == JoinKind::Right || join.kind == JoinKind::Full ||
                                        join.kind == JoinKind::RightAnti))
            give(nulls, rows[1][i], Truth::False);
      std::sort(out.begin(), out.end());
      return out;
   }

   std::vector<std::string> run() {
      MemoryLedger ledger{size_t{1} << 30};
      Reservation memory{ledger};
      ExecutionContext context;
      context.functions = test::testContext();
      context.memory = &memory;
      context.settings.batchRows = join.batchRows;
      context.settings.zeroHashes = join.zeroHashes;
      if (join.memoryLimit != SIZE_MAX) {
         context.spill = &spillManager();
         context.memoryLimit = join.memoryLimit;
      }
      context.collectProfile = true;
      RunningQuery query(plan, context);
      std::vector<std::string> out;
      while (auto owned = query.next()) {
         const Batch& batch = owned->batch;
         CATCH_REQUIRE(batch.liveRows() <= batchRowsMax);
         std::vector<std::string> texts(batch.liveRows());
         for (const Vector& vector : batch.columns) {
            const auto values = test::rowsOf(vector, batch.selection);
            for (size_t i = 0; i < values.size(); ++i)
               texts[i] += (values[i].isNull ? "NULL" : test::toText(values[i])) + "|";
         }
         out.insert(out.end(), texts.begin(), texts.end());
      }
      std::sort(out.begin(), out.end());
      for (const auto& note : query.profile().at(0).notes)
         notes[note.first] = note.second;
      memoryPeak = query.profile().at(0).memoryPeak;
      return out;
   }

   std::map<std::string, std::string> notes; ///< EXPLAIN's notes of the join
   size_t memoryPeak = 0;
   Case join;
   std::mt19937 random;
   PhysicalType keyType;
   sql::plan::Plan plan;
   std::vector<ColumnId> columns[2];
   std::vector<Row> rows[2];
};

std::map<std::string, std::string> check(const Case& c) {
   Fixture fixture(c);
   fixture.buildPlan();
   CATCH_INFO("kind " << static_cast<int>(c.kind) << " nested " << c.nestedLoop << " residual " << c.residual
                      << " nullAware " << c.nullAware << " keys " << static_cast<int>(c.keys) << " rows " << c.leftRows
                      << " x " << c.rightRows << " distinct " << c.distinct << " nulls " << c.nulls << " batch "
                      << c.batchRows << " zero " << c.zeroHashes << " limit " << c.memoryLimit);
   const auto expected = fixture.naive();
   if (!expected) {
      try {
         fixture.run();
         CATCH_FAIL("no error");
      } catch (const SqlError& error) {
         CATCH_REQUIRE(error.state().text() == sqlstate::cardinalityViolation.text());
      }
      return {};
   }
   const auto got = fixture.run();
   CATCH_REQUIRE(got.size() == expected->size());
   CATCH_REQUIRE(got == *expected);
   return fixture.notes;
}

const JoinKind allKinds[] = {JoinKind::Inner,     JoinKind::Left,     JoinKind::Right, JoinKind::Full,
                             JoinKind::Semi,      JoinKind::Anti,     JoinKind::Mark,  JoinKind::Single,
                             JoinKind::RightSemi, JoinKind::RightAnti};

void checkAll(bool nestedLoop, const std::vector<Keys>& keyKinds) {
   for (const JoinKind kind : allKinds)
      for (const Keys keys : keyKinds)
         for (const bool residual : {false, true})
            for (const auto& [left, right, distinct] : std::vector<std::array<uint32_t, 3>>{{0, 0, 1},
                                                                                            {5, 0, 3},
                                                                                            {0, 5, 3},
                                                                                            {1, 1, 1},
                                                                                            {40, 30, 7},
                                                                                            {30, 40, 1000},
                                                                                            {150, 20, 20},
                                                                                            {20, 150, 5}})
               for (const bool nulls : {false, true})
                  for (const uint32_t batchRows : {2u, batchRowsMax})
                     for (const bool zero : {false, true}) {
                        // A single hash for all rows does not affect NULLs, so these cases are left out.
                        if (zero && (nestedLoop || !nulls)) continue;
                        check({kind, nestedLoop, residual, false, keys, left, right, distinct, nulls, batchRows, zero});
                     }
}

} // namespace

CATCH_TEST_CASE("hash joins of every kind agree with two loops", "[join]") {
   checkAll(false, {Keys::Dense, Keys::Sparse, Keys::Text, Keys::Two, Keys::NullsEqual});
}

CATCH_TEST_CASE("nested loops of every kind agree with two loops", "[join]") {
   checkAll(true, {Keys::Dense, Keys::Text});
   for (const JoinKind kind : allKinds)
      check({kind, true, true, false, Keys::Dense, 3000, 40, 50, true, batchRowsMax, false});
   for (const JoinKind kind : allKinds)
      check({kind, true, true, false, Keys::Dense, 40, 3000, 50, true, batchRowsMax, false});
}

CATCH_TEST_CASE("hash joins with NOT IN semantics", "[join]") {
   for (const JoinKind kind : {JoinKind::Anti, JoinKind::Mark})
      for (const Keys keys : {Keys::Dense, Keys::Text})
         for (const auto& [left, right, distinct] :
              std::vector<std::array<uint32_t, 3>>{{5, 0, 3}, {40, 30, 7}, {30, 40, 1000}, {30, 1, 1}, {30, 3, 2}})
            for (const bool nulls : {false, true})
               for (const uint32_t batchRows : {2u, batchRowsMax})
                  check({kind, false, false, true, keys, left, right, distinct, nulls, batchRows, false});
}

CATCH_TEST_CASE("hash joins of several batches", "[join]") {
   // The reference is slow, and the small cases cover every combination: here each kind of join gets the next kind of
   // key.
   constexpr Keys rotation[] = {Keys::Dense, Keys::Sparse, Keys::Text};
   size_t next = 0;
   for (const JoinKind kind : allKinds)
      for (const bool residual : {false, true})
         check({kind, false, residual, false, rotation[next++ % 3], 2200, 2100, 2200, true, batchRowsMax, false});
}

/// Some rows of every kind of join go to disk and come back.
CATCH_TEST_CASE("hash joins that spill", "[join][spill]") {
   constexpr size_t limit = 64 << 10;
   for (const JoinKind kind : allKinds)
      for (const bool residual : {false, true})
         for (const Keys keys : {Keys::Dense, Keys::Text, Keys::Two, Keys::NullsEqual}) {
            auto notes = check({kind, false, residual, false, keys, 350, 1000, 900, true, batchRowsMax, false, limit});
            if (kind != JoinKind::Single) CATCH_REQUIRE(notes["Partitions Spilled"] != "");
            if (kind == JoinKind::Single) continue; // ends with an error, or spills nothing
            // Both sides were written and read, by requests that belong to the join.
            CATCH_INFO(notes["Spill Rounds"]);
            CATCH_CHECK(std::stoul(notes["Spill Rounds"]) > 0);
            CATCH_CHECK(notes["Spill Rounds"].find(" write, 0 read") == std::string::npos);
            CATCH_CHECK(notes["Spill Wait"].find(" ms write, ") != std::string::npos);
         }
   for (const JoinKind kind : allKinds)
      for (const auto& [left, right] : std::vector<std::array<uint32_t, 2>>{{0, 1000}, {3, 1000}, {1000, 600}})
         check({kind, false, true, false, Keys::Sparse, left, right, 1'000'000, false, 100, false, limit});
}

CATCH_TEST_CASE("a join in memory tells of no spilling", "[join]") {
   auto notes = check(
       {JoinKind::Inner, false, false, false, Keys::Text, 350, 1000, 900, true, batchRowsMax, false, size_t{64} << 20});
   CATCH_CHECK(notes.contains("Build Rows"));
   CATCH_CHECK(!notes.contains("Spill Rounds"));
   CATCH_CHECK(!notes.contains("Spill Wait"));
   CATCH_CHECK(!notes.contains("Partitions"));
}

CATCH_TEST_CASE("hash joins that spill with one heavy key or one hash", "[join][spill]") {
   constexpr size_t limit = 64 << 10;
   for (const JoinKind kind : allKinds)
      for (const bool residual : {false, true}) {
         auto notes = check({kind, false, residual, false, Keys::Text, 30, 2500, 1, true, 500, false, limit});
         if (kind != JoinKind::Single) CATCH_REQUIRE(std::stoul(notes["Chunks"]) > 1);
         if (kind != JoinKind::Single) CATCH_CHECK(notes["Partitions Split Again"] == "0"); // it would be in vain
         notes = check({kind, false, residual, false, Keys::Sparse, 200, 2500, 100'000, true, 64, true, limit});
         if (kind != JoinKind::Single) CATCH_REQUIRE(std::stoul(notes["Chunks"]) > 1);
      }
}

/// Many small partitions: their remaining rows must not stay in memory until the partitions are joined.
CATCH_TEST_CASE("hash joins that split a lot keep little", "[join][spill]") {
   for (const size_t limit : {size_t{1}, size_t{64} << 10}) {
      Fixture fixture(
          {JoinKind::Inner, false, false, false, Keys::Text, 5000, 5000, 1'000'000, false, batchRowsMax, false, limit});
      fixture.buildPlan();
      fixture.run();
      CATCH_INFO("limit " << limit << " peak " << fixture.memoryPeak);
      CATCH_CHECK(std::stoul(fixture.notes["Partitions Split Again"]) > 0);
      CATCH_CHECK(fixture.memoryPeak < size_t{6} << 20);
   }
}

CATCH_TEST_CASE("nested loops that spill", "[join][spill]") {
   for (const JoinKind kind : allKinds)
      for (const auto& [left, right] : std::vector<std::array<uint32_t, 2>>{{0, 800}, {3, 800}, {700, 800}, {5000, 40}})
         for (const uint32_t batchRows : {100u, batchRowsMax}) {
            auto notes = check({kind, true, true, false, Keys::Text, left, right, 60, true, batchRows, false, 1 << 10});
            if (kind != JoinKind::Single && left > 0) CATCH_REQUIRE(notes["Blocks"] != "");
         }
}

CATCH_TEST_CASE("hash joins with NOT IN semantics that spill", "[join][spill]") {
   for (const JoinKind kind : {JoinKind::Anti, JoinKind::Mark})
      for (const bool nulls : {false, true})
         for (const bool zero : {false, true})
            check({kind, false, false, true, Keys::Text, 400, 1000, 900, nulls, batchRowsMax, zero, 64 << 10});
}

CATCH_TEST_CASE("several workers build one join table", "[join]") {
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
   Scheduler scheduler(3);
   sql::plan::Plan plan;
   plan.root = std::make_unique<Node>(sql::plan::Values{});
   ExecutionContext execution;
   execution.scheduler = &scheduler;
   execution.functions = test::testContext();
   execution.memory = &memory;
   RunningQueryState query(plan, execution);
   QueryContext& context = query;
   constexpr uint32_t lanes = 4, perLane = 40'000, distinct = lanes * perLane / 4;
   for (const int64_t spread : {1, 1'000}) {
      RuntimeFilter filter;
      const HashJoinRows shape({{PhysicalType::I64, false, &filter}}, {PhysicalType::I64, PhysicalType::I32}, true);
      QueryBudget budget(memory, SIZE_MAX, nullptr);
      MemoryGrant grant(budget);
      SpilledPartitions partitions(nullptr, 8);
      HashJoinTable table(shape, grant);
      table.reset();
      std::vector<std::unique_ptr<TupleBuffer>> rows;
      std::vector<std::vector<HashJoinTable::KeyBounds>> bounds(lanes);
      for (uint32_t lane = 0; lane < lanes; ++lane) {
         rows.push_back(std::make_unique<TupleBuffer>(table.layout(), grant, partitions));
         bounds[lane].resize(1);
      }
      const auto inParallel = [](uint32_t count, const std::function<void(uint32_t)>& body) {
         std::vector<std::thread> threads;
         for (uint32_t i = 0; i < count; ++i)
            threads.emplace_back(body, i);
         for (std::thread& thread : threads)
            thread.join();
      };
      inParallel(lanes, [&](uint32_t lane) {
         int64_t keys[1000];
         int32_t payload[1000];
         uint64_t hashes[1000];
         JoinRowWriter writer;
         for (uint32_t begin = 0; begin < perLane; begin += 1000) {
            for (uint32_t i = 0; i < 1000; ++i) {
               payload[i] = static_cast<int32_t>(lane * perLane + begin + i);
               keys[i] = payload[i] % distinct * spread;
            }
            const LiveColumn columns[] = {{PhysicalType::I64, keys, nullptr, nullptr},
                                          {PhysicalType::I32, payload, nullptr, nullptr}};
            bounds[lane][0].add(columns[0], 1000);
            hashKeys(columns, 1, 1000, false, hashes);
            writer.write(*rows[lane], table.layout(), columns, 1000, hashes);
         }
      });
      TuplePages pages;
      for (uint32_t lane = 0; lane < lanes; ++lane) {
         table.merge(rows[lane]->rowCount(), 0, bounds[lane], false);
         pages.merge(rows[lane]->takePages());
      }
      table.setPages(pages.takePages(), {}, true);
      const uint32_t tasks = table.openDirectory(context);
      CATCH_REQUIRE(tasks > 1);
      CATCH_REQUIRE(table.isDirect() == (spread == 1));
      std::atomic<uint32_t> task{0};
      inParallel(3, [&](uint32_t) {
         for (uint32_t t = task++; t < tasks; t = task++)
            table.insert(context, t);
      });
      table.publish(context);
      CATCH_REQUIRE(!table.isUnique());
      CATCH_REQUIRE(filter.isPublished());
      // Every row is found once, under its own key.
      std::vector<uint8_t> seen(lanes * perLane);
      for (uint32_t key = 0; key < distinct; ++key) {
         const int64_t value = key * spread;
         const uint64_t hash = hashValue(PhysicalType::I64, &value);
         const LiveColumn column{PhysicalType::I64, &value, nullptr, nullptr};
         const std::byte* row;
         RowIndex candidate;
         const uint32_t found = table.isDirect() ? table.lookupDirect(column, nullptr, 1, &row, &candidate)
                                                 : table.lookup(&hash, nullptr, 1, &row, &candidate);
         uint32_t matches = 0;
         for (; found && row; row = HashJoinTable::next(row)) {
            if (*reinterpret_cast<const int64_t*>(row + table.layout().offset(0)) != value) continue;
            ++matches;
            ++seen[static_cast<size_t>(*reinterpret_cast<const int32_t*>(row + table.layout().offset(1)))];
         }
         if (matches != 4) CATCH_FAIL("key " << key << " has " << matches << " rows");
      }
      CATCH_REQUIRE(std::all_of(seen.begin(), seen.end(), [](uint8_t n) { return n == 1; }));
   }
}

CATCH_TEST_CASE("a runtime filter keeps what may match and drops the rest", "[join]") {
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
   for (const int64_t spread : {1, 3, 1'000'003}) {
      RuntimeFilter filter;
      filter.setBounds(10, 10 + 999 * spread);
      filter.allocate(1000, memory);
      CATCH_REQUIRE(filter.usesBitmap() == (spread < 1000));
      std::vector<Value> values;
      for (int64_t i = 0; i < 1000; ++i) {
         const int64_t value = 10 + i * spread;
         if (filter.usesBitmap())
            filter.addValue(value);
         else
            filter.addHash(hashValue(PhysicalType::I64, &value));
         values.push_back(Value::integer(PhysicalType::I64, value));
      }
      filter.publish(true);
      CATCH_REQUIRE(filter.isSelective() == (spread != 1));
      for (int64_t i = 0; i < 500; ++i)
         values.push_back(i % 10 == 0 ? Value::null(PhysicalType::I64) : Value::integer(PhysicalType::I64, -5 - i));
      for (int64_t i = 0; i < 500; ++i)
         values.push_back(Value::integer(PhysicalType::I64, 11 + 1000 * spread + i));
      const auto column = test::Column::flat(PhysicalType::I64, values);
      std::vector<RowIndex> out(batchRowsMax);
      const uint32_t kept = filter.filter(column.vector(), Selection::dense(2000), out.data());
      CATCH_REQUIRE(kept >= 1000);
      CATCH_REQUIRE(kept <= (filter.usesBitmap() ? 1000 : 1100));
      for (RowIndex i = 0; i < 1000; ++i)
         CATCH_REQUIRE(out[i] == i);
   }
   RuntimeFilter nothing;
   nothing.publishNothing();
   CATCH_REQUIRE(nothing.isEmpty());
}

} // namespace ouzel::executor
