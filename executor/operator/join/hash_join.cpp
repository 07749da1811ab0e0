#include <algorithm>
#include <cstring>

#include "executor/materialize/key_hash.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/join/hash_join_built_rows.hpp"
#include "executor/operator/join/hash_join_partitions.hpp"
#include "executor/operator/join/hash_join_probe.hpp"
#include "executor/operator/join/join_rows.hpp"

// The build side of a hash join, and the translation of the plan node into operators:
//
//    pipeline of the build side   ... -> HashJoinBuild, which fills the table
//    stages of the probe side     ... -> HashJoinProbe (rows in memory)
//    further stages               BuiltRows (built rows by their match flags), HashJoinPartitions (spilled rows)

namespace ouzel::executor {

using sql::JoinKind;
using Column = HashJoinShape::Column;

namespace {

/// The columns of the build side that are stored.
struct BuildShape {
   std::shared_ptr<const ExpressionProgram> keys;
   std::vector<uint32_t> payload; ///< slots of the build batches, stored behind the keys
   /// Rows with a NULL key are stored and given, though they match no row.
   bool keepsNullKeys = false;
};

struct BuildLocal final : LocalState {
   BuildLocal(const BuildShape& shape, const HashJoinTable& table, HashJoinSpill& spill, QueryContext& context)
      : keys(shape.keys, context.functions(), context.memory()), vectors(table.layout().columnCount()),
        rows(table.layout(), spill.buildGrant(), spill.buildPartitions(), spill.buildOptions()),
        unjoinable(table.layout(), spill.buildGrant(), spill.unjoinablePartitions(), spill.unjoinableOptions()),
        bounds(table.rows().keys().size()) {}

   ExpressionState keys;
   std::vector<Vector> vectors;
   LiveColumns columns;
   TupleBuffer rows, unjoinable;
   JoinRowWriter writer;
   std::vector<HashJoinTable::KeyBounds> bounds;
   bool sawNullKey = false;
   // SETTLED
   TuplePages settledRows, settledUnjoinable;
   uint64_t rowCount = 0, unjoinableCount = 0;
   uint64_t hashes[batchRowsMax];
   RowIndex joinable[batchRowsMax], nullKeyed[batchRowsMax];
};

class HashJoinBuild final : public Sink {
public:
   HashJoinBuild(BuildShape shape, HashJoinTable& table, HashJoinSpill& spill)
      : shape_(std::move(shape)), table_(table), spill_(spill) {}

   void prepare(QueryContext& context) override {
      table_.reset();
      spill_.prepare(context);
   }
   LocalStatePtr makeLocal(QueryContext& context) override {
      return std::make_unique<BuildLocal>(shape_, table_, spill_, context);
   }
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   bool settlesInParallel() const override { return spill_.hasSpilledBuilt(); }
   void settle(QueryContext&, LocalState& state) override {
      auto& local = static_cast<BuildLocal&>(state);
      local.rowCount = local.rows.rowCount();
      local.unjoinableCount = local.unjoinable.rowCount();
      local.settledRows = local.rows.finish();
      local.settledUnjoinable = local.unjoinable.finish();
   }
   void combine(QueryContext&, LocalState& state) override {
      auto& local = static_cast<BuildLocal&>(state);
      table_.merge(local.rowCount, local.unjoinableCount, local.bounds, local.sawNullKey);
      spill_.addBuilt(std::move(local.settledRows), std::move(local.settledUnjoinable));
   }
   uint32_t finishTasks(QueryContext& context, uint32_t round) override {
      if (round > 0) return 0;
      spill_.closeBuild(table_);
      return table_.openDirectory(context);
   }
   void finishTask(QueryContext& context, uint32_t, uint32_t task) override { table_.insert(context, task); }
   void finish(QueryContext& context) override {
      table_.publish(context);
      spill_.waiveFloors();
   }
   void describe(OperatorProfile& profile) const override { table_.describe(profile); }

private:
   Selection splitNullKeys(BuildLocal& local, const Batch& in, uint32_t& nullKeyed);

   const BuildShape shape_;
   HashJoinTable& table_;
   HashJoinSpill& spill_;
};

/// The rows without NULL in a key for which NULL = NULL does not hold. The other rows are listed in local.nullKeyed.
Selection HashJoinBuild::splitNullKeys(BuildLocal& local, const Batch& in, uint32_t& nullKeyed) {
   Selection rows = in.selection;
   for (uint32_t k = 0; k < table_.rows().keys().size(); ++k) {
      const Vector& key = local.vectors[k];
      if (table_.rows().keys()[k].nullsEqual || !key.mayHaveNulls()) continue;
      uint32_t kept = 0;
      for (uint32_t i = 0; i < rows.count(); ++i) {
         const RowIndex row = rows.row(i);
         const bool isNull = key.isNull(row);
         local.nullKeyed[nullKeyed] = row;
         nullKeyed += isNull;
         local.joinable[kept] = row;
         kept += !isNull;
      }
      if (kept < rows.count()) rows = Selection::list(local.joinable, kept);
   }
   return rows;
}

SinkStatus HashJoinBuild::consume(QueryContext& context, LocalState& state, const Batch& in) {
   auto& local = static_cast<BuildLocal&>(state);
   const auto keyCount = static_cast<uint32_t>(table_.rows().keys().size());
   shape_.keys->evaluateAll(local.keys, in, in.selection, local.vectors.data());
   for (size_t i = 0; i < shape_.payload.size(); ++i)
      local.vectors[keyCount + i] = in.columns[shape_.payload[i]];

   uint32_t nullKeyed = 0;
   const Selection rows = splitNullKeys(local, in, nullKeyed);
   if (nullKeyed > 0) local.sawNullKey = true;
   if (rows.count() > 0) {
      local.columns.bind(local.vectors, rows);
      const uint32_t count = rows.count();
      hashKeys(local.columns.data(), keyCount, count, context.settings().zeroHashes, local.hashes);
      for (uint32_t k = 0; k < keyCount; ++k)
         if (table_.rows().wantsBounds(k)) local.bounds[k].add(local.columns[k], count);
      local.writer.write(local.rows, table_.layout(), local.columns.data(), count, local.hashes);
      if (local.rows.wantsRelief()) local.rows.relieve();
   }
   if (nullKeyed > 0 && shape_.keepsNullKeys) {
      // The rows were found key by key, so they may be out of order.
      std::sort(local.nullKeyed, local.nullKeyed + nullKeyed);
      local.columns.bind(local.vectors, Selection::list(local.nullKeyed, nullKeyed));
      std::memset(local.hashes, 0, nullKeyed * sizeof(local.hashes[0])); // these rows are never looked up
      local.writer.write(local.unjoinable, table_.layout(), local.columns.data(), nullKeyed, local.hashes);
      if (local.unjoinable.wantsRelief()) local.unjoinable.relieve();
   }
   return SinkStatus::NeedInput;
}

/// Decides which build columns are stored, and from which side and slot each column of the joined rows comes.
class ShapeBuilder {
public:
   ShapeBuilder(const sql::plan::Node& node, const sql::ColumnTable& table)
      : output_(node.output), join_(node.as<sql::plan::HashJoin>()), table_(table),
        probe_(std::span(node.children[0]->output)), build_(std::span(node.children[1]->output)) {}

   void run(HashJoinShape& shape, BuildShape& build, std::vector<PhysicalType>& types) {
      std::vector<const sql::Expr*> probeKeys, buildKeys;
      for (const sql::plan::JoinKey& key : join_.keys) {
         probeKeys.push_back(key.probe.get());
         buildKeys.push_back(key.build.get());
         types.push_back(key.build->repr.physical);
      }
      shape.kind = join_.kind;
      shape.nullAware = join_.nullAware;
      shape.probeKeys = ExpressionProgram::compile(std::span(probeKeys), probe_, table_);
      build.keys = ExpressionProgram::compile(std::span(buildKeys), build_, table_);
      build.keepsNullKeys =
          join_.kind == JoinKind::Right || join_.kind == JoinKind::Full || join_.kind == JoinKind::RightAnti;
      for (const sql::ColumnId column : output_)
         addColumn(shape, build, types, column);
      shape.outputCount = static_cast<uint32_t>(shape.columns.size());
      if (join_.predicates.empty()) return;

      std::vector<sql::ColumnId> layout = output_, read;
      for (const sql::ExprPtr& predicate : join_.predicates)
         sql::collectColumns(*predicate, read);
      for (const sql::ColumnId column : read) {
         auto found = std::find(layout.begin(), layout.end(), column);
         if (found == layout.end()) {
            layout.push_back(column);
            addColumn(shape, build, types, column);
            found = layout.end() - 1;
         }
         shape.columns[static_cast<size_t>(found - layout.begin())].isResidual = true;
      }
      shape.residual = ExpressionProgram::compileConjunction(join_.predicates, ColumnSlots(std::span(layout)), table_);
   }

private:
   void addColumn(HashJoinShape& shape, BuildShape& build, std::vector<PhysicalType>& types, sql::ColumnId column) {
      const PhysicalType type = table_[column].repr.physical;
      if (join_.kind == JoinKind::Mark && column == join_.markColumn) {
         shape.columns.push_back({Column::From::Mark, 0, PhysicalType::Bool, false});
      } else if (const auto slot = probe_.find(column)) {
         shape.columns.push_back({Column::From::Probe, *slot, type, false});
      } else if (const auto built = build_.find(column)) {
         shape.columns.push_back({Column::From::Build, storedColumn(build, types, column, *built), type, false});
      } else {
         throwInternal("a joined column that no side gives");
      }
   }

   /// Number of the build column in stored rows. A key that is just this column is not stored again.
   uint32_t storedColumn(BuildShape& build, std::vector<PhysicalType>& types, sql::ColumnId column, uint32_t slot) {
      const auto keyCount = static_cast<uint32_t>(join_.keys.size());
      for (uint32_t k = 0; k < keyCount; ++k)
         if (build.keys->columnSlot(k) == slot) return k;
      for (uint32_t i = 0; i < build.payload.size(); ++i)
         if (build.payload[i] == slot) return keyCount + i;
      build.payload.push_back(slot);
      types.push_back(table_[column].repr.physical);
      return static_cast<uint32_t>(types.size() - 1);
   }

   const std::vector<sql::ColumnId>& output_;
   const sql::plan::HashJoin& join_;
   const sql::ColumnTable& table_;
   const ColumnSlots probe_, build_;
};

} // namespace

namespace {

/// The shape of joins with rows put aside. Such a row has the keys, then columns `slots` of the probe batches.
void makeAsideShape(const HashJoinShape& shape, const sql::plan::HashJoin& join, HashJoinShape& aside,
                    std::vector<PhysicalType>& types, std::vector<uint32_t>& slots) {
   aside = shape;
   aside.probeKeys = nullptr;
   const auto keyCount = static_cast<uint32_t>(join.keys.size());
   for (const sql::plan::JoinKey& key : join.keys)
      types.push_back(key.probe->repr.physical);
   for (Column& column : aside.columns) {
      if (column.from != Column::From::Probe) continue;
      const uint32_t slot = column.source;
      column.source = UINT32_MAX;
      for (uint32_t k = 0; k < keyCount && column.source == UINT32_MAX; ++k)
         if (shape.probeKeys->columnSlot(k) == slot) column.source = k;
      for (uint32_t i = 0; i < slots.size() && column.source == UINT32_MAX; ++i)
         if (slots[i] == slot) column.source = keyCount + i;
      if (column.source != UINT32_MAX) continue;
      slots.push_back(slot);
      types.push_back(column.type);
      column.source = static_cast<uint32_t>(types.size() - 1);
   }
}

} // namespace

std::vector<Stage> buildHashJoin(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& join = node.as<sql::plan::HashJoin>();
   QueryContext& context = builder.context();
   auto* shape = builder.own<HashJoinShape>();
   BuildShape build;
   std::vector<PhysicalType> types;
   ShapeBuilder(node, context.columns()).run(*shape, build, types);

   std::vector<HashJoinRows::Key> keys;
   for (const sql::plan::JoinKey& key : join.keys)
      keys.push_back({key.build->repr.physical, key.nullsEqual, nullptr});
   if (context.settings().runtimeFilters && sql::joinDropsUnmatchedProbe(join.kind))
      for (const sql::plan::RuntimeFilterSource& source : join.runtimeFilterSources)
         if (!keys[source.key].nullsEqual) keys[source.key].filter = &builder.runtimeFilter(source.filter);

   auto* rows = builder.own<HashJoinRows>(std::move(keys), types, givesBuiltRowsLast(join.kind));
   auto* asideShape = builder.own<HashJoinShape>();
   std::vector<PhysicalType> asideTypes;
   std::vector<uint32_t> asideSlots;
   makeAsideShape(*shape, join, *asideShape, asideTypes, asideSlots);
   auto* spill = builder.own<HashJoinSpill>(*rows, asideTypes, std::move(asideSlots), givesBuiltRowsLast(join.kind),
                                            join.kind, context.budget());
   auto* table = builder.own<HashJoinTable>(*rows, spill->buildGrant());
   if (join.keyLookup != 0 && sql::joinDropsUnmatchedProbe(join.kind))
      table->lookUp(builder.keyLookup(join.keyLookup), join.keyLookupKeys);
   builder.buildIsUnique[&node] = [table] { return table->isUnique(); };
   const uint32_t profile = builder.profileOf(node);
   // The build side first: scans of the probe side use the filters that the build side publishes.
   builder.addPipeline(builder.produce(*node.children[1]), builder.own<HashJoinBuild>(std::move(build), *table, *spill),
                       profile);
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   PlanBuilder::append(stages, builder.own<HashJoinProbe>(*shape, *table, *spill), profile);
   const auto addStage = [&](Source* source) {
      Stage stage;
      stage.source = source;
      stage.sourceProfile = profile;
      stages.push_back(std::move(stage));
   };
   if (givesBuiltRowsLast(join.kind)) addStage(builder.own<BuiltRows>(*shape, *table));
   if (context.canSpill()) addStage(builder.own<HashJoinPartitions>(*asideShape, *table, *spill));
   return stages;
}

} // namespace ouzel::executor
