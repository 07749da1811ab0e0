#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "executor/operator/window/window_partition.hpp"
#include "executor/schedule/running_query.hpp"
#include "executor/schedule/scheduler.hpp"
#include "tests/unit/executor/expression_support.hpp"

// Sort, TopN, DISTINCT ON and windows as whole plans. Windows are compared with a reference that computes every frame
// by its definition.

namespace ouzel::executor {
namespace {

using sql::ColumnId;
using sql::FrameBoundKind;
using sql::FrameExclusion;
using sql::FrameMode;
using sql::plan::Node;
using sql::plan::NodePtr;
using Row = std::vector<Value>;

const SqlType int4{oid::int4}, int8{oid::int8}, text{oid::text, -1, defaultCollation}, float8{oid::float8};

/// Columns: p partition, o order key, v and t values, id.
struct Fixture {
   sql::plan::Plan plan;
   std::vector<ColumnId> columns;
   std::vector<Row> rows;

   explicit Fixture(uint32_t count, uint32_t partitions = 3, uint32_t keys = 20) {
      for (const auto& [name, type] : {std::pair{"p", int4}, {"o", int4}, {"v", int4}, {"t", text}, {"id", int8}})
         columns.push_back(plan.columns.add({name, type, storedRepresentation(type)}));
      std::mt19937 random(count + partitions * 7 + keys);
      const auto number = [&](uint32_t range) {
         return random() % 9 == 0 ? Value::null(PhysicalType::I32)
                                  : Value::integer(PhysicalType::I32, random() % range);
      };
      for (uint32_t i = 0; i < count; ++i)
         rows.push_back({number(partitions), number(keys), number(100),
                         random() % 9 == 0
                             ? Value::null(PhysicalType::String)
                             : Value::string(std::string(random() % 20, static_cast<char>('a' + random() % 26))),
                         Value::integer(PhysicalType::I64, i)});
   }
   NodePtr scan() {
      auto node = std::make_unique<Node>(sql::plan::VirtualScan{});
      for (size_t i = 0; i < columns.size(); ++i)
         node->as<sql::plan::Scan>().columns.push_back({columns[i], static_cast<int16_t>(i + 1)});
      node->output = columns;
      return node;
   }
   sql::ExprPtr column(size_t i) const { return sql::makeColumn(columns[i], plan.columns[columns[i]].type); }
   sql::SortKey key(size_t i, bool descending = false, bool nullsFirst = false) const {
      return {column(i), descending, nullsFirst};
   }
   std::vector<Row> run(NodePtr root, uint32_t batchRows, bool parallel = false) {
      plan.root = std::move(root);
      plan.output.clear();
      for (const ColumnId id : plan.root->output)
         plan.output.push_back({"c", id, plan.columns[id].type});
      MemoryLedger ledger{size_t{1} << 30};
      Reservation memory{ledger};
      std::vector<Row> out;
      std::optional<Scheduler> scheduler;
      if (parallel) scheduler.emplace(2);
      {
         ExecutionContext context;
         context.scheduler = parallel ? &*scheduler : nullptr;
         context.functions = test::testContext();
         context.settings.batchRows = batchRows;
         context.memory = &memory;
         context.virtualTable = [&](Oid, const std::vector<int16_t>& attributes, const auto& /*wanted*/,
                                    const std::function<void(Row&)>& give) {
            for (const Row& row : rows) {
               Row some;
               for (const int16_t attribute : attributes)
                  some.push_back(row[static_cast<size_t>(attribute - 1)]);
               give(some);
            }
         };
         RunningQuery query(plan, context);
         while (auto batch = query.next())
            for (uint32_t i = 0; i < batch->batch.liveRows(); ++i) {
               Row row;
               for (const Vector& vector : batch->batch.columns)
                  row.push_back(Value::fromVector(vector, batch->batch.selection.row(i)));
               out.push_back(std::move(row));
            }
      }
      CATCH_CHECK(memory.used() == 0);
      return out;
   }
};

int compareValues(const Value& a, const Value& b, bool descending, bool nullsFirst) {
   if (a.isNull || b.isNull) return a.isNull == b.isNull ? 0 : a.isNull == nullsFirst ? -1 : 1;
   const int order = a.type == PhysicalType::String ? a.bytes.compare(b.bytes) : (a.i64 > b.i64) - (a.i64 < b.i64);
   return descending ? -order : order;
}

CATCH_TEST_CASE("sort, top n and distinct on: plans", "[sort]") {
   for (const uint32_t count : {0u, 1u, 2u, 100u, 2047u, 2048u, 2049u, 10'000u})
      for (const uint32_t batchRows : {2u, batchRowsMax}) {
         if (batchRows == 2 && count > 3000) continue;
         Fixture f(count);
         std::vector<Row> expected = f.rows;
         std::stable_sort(expected.begin(), expected.end(), [](const Row& a, const Row& b) {
            if (const int order = compareValues(a[1], b[1], true, true)) return order < 0;
            return compareValues(a[3], b[3], false, false) < 0;
         });
         const auto sorted = [&](auto op) {
            op.keys.push_back(f.key(1, true, true));
            op.keys.push_back(f.key(3));
            auto node = std::make_unique<Node>(std::move(op));
            node->children.push_back(f.scan());
            node->output = f.columns;
            return node;
         };
         const auto ids = [](const std::vector<Row>& rows) {
            std::vector<int64_t> out;
            for (const Row& row : rows)
               out.push_back(row[4].i64);
            return out;
         };
         CATCH_CHECK((ids(f.run(sorted(sql::plan::Sort{}), batchRows)) == ids(expected)));
         for (const auto& [limit, offset] : {std::pair{0, 0}, {1, 0}, {10, 5}, {5000, 7}, {100'000, 1}}) {
            auto node = sorted(sql::plan::TopN{});
            auto& top = node->as<sql::plan::TopN>();
            top.limit = sql::makeConstant(int8, Value::integer(PhysicalType::I64, limit));
            top.offset = sql::makeConstant(int8, Value::integer(PhysicalType::I64, offset));
            std::vector<Row> some(expected.begin() + std::min<ptrdiff_t>(offset, count),
                                  expected.begin() + std::min<ptrdiff_t>(offset + limit, count));
            CATCH_CHECK((ids(f.run(std::move(node), batchRows)) == ids(some)));
         }
         auto distinct = std::make_unique<Node>(sql::plan::DistinctOn{{f.columns[1], f.columns[3]}});
         distinct->output = f.columns;
         distinct->children.push_back(sorted(sql::plan::Sort{}));
         std::vector<Row> firsts;
         for (const Row& row : expected)
            if (firsts.empty() || compareValues(firsts.back()[1], row[1], false, false) != 0 ||
                compareValues(firsts.back()[3], row[3], false, false) != 0)
               firsts.push_back(row);
         CATCH_CHECK((ids(f.run(std::move(distinct), batchRows)) == ids(firsts)));
      }
}

// ---- windows ----

struct Frame {
   FrameMode mode = FrameMode::Range;
   FrameBoundKind start = FrameBoundKind::UnboundedPreceding, end = FrameBoundKind::CurrentRow;
   FrameExclusion exclusion = FrameExclusion::None;
   int64_t startOffset = 0, endOffset = 0;
};

struct Call {
   const char* name;
   std::vector<size_t> columns;  ///< columns of the fixture
   bool filtered = false;        ///< over f: a boolean computed as v > 50
   std::vector<Value> constants; ///< further arguments
   std::vector<SqlType> constantTypes;
   SqlType type;
};

const std::vector<Call>& allCalls() {
   const auto i = [](int64_t v) { return Value::integer(PhysicalType::I32, v); };
   static const std::vector<Call> calls{
       {"row_number", {}, false, {}, {}, int8},
       {"rank", {}, false, {}, {}, int8},
       {"dense_rank", {}, false, {}, {}, int8},
       {"percent_rank", {}, false, {}, {}, float8},
       {"cume_dist", {}, false, {}, {}, float8},
       {"ntile", {}, false, {i(4)}, {int4}, int4},
       {"lag", {3}, false, {}, {}, text},
       {"lead", {2}, false, {i(3), i(-7)}, {int4, int4}, int4},
       {"first_value", {3}, false, {}, {}, text},
       {"last_value", {2}, false, {}, {}, int4},
       {"nth_value", {4}, false, {i(3)}, {int4}, int8},
       {"count", {}, false, {}, {}, int8},
       {"count", {2}, true, {}, {}, int8},
       {"sum", {2}, false, {}, {}, int8},
       {"sum", {2}, true, {}, {}, int8},
       {"min", {3}, false, {}, {}, text},
       {"max", {2}, false, {}, {}, int4},
       {"string_agg", {3}, false, {Value::string(",")}, {text}, text},
   };
   return calls;
}

std::vector<sql::WindowCall> makeCalls(Fixture& f) {
   std::vector<sql::WindowCall> out;
   for (const Call& call : allCalls()) {
      sql::WindowCall made;
      made.type = call.type;
      std::vector<Oid> types;
      for (const size_t column : call.columns) {
         made.args.push_back(f.column(column));
         types.push_back(made.args.back()->type.oid);
      }
      for (size_t i = 0; i < call.constants.size(); ++i) {
         made.args.push_back(sql::makeConstant(call.constantTypes[i], call.constants[i]));
         types.push_back(call.constantTypes[i].oid);
      }
      made.star = made.args.empty();
      if (call.filtered)
         made.filter = sql::makeCompare(sql::CompareOp::Gt, f.column(2),
                                        sql::makeConstant(int4, Value::integer(PhysicalType::I32, 50)));
      for (const catalog::FunctionInfo* info : catalog::builtins().functions(call.name))
         if (info->argTypes.size() == types.size() && (!made.function || std::ranges::equal(info->argTypes, types)))
            made.function = info;
      CATCH_REQUIRE(made.function);
      made.column = f.plan.columns.add({call.name, call.type, storedRepresentation(call.type)});
      out.push_back(std::move(made));
   }
   return out;
}

struct Reference {
   std::vector<Row> rows; // sorted, of one partition
   bool ordered, descending, nullsFirst;

   int order(size_t a, size_t b) const {
      return ordered ? compareValues(rows[a][1], rows[b][1], descending, nullsFirst) : 0;
   }
   int64_t group(size_t row) const {
      int64_t out = 0;
      for (size_t i = 1; i <= row; ++i)
         out += order(i - 1, i) != 0;
      return out;
   }
   /// Whether row j is behind the start bound (or before the end bound) of row i's frame.
   bool passes(const Frame& frame, bool isStart, size_t i, size_t j, const std::vector<int64_t>& groups) const {
      const FrameBoundKind kind = isStart ? frame.start : frame.end;
      const int64_t offset = isStart ? frame.startOffset : frame.endOffset;
      const bool back = kind == FrameBoundKind::OffsetPreceding;
      const auto within = [&](int64_t value, int64_t base) {
         const int64_t bound = kind == FrameBoundKind::CurrentRow ? base : back ? base - offset : base + offset;
         return isStart ? value >= bound : value <= bound;
      };
      if (kind == FrameBoundKind::UnboundedPreceding) return isStart;
      if (kind == FrameBoundKind::UnboundedFollowing) return !isStart;
      if (frame.mode == FrameMode::Rows) return within(static_cast<int64_t>(j), static_cast<int64_t>(i));
      if (frame.mode == FrameMode::Groups || kind == FrameBoundKind::CurrentRow) return within(groups[j], groups[i]);
      const Value &a = rows[j][1], &b = rows[i][1];
      if (a.isNull && b.isNull) return true;
      if (a.isNull || b.isNull) return isStart ? j > i : j < i;
      return descending ? within(-a.i64, -b.i64) : within(a.i64, b.i64);
   }
   std::vector<size_t> frameOf(const Frame& frame, size_t i, const std::vector<int64_t>& groups) const {
      std::vector<size_t> out;
      for (size_t j = 0; j < rows.size(); ++j) {
         if (!passes(frame, true, i, j, groups) || !passes(frame, false, i, j, groups)) continue;
         const bool isPeer = groups[i] == groups[j];
         if (frame.exclusion == FrameExclusion::CurrentRow && i == j) continue;
         if (frame.exclusion == FrameExclusion::Group && isPeer) continue;
         if (frame.exclusion == FrameExclusion::Ties && isPeer && i != j) continue;
         out.push_back(j);
      }
      return out;
   }
   std::string value(const Call& call, const Frame& frame, size_t i, const std::vector<int64_t>& groups) const {
      const std::string name = call.name;
      const auto count = static_cast<int64_t>(rows.size()), at = static_cast<int64_t>(i);
      const auto firstPeer = std::find(groups.begin(), groups.end(), groups[i]) - groups.begin();
      const auto peerEnd = std::upper_bound(groups.begin(), groups.end(), groups[i]) - groups.begin();
      const auto columnAt = [&](int64_t row) {
         return row < 0 || row >= count ? std::string("NULL")
                                        : test::toText(rows[static_cast<size_t>(row)][call.columns[0]]);
      };
      if (name == "row_number") return std::to_string(i + 1);
      if (name == "rank") return std::to_string(firstPeer + 1);
      if (name == "dense_rank") return std::to_string(groups[i] + 1);
      if (name == "percent_rank") return std::to_string(count == 1 ? 0.0 : double(firstPeer) / double(count - 1));
      if (name == "cume_dist") return std::to_string(double(peerEnd) / double(count));
      if (name == "ntile") {
         std::vector<int> buckets;
         for (int64_t b = 0; b < 4; ++b)
            buckets.insert(buckets.end(), static_cast<size_t>(count / 4 + (b < count % 4)), static_cast<int>(b + 1));
         return std::to_string(buckets[i]);
      }
      if (name == "lag") return columnAt(at - 1);
      if (name == "lead") return at + 3 < count ? columnAt(at + 3) : "-7";
      const std::vector<size_t> in = frameOf(frame, i, groups);
      if (name == "first_value") return in.empty() ? "NULL" : columnAt(static_cast<int64_t>(in.front()));
      if (name == "last_value") return in.empty() ? "NULL" : columnAt(static_cast<int64_t>(in.back()));
      if (name == "nth_value") return in.size() < 3 ? "NULL" : columnAt(static_cast<int64_t>(in[2]));
      int64_t seen = 0, sum = 0;
      std::optional<Value> best;
      std::string joined;
      for (const size_t j : in) {
         if (call.filtered && (rows[j][2].isNull || rows[j][2].i64 <= 50)) continue;
         if (call.columns.empty()) {
            ++seen;
            continue;
         }
         const Value& v = rows[j][call.columns[0]];
         if (v.isNull) continue;
         if (seen++ > 0) joined += ",";
         joined += v.bytes;
         sum += v.type == PhysicalType::I32 ? v.i64 : 0;
         if (!best || compareValues(v, *best, name == "max", false) < 0) best = v;
      }
      if (name == "count") return std::to_string(seen);
      if (seen == 0) return "NULL";
      if (name == "sum") return std::to_string(sum);
      if (name == "string_agg") return joined;
      return test::toText(*best);
   }
};

void checkWindow(Fixture& f, const Frame& frame, bool partitioned, bool ordered, bool descending, bool nullsFirst,
                 uint32_t batchRows) {
   auto node = std::make_unique<Node>(sql::plan::Window{.spec = {}, .calls = makeCalls(f)});
   node->children.push_back(f.scan());
   node->output = f.columns;
   sql::WindowSpec& spec = node->as<sql::plan::Window>().spec;
   std::vector<sql::WindowCall>& calls = node->as<sql::plan::Window>().calls;
   for (const sql::WindowCall& call : calls)
      node->output.push_back(call.column);
   if (partitioned) spec.partitionBy.push_back(f.column(0));
   if (ordered) spec.orderBy.push_back(f.key(1, descending, nullsFirst));
   spec.mode = frame.mode;
   spec.exclusion = frame.exclusion;
   const SqlType offsetType = frame.mode == FrameMode::Range ? int4 : int8;
   const auto setBound = [&](sql::FrameBound& bound, FrameBoundKind kind, int64_t offset) {
      bound.kind = kind;
      if (kind == FrameBoundKind::OffsetPreceding || kind == FrameBoundKind::OffsetFollowing)
         bound.offset =
             sql::makeConstant(offsetType, Value::integer(storedRepresentation(offsetType).physical, offset));
   };
   setBound(spec.start, frame.start, frame.startOffset);
   setBound(spec.end, frame.end, frame.endOffset);
   const std::vector<Row> actual = f.run(std::move(node), batchRows);
   CATCH_REQUIRE(actual.size() == f.rows.size());

   std::map<int64_t, std::vector<Row>> partitions;
   for (const Row& row : f.rows)
      partitions[!partitioned ? 0 : row[0].isNull ? -1 : row[0].i64].push_back(row);
   std::map<int64_t, const Row*> byId;
   for (const Row& row : actual)
      byId[row[4].i64] = &row;
   for (auto& [number, rows] : partitions) {
      Reference reference{std::move(rows), ordered, descending, nullsFirst};
      if (ordered)
         std::stable_sort(reference.rows.begin(), reference.rows.end(), [&](const Row& a, const Row& b) {
            return compareValues(a[1], b[1], descending, nullsFirst) < 0;
         });
      std::vector<int64_t> groups;
      for (size_t i = 0; i < reference.rows.size(); ++i)
         groups.push_back(i == 0 ? 0 : groups.back() + (reference.order(i - 1, i) != 0));
      // Large partitions are sampled, because the reference takes cubic time.
      const size_t step = std::max<size_t>(1, reference.rows.size() / 150);
      for (size_t i = 0; i < reference.rows.size(); i += step) {
         const Row& got = *byId.at(reference.rows[i][4].i64);
         for (size_t c = 0; c < allCalls().size(); ++c) {
            const std::string expected = reference.value(allCalls()[c], frame, i, groups);
            if (test::toText(got[5 + c]) == expected) continue;
            CATCH_FAIL_CHECK(allCalls()[c].name << " of row " << i << ": " << test::toText(got[5 + c]) << " not "
                                                << expected);
            return;
         }
      }
   }
}

using enum FrameBoundKind;

CATCH_TEST_CASE("window: all frames", "[window]") {
   const std::array bounds{UnboundedPreceding, OffsetPreceding, CurrentRow, OffsetFollowing, UnboundedFollowing};
   Fixture f(160, 2, 25);
   for (const FrameMode mode : {FrameMode::Rows, FrameMode::Range, FrameMode::Groups})
      for (const FrameBoundKind start : bounds)
         for (const FrameBoundKind end : bounds)
            for (const FrameExclusion exclusion :
                 {FrameExclusion::None, FrameExclusion::CurrentRow, FrameExclusion::Group, FrameExclusion::Ties}) {
               if (start == UnboundedFollowing || end == UnboundedPreceding || start > end) continue;
               for (const bool flip : {false, true}) {
                  CATCH_INFO("mode " << int(mode) << " start " << int(start) << " end " << int(end) << " exclusion "
                                     << int(exclusion) << " flip " << flip);
                  checkWindow(f, {mode, start, end, exclusion, flip ? 2 : 5, flip ? 4 : 1}, true, true, flip,
                              flip != (mode == FrameMode::Groups), batchRowsMax);
               }
            }
}

CATCH_TEST_CASE("window: sizes", "[window]") {
   for (const uint32_t count : {0u, 1u, 2u, 2047u, 2048u, 2049u})
      for (const uint32_t batchRows : {2u, batchRowsMax}) {
         Fixture f(count, count > 100 ? 400 : 2);
         CATCH_INFO("rows " << count);
         checkWindow(f, {}, true, true, false, false, batchRows);
         checkWindow(f, {FrameMode::Rows, OffsetPreceding, OffsetFollowing, FrameExclusion::None, 3, 2}, true, false,
                     false, false, batchRows);
      }
   // Large frames use the tree of partial states.
   Fixture f(5000, 1, 300);
   checkWindow(f, {FrameMode::Rows, OffsetPreceding, OffsetFollowing, FrameExclusion::None, 700, 900}, false, true,
               false, false, batchRowsMax);
   checkWindow(f, {FrameMode::Range, OffsetPreceding, UnboundedFollowing, FrameExclusion::Group, 20, 0}, false, true,
               true, true, batchRowsMax);
   checkWindow(f, {}, false, false, false, false, batchRowsMax);
   checkWindow(f, {FrameMode::Rows}, false, false, false, false, batchRowsMax);
}

/// in_range(a, b, offset, minus, less) for all a, b and offsets, in this order.
std::string rangeAnswers(SqlType type, const std::vector<Value>& values, const std::vector<Value>& offsets) {
   FrameClause clause;
   clause.keyType = type;
   std::string out;
   for (const Value& a : values)
      for (const Value& b : values)
         for (const Value& offset : offsets)
            for (const bool minus : {false, true})
               for (const bool less : {false, true}) {
                  alignas(16) std::byte x[16], y[16];
                  a.store(x);
                  b.store(y);
                  out += isInRange(clause, offset, x, y, minus, less, test::testContext()) ? '1' : '0';
               }
   return out;
}

CATCH_TEST_CASE("window: in_range", "[window]") {
   const double infinite = std::numeric_limits<double>::infinity();
   std::vector<Value> floats, floatOffsets, decimals, decimalOffsets;
   for (const double v : {std::numeric_limits<double>::quiet_NaN(), -infinite, infinite, 0.0, 1.5, -3.0})
      floats.push_back(Value::real(PhysicalType::F64, v));
   for (const double v : {0.0, 1.5, infinite})
      floatOffsets.push_back(Value::real(PhysicalType::F64, v));
   const auto decimalOf = [](const char* v) {
      Arena arena;
      return Value::string(std::string(decimal::parse(v, arena).view()), PhysicalType::Decimal);
   };
   for (const char* v : {"NaN", "-Infinity", "Infinity", "0", "1.5", "-3"})
      decimals.push_back(decimalOf(v));
   for (const char* v : {"0", "1.5", "Infinity"})
      decimalOffsets.push_back(decimalOf(v));
   const auto date = [](int64_t v) { return Value::integer(PhysicalType::I32, v); };
   const auto interval = [](int32_t months, int32_t days, int64_t hours) {
      return Value::ofInterval({hours * 3'600'000'000, days, months});
   };
   const auto time = [](int64_t seconds) { return Value::integer(PhysicalType::I64, seconds * 1'000'000); };
   CATCH_CHECK(rangeAnswers(float8, floats, floatOffsets) ==
               "111111111111101010101010101010101010101010101010101010101010101010101010010101010101111111111111"
               "010101010111010101010111010101010111010101010111010101010101101010101110111111111111101010101110"
               "101010101110101010101110010101010101101010101110010101010111111101100110010101110110101010100110"
               "010101010101101010101110010101010111101011100110111101100110101010100110010101010101101010101110"
               "010101010111010101010110010101010110111101100110");
   CATCH_CHECK(rangeAnswers({oid::numeric}, decimals, decimalOffsets) ==
               "111111111111101010101010101010101010101010101010101010101010101010101010010101010101111111111111"
               "010101010111010101010111010101010111010101010111010101010101101010101110111111111111101010101110"
               "101010101110101010101110010101010101101010101110010101010111111101100110010101110110101010100110"
               "010101010101101010101110010101010111101011100110111101100110101010100110010101010101101010101110"
               "010101010111010101010110010101010110111101100110");
   // 2020-01-31, 2020-02-29, infinities, 2020-03-30
   CATCH_CHECK(rangeAnswers({oid::date}, {date(7335), date(7364), date(INT32_MAX), date(INT32_MIN), date(7394)},
                            {interval(0, 0, 0), interval(0, 29, 12), interval(1, 0, 0)}) ==
               "111101100110010101100110010101010101101010101010010101010101101001101110111101100110010101010101"
               "101010101010010101010111101010101010101010101010111111111111101010101010101010101010010101010101"
               "010101010101010101010101111111111111010101010101101010101010101010101010010101010101101010101010"
               "111101100110");
   Value second = interval(0, 100, 0);
   second.interval.micros = 1'000'000;
   CATCH_CHECK(rangeAnswers({oid::time}, {time(0), time(43'200), time(86'399), time(86'400)},
                            {interval(0, 0, 0), interval(0, 0, 12), second}) ==
               "111101100110010101110101010101010101010101010101101011101010111101100110010101100101010101110101"
               "101010101010101001101010111101100110010101100111101010101010101011101010101001101110111101100110");
   CATCH_CHECK(rangeAnswers({oid::interval},
                            {interval(1, 0, 0), interval(0, 30, 0), interval(0, -1, 0), interval(0, 29, 24)},
                            {interval(0, 0, 0), interval(0, 1, 0), interval(1, 0, 0)}) ==
               "111101100110111101100110101010101010111101100110111101100110111101100110101010101010111101100110"
               "010101010101010101010101111101100110010101010101111101100110111101100110101010101010111101100110");
   CATCH_CHECK_THROWS_WITH(rangeAnswers(int4, {date(1)}, {date(-1)}),
                           "invalid preceding or following size in window function");
}

CATCH_TEST_CASE("window: errors", "[window]") {
   const auto fails = [](const char* name, int64_t argument, int64_t offset, const char* message) {
      Fixture f(10);
      auto node = std::make_unique<Node>(sql::plan::Window{.spec = {}, .calls = makeCalls(f)});
      node->children.push_back(f.scan());
      sql::WindowSpec& spec = node->as<sql::plan::Window>().spec;
      std::vector<sql::WindowCall>& calls = node->as<sql::plan::Window>().calls;
      std::erase_if(calls, [&](const sql::WindowCall& call) { return call.function->name != name; });
      sql::WindowCall& call = calls.front();
      if (!call.args.empty()) call.args.back() = sql::makeConstant(int4, Value::integer(PhysicalType::I32, argument));
      node->output = {f.columns[0], call.column};
      spec.mode = FrameMode::Rows;
      spec.start = {OffsetPreceding,
                    sql::makeConstant(int8, offset == INT64_MAX ? Value::null(PhysicalType::I64)
                                                                : Value::integer(PhysicalType::I64, offset))};
      CATCH_CHECK_THROWS_WITH(f.run(std::move(node), batchRowsMax), message);
   };
   fails("ntile", 0, 1, "argument of ntile must be greater than zero");
   fails("nth_value", 0, 1, "argument of nth_value must be greater than zero");
   fails("row_number", 0, -1, "frame starting offset must not be negative");
   fails("row_number", 0, INT64_MAX, "frame starting offset must not be null");
}

} // namespace
} // namespace ouzel::executor
