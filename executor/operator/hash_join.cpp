#include <algorithm>
#include <cstring>

#include "executor/materialize/key_hash.hpp"
#include "executor/operator/hash_join_probe.hpp"

// Building a hash join: the sink that fills the table, the stage that gives built rows by their match flags, and the
// translation of the plan node.

namespace ouzel::executor {

using sql::JoinKind;
using Column = HashJoinShape::Column;

namespace {

/// What the build side is made of.
struct BuildShape {
   std::shared_ptr<const ExpressionProgram> keys;
   std::vector<uint32_t> payload; ///< slots of the build batches, stored behind the keys
   /// Rows with a NULL key are given, though they match nothing.
   bool keepsNullKeys = false;
};

struct BuildLocal final : LocalState {
   BuildLocal(const BuildShape& shape, HashJoinTable& table, QueryContext& context)
      : keys(shape.keys, context.functions(), &context.memory()), vectors(table.layout().columnCount()),
        rows(table.layout(), table.memory()), unjoinable(table.layout(), table.memory()), bounds(table.keys().size()) {}

   ExpressionState keys;
   std::vector<Vector> vectors;
   LiveColumns columns;
   JoinRows rows, unjoinable;
   std::vector<HashJoinTable::KeyBounds> bounds;
   bool sawNullKey = false;
   uint64_t hashes[batchRowsMax];
   std::byte* targets[batchRowsMax];
   RowIndex joinable[batchRowsMax], nullKeyed[batchRowsMax];
};

class HashJoinBuild final : public Sink {
public:
   HashJoinBuild(BuildShape shape, HashJoinTable& table) : shape_(std::move(shape)), table_(table) {}

   void prepare(QueryContext&) override { table_.reset(); }
   LocalStatePtr makeLocal(QueryContext& context) override {
      return std::make_unique<BuildLocal>(shape_, table_, context);
   }
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext&, LocalState& state) override {
      auto& local = static_cast<BuildLocal&>(state);
      table_.merge(local.rows, local.unjoinable, local.bounds, local.sawNullKey);
   }
   uint32_t finishTasks(QueryContext& context, uint32_t round) override {
      return round == 0 ? table_.openDirectory(context) : 0;
   }
   void finishTask(QueryContext& context, uint32_t, uint32_t task) override { table_.insert(context, task); }
   void finish(QueryContext& context) override { table_.publish(context); }
   void describe(OperatorProfile& profile) const override { table_.describe(profile); }

private:
   Selection splitNullKeys(BuildLocal& local, const Batch& in, uint32_t& nullKeyed);

   const BuildShape shape_;
   HashJoinTable& table_;
};

/// Rows without NULL in a key that NULL cannot match; the others are listed in local.nullKeyed.
Selection HashJoinBuild::splitNullKeys(BuildLocal& local, const Batch& in, uint32_t& nullKeyed) {
   Selection rows = in.selection;
   for (uint32_t k = 0; k < table_.keys().size(); ++k) {
      const Vector& key = local.vectors[k];
      if (table_.keys()[k].nullsEqual || !key.mayHaveNulls()) continue;
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
   const auto keyCount = static_cast<uint32_t>(table_.keys().size());
   shape_.keys->evaluateAll(local.keys, in, in.selection, local.vectors.data());
   for (size_t i = 0; i < shape_.payload.size(); ++i)
      local.vectors[keyCount + i] = in.columns[shape_.payload[i]];

   uint32_t nullKeyed = 0;
   const Selection rows = splitNullKeys(local, in, nullKeyed);
   if (nullKeyed > 0) local.sawNullKey = true;
   if (rows.count() > 0) {
      local.columns.bind(local.vectors, rows);
      const uint32_t count = rows.count();
      local.rows.allocate(count, local.targets);
      if (!table_.hasSimpleKey() && !context.settings().zeroHashes) {
         hashKeys(local.columns.data(), keyCount, count, false, local.hashes);
         for (uint32_t i = 0; i < count; ++i)
            *reinterpret_cast<uint64_t*>(local.targets[i]) = local.hashes[i];
      }
      for (uint32_t k = 0; k < keyCount; ++k)
         if (table_.wantsBounds(k)) local.bounds[k].add(local.columns[k], count);
      local.rows.write(local.columns.data(), count, local.targets);
   }
   if (nullKeyed > 0 && shape_.keepsNullKeys) {
      // Found key by key, so they may be out of order.
      std::sort(local.nullKeyed, local.nullKeyed + nullKeyed);
      local.columns.bind(local.vectors, Selection::list(local.nullKeyed, nullKeyed));
      local.unjoinable.allocate(nullKeyed, local.targets);
      local.unjoinable.write(local.columns.data(), nullKeyed, local.targets);
   }
   return SinkStatus::NeedInput;
}

struct FlaggedLocal final : LocalState {
   JoinRows::Page* page = nullptr;
   uint32_t next = 0;
   bool isJoinable = true;
   std::unique_ptr<Arena> arena;
   struct Buffer {
      void* data = nullptr;
      ValidityWord* validity = nullptr;
   };
   std::vector<Buffer> buffers;
   const std::byte* rows[batchRowsMax];
};

/// After the probe: the built rows that had a match (RightSemi) or had none (Right, Full, RightAnti).
class FlaggedRows final : public Source {
public:
   FlaggedRows(const HashJoinShape& shape, HashJoinTable& table) : shape_(shape), table_(table) {}

   void prepare(QueryContext&) override { nextPage_.store(0); }
   uint32_t workersMax() const override {
      return static_cast<uint32_t>(std::clamp<size_t>(table_.pages().size(), 1, 1024));
   }
   LocalStatePtr makeLocal(QueryContext& context) override {
      auto local = std::make_unique<FlaggedLocal>();
      local->arena = std::make_unique<Arena>(&context.memory());
      local->buffers.resize(shape_.outputCount);
      for (uint32_t c = 0; c < shape_.outputCount; ++c) {
         if (shape_.columns[c].from != Column::From::Build) continue;
         local->buffers[c].data =
             local->arena->allocate(size_t{physicalSize(shape_.columns[c].type)} * batchRowsMax, 16);
         local->buffers[c].validity = local->arena->allocateArray<ValidityWord>(validityWords(batchRowsMax));
      }
      return local;
   }
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;

private:
   const HashJoinShape& shape_;
   HashJoinTable& table_;
   std::atomic<size_t> nextPage_{0};
};

SourceStatus FlaggedRows::next(QueryContext& context, LocalState& state, Batch& out) {
   auto& local = static_cast<FlaggedLocal&>(state);
   const RowLayout& layout = table_.layout();
   const uint32_t rowsMax = std::clamp(context.settings().batchRows, 1u, batchRowsMax);
   if (!local.page) {
      const size_t index = nextPage_.fetch_add(1), joinable = table_.pages().size();
      local.isJoinable = index < joinable;
      if (!local.isJoinable && index - joinable >= table_.unjoinablePages().size()) {
         out.setDense(0);
         return SourceStatus::Done;
      }
      local.page = local.isJoinable ? &table_.pages()[index] : &table_.unjoinablePages()[index - joinable];
      local.next = 0;
   }
   const bool wanted = shape_.kind == JoinKind::RightSemi;
   const std::byte* row = local.page->memory.as<const std::byte>() + size_t{local.next} * layout.rowSize();
   uint32_t count = 0;
   for (; local.next < local.page->rowCount && count < rowsMax; ++local.next, row += layout.rowSize()) {
      local.rows[count] = row;
      count += table_.isMatched(row) == wanted;
   }
   if (local.next == local.page->rowCount) local.page = nullptr;
   out.columns.resize(shape_.outputCount);
   for (uint32_t c = 0; c < shape_.outputCount; ++c) {
      const Column& column = shape_.columns[c];
      if (column.from != Column::From::Build) {
         out.columns[c] = nullConstant(column.type);
         continue;
      }
      const auto& buffer = local.buffers[c];
      const bool hasNulls =
          gatherColumn(layout, column.source, local.rows, count, false, {buffer.data, buffer.validity});
      out.columns[c] = Vector::flat(column.type, buffer.data, hasNulls ? buffer.validity : nullptr);
   }
   out.setDense(count);
   return SourceStatus::HaveOutput;
}

bool givesBuiltRowsLast(JoinKind kind) {
   return kind == JoinKind::Right || kind == JoinKind::Full || kind == JoinKind::RightSemi ||
          kind == JoinKind::RightAnti;
}

/// The probe side may be thinned out by what the build side knows.
bool mayFilterProbe(JoinKind kind) {
   return kind == JoinKind::Inner || kind == JoinKind::Semi || kind == JoinKind::Right || kind == JoinKind::RightSemi ||
          kind == JoinKind::RightAnti;
}

/// Decides which build columns are stored, and where joined rows take their columns from.
class ShapeBuilder {
public:
   ShapeBuilder(const sql::plan::Node& node, const sql::ColumnTable& table)
      : node_(node), table_(table), probe_(std::span(node.children[0]->output)),
        build_(std::span(node.children[1]->output)) {}

   void run(HashJoinShape& shape, BuildShape& build, std::vector<PhysicalType>& types) {
      std::vector<const sql::Expr*> probeKeys, buildKeys;
      for (const sql::plan::JoinKey& key : node_.joinKeys) {
         probeKeys.push_back(key.probe.get());
         buildKeys.push_back(key.build.get());
         types.push_back(key.build->repr.physical);
      }
      shape.kind = node_.joinKind;
      shape.nullAware = node_.nullAware;
      shape.probeKeys = ExpressionProgram::compile(std::span(probeKeys), probe_, table_);
      build.keys = ExpressionProgram::compile(std::span(buildKeys), build_, table_);
      build.keepsNullKeys = node_.joinKind == JoinKind::Right || node_.joinKind == JoinKind::Full ||
                            node_.joinKind == JoinKind::RightAnti;
      for (const sql::ColumnId column : node_.output)
         addColumn(shape, build, types, column);
      shape.outputCount = static_cast<uint32_t>(shape.columns.size());
      if (node_.predicates.empty()) return;

      std::vector<sql::ColumnId> layout = node_.output, read;
      for (const sql::ExprPtr& predicate : node_.predicates)
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
      shape.residual = ExpressionProgram::compileConjunction(node_.predicates, ColumnSlots(std::span(layout)), table_);
   }

private:
   void addColumn(HashJoinShape& shape, BuildShape& build, std::vector<PhysicalType>& types, sql::ColumnId column) {
      const PhysicalType type = table_[column].repr.physical;
      if (node_.joinKind == JoinKind::Mark && column == node_.markColumn) {
         shape.columns.push_back({Column::From::Mark, 0, PhysicalType::Bool, false});
      } else if (const auto slot = probe_.find(column)) {
         shape.columns.push_back({Column::From::Probe, *slot, type, false});
      } else if (const auto built = build_.find(column)) {
         shape.columns.push_back({Column::From::Build, storedColumn(build, types, column, *built), type, false});
      } else {
         throwInternal("a joined column that no side gives");
      }
   }

   /// Number of the build column in stored rows: a key that is just this column serves as well.
   uint32_t storedColumn(BuildShape& build, std::vector<PhysicalType>& types, sql::ColumnId column, uint32_t slot) {
      const auto keyCount = static_cast<uint32_t>(node_.joinKeys.size());
      for (uint32_t k = 0; k < keyCount; ++k)
         if (build.keys->columnSlot(k) == slot) return k;
      for (uint32_t i = 0; i < build.payload.size(); ++i)
         if (build.payload[i] == slot) return keyCount + i;
      build.payload.push_back(slot);
      types.push_back(table_[column].repr.physical);
      return static_cast<uint32_t>(types.size() - 1);
   }

   const sql::plan::Node& node_;
   const sql::ColumnTable& table_;
   const ColumnSlots probe_, build_;
};

} // namespace

std::vector<Stage> buildHashJoin(PlanBuilder& builder, const sql::plan::Node& node) {
   QueryContext& context = builder.context();
   auto* shape = builder.own<HashJoinShape>();
   BuildShape build;
   std::vector<PhysicalType> types;
   ShapeBuilder(node, context.columns()).run(*shape, build, types);

   std::vector<HashJoinTable::Key> keys;
   for (const sql::plan::JoinKey& key : node.joinKeys)
      keys.push_back({key.build->repr.physical, key.nullsEqual, nullptr});
   if (context.settings().runtimeFilters && mayFilterProbe(node.joinKind))
      for (const sql::plan::RuntimeFilterSource& source : node.runtimeFilterSources)
         if (!keys[source.key].nullsEqual) keys[source.key].filter = &builder.runtimeFilter(source.filter);

   auto* table =
       builder.own<HashJoinTable>(std::move(keys), types, givesBuiltRowsLast(node.joinKind), context.memory());
   if (node.keyLookup != 0 && mayFilterProbe(node.joinKind))
      table->lookUp(builder.keyLookup(node.keyLookup), node.keyLookupKeys);
   const uint32_t profile = builder.profileOf(node);
   // The build side first: scans of the probe side use what it publishes.
   builder.addPipeline(builder.produce(*node.children[1]), builder.own<HashJoinBuild>(std::move(build), *table),
                       profile);
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   PlanBuilder::append(stages, builder.own<HashJoinProbe>(*shape, *table), profile);
   if (givesBuiltRowsLast(node.joinKind)) {
      Stage last;
      last.source = builder.own<FlaggedRows>(*shape, *table);
      last.sourceProfile = profile;
      stages.push_back(std::move(last));
   }
   return stages;
}

} // namespace ouzel::executor
