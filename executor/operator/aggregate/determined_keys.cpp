#include "executor/operator/aggregate/determined_keys.hpp"

#include <algorithm>
#include <set>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

using sql::ColumnId;
using sql::plan::Node;
using sql::plan::NodeKind;

/// What determines what in the rows below an aggregation.
class Dependencies {
public:
   explicit Dependencies(const Node& node) { add(node, false); }

   /// Adds what the columns determine, and lists the joins by which they do.
   void close(std::set<ColumnId>& columns, std::set<const Node*>& joins) const {
      for (size_t before = SIZE_MAX; before != columns.size();) {
         before = columns.size();
         for (const Built& built : built_) {
            if (!columns.contains(built.probe) && !columns.contains(built.build)) continue;
            joins.insert(built.join);
            columns.insert(built.columns.begin(), built.columns.end());
            columns.insert(built.build);
            if (built.isInner) columns.insert(built.probe); // equal to the built key
         }
         for (const Computed& computed : computed_)
            if (std::all_of(computed.from.begin(), computed.from.end(),
                            [&](ColumnId c) { return columns.contains(c); }))
               columns.insert(computed.column);
      }
   }

private:
   /// The columns of a join's build side, by its key on either side.
   struct Built {
      const Node* join;
      ColumnId probe, build;
      bool isInner;
      std::span<const ColumnId> columns;
   };
   struct Computed {
      ColumnId column;
      std::vector<ColumnId> from;
   };

   /// `isPadded`: an outer join above may set all columns to NULL. That makes a constant none, but what a join's key
   /// determines is NULL then, as the key is.
   void add(const Node& node, bool isPadded) {
      checkStack();
      switch (node.kind) {
      case NodeKind::Filter: return add(*node.children[0], isPadded);
      case NodeKind::Project:
         for (const sql::ComputedColumn& computed : node.as<sql::plan::Project>().computed) {
            Computed from{computed.column, {}};
            sql::collectColumns(*computed.expr, from.from);
            if (!isPadded && !sql::isVolatile(*computed.expr)) computed_.push_back(std::move(from));
         }
         return add(*node.children[0], isPadded);
      case NodeKind::Window: {
         const auto& window = node.as<sql::plan::Window>();
         for (const sql::WindowCall& call : window.calls)
            if (isRankOfAll(window, call)) addRanked(window.spec.orderBy, call.column);
         return add(*node.children[0], isPadded);
      }
      case NodeKind::HashJoin: return addJoin(node, node.as<sql::plan::HashJoin>(), isPadded);
      default: return;
      }
   }

   static bool isRankOfAll(const sql::plan::Window& window, const sql::WindowCall& call) {
      return window.spec.partitionBy.empty() && call.function &&
             (call.function->name == "rank" || call.function->name == "dense_rank");
   }
   /// Rows of one rank agree in what the rank is by. Equal texts are the same when bytes are compared.
   void addRanked(std::span<const sql::SortKey> keys, ColumnId rank) {
      constexpr Oid collationC = 950;
      for (const sql::SortKey& key : keys) {
         const SqlType& type = key.expr->type;
         const bool isBytes = (type.oid == oid::text || type.oid == oid::varchar) && type.collation == collationC;
         if (const ColumnId column = sql::columnOf(*key.expr);
             column != sql::noColumn && (isBytes || isIntegerLike(key.expr->repr.physical)))
            computed_.push_back({column, {rank}});
      }
   }

   void addJoin(const Node& node, const sql::plan::HashJoin& join, bool isPadded) {
      const bool isInner = join.kind == sql::JoinKind::Inner;
      switch (join.kind) {
      case sql::JoinKind::Inner:
      case sql::JoinKind::Left: break;
      case sql::JoinKind::Semi:
      case sql::JoinKind::Anti:
      case sql::JoinKind::Mark: return add(*node.children[0], isPadded);
      default: return;
      }
      add(*node.children[0], isPadded);
      add(*node.children[1], isPadded || !isInner);
      if (join.keys.size() != 1 || join.keys[0].nullsEqual) return;
      Built built{&node, sql::columnOf(*join.keys[0].probe), sql::columnOf(*join.keys[0].build), isInner,
                  node.children[1]->output};
      // Of two probe rows with one key, such a predicate may find a match for one only.
      if (!isInner && !join.predicates.empty()) built.probe = sql::noColumn;
      if (built.build != sql::noColumn) built_.push_back(built);
   }

   std::vector<Built> built_;
   std::vector<Computed> computed_;
};

} // namespace

DeterminedKeys determinedKeys(const Node& aggregate) {
   const auto& keys = aggregate.as<sql::plan::Aggregate>().keys;
   DeterminedKeys result;
   if (keys.size() < 2) return result;
   const Dependencies dependencies(*aggregate.children[0]);
   std::vector<std::vector<ColumnId>> read(keys.size());
   for (size_t k = 0; k < keys.size(); ++k)
      sql::collectColumns(*keys[k].expr, read[k]);
   std::set<const Node*> joins;
   std::vector<uint8_t> isDetermined(keys.size());
   const auto tryKey = [&](size_t k) {
      if (result.keys.size() + 1 == keys.size()) return; // a key without columns needs no other, but one has to stay
      std::set<ColumnId> known;
      std::set<const Node*> used;
      // Equal numbers are the same: 0 and -0, 1.0 and 1.00 are not, whose texts differ.
      for (size_t other = 0; other < keys.size(); ++other)
         if (other != k && !isDetermined[other] && isIntegerLike(keys[other].expr->repr.physical))
            if (const ColumnId column = sql::columnOf(*keys[other].expr); column != sql::noColumn) known.insert(column);
      dependencies.close(known, used);
      if (sql::isVolatile(*keys[k].expr)) return;
      if (!std::all_of(read[k].begin(), read[k].end(), [&](ColumnId column) { return known.contains(column); })) return;
      isDetermined[k] = 1;
      result.keys.push_back(static_cast<uint32_t>(k));
      joins.merge(used);
   };
   // Strings cost most, and of two keys that determine each other a number should stay.
   const auto isString = [&](size_t k) { return isVariableSize(keys[k].expr->repr.physical); };
   for (const bool strings : {true, false})
      for (size_t k = 0; k < keys.size(); ++k)
         if (isString(k) == strings) tryKey(k);
   result.joins.assign(joins.begin(), joins.end());
   return result;
}

} // namespace ouzel::executor
