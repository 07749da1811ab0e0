#include "executor/operator/join/hash_join_probe.hpp"

#include "executor/operator/join/join_rows.hpp"

namespace ouzel::executor {

namespace {

/// After so many rows a lane decides whether asking the filter of spilled hashes pays: when a sixteenth of the rows or
/// more have no partner.
constexpr uint64_t rowsTestedMin = 16 << 10, dropsDivisor = 16;

/// A worker's state for putting rows aside.
struct Aside {
   Aside(HashJoinSpill& spill, size_t columnCount) : buffer(spill.openProbeBuffer()), vectors(columnCount) {}

   TupleBuffer& buffer;
   JoinRowWriter writer;
   std::vector<Vector> vectors;
   LiveColumns columns;
   Batch rest; ///< the input without the rows put aside
   bool isOpen = false;
   uint64_t tested = 0, passed = 0; ///< rows of spilled partitions, by the filter of spilled hashes
   uint64_t hashes[batchRowsMax];
   RowIndex away[batchRowsMax], kept[batchRowsMax], keptLive[batchRowsMax];
};

struct Local final : LocalState {
   Local(const HashJoinShape& shape, const HashJoinTable& table, QueryContext& context)
      : prober(shape, table, context) {}

   HashJoinMatcher prober;
   std::unique_ptr<Aside> aside; ///< made if a partition was spilled
};

/// Split the input: rows that may have a partner in a spilled partition go to the buffer, all other rows to aside.rest.
void putAside(HashJoinSpill& spill, const HashJoinTable& table, HashJoinMatcher& prober, Aside& aside,
              const Batch& in) {
   const uint64_t* hashes = prober.hashInput(in);
   const LiveColumns& keys = prober.keys();
   const auto& kinds = table.rows().keys();
   const SpilledPartitions& partitions = spill.buildPartitions();
   const uint32_t live = in.liveRows();
   const auto matchesNothing = [&](uint32_t i) {
      for (uint32_t k = 0; k < kinds.size(); ++k)
         if (!kinds[k].nullsEqual && keys[k].isNull(i)) return true;
      return false;
   };
   const HashFilter* filter = spill.spilledHashes();
   if (aside.tested > rowsTestedMin && aside.tested - aside.passed < aside.tested / dropsDivisor) filter = nullptr;
   uint32_t away = 0, kept = 0, tested = 0;
   for (uint32_t i = 0; i < live; ++i) {
      const RowIndex row = in.selection.row(i);
      bool isAway = partitions.contains(partitions.partitionOf(hashes[i])) && !matchesNothing(i);
      if (isAway && filter) {
         ++tested;
         isAway = filter->mayContain(hashes[i]);
      }
      aside.away[away] = aside.kept[kept] = row;
      aside.hashes[away] = hashes[i];
      aside.keptLive[kept] = static_cast<RowIndex>(i);
      away += isAway;
      kept += !isAway;
   }
   if (tested > 0) {
      aside.tested += tested;
      aside.passed += away;
      spill.countPassed(tested, away);
   }
   if (away > 0) {
      std::copy(prober.keyVectors().begin(), prober.keyVectors().end(), aside.vectors.begin());
      for (size_t i = 0; i < spill.probeSlots().size(); ++i)
         aside.vectors[kinds.size() + i] = in.columns[spill.probeSlots()[i]];
      aside.columns.bind(aside.vectors, Selection::list(aside.away, away));
      aside.writer.write(aside.buffer, spill.probeLayout(), aside.columns.data(), away, aside.hashes);
      if (aside.buffer.wantsRelief()) aside.buffer.relieve();
      prober.keepHashes(aside.keptLive, kept);
   }
   aside.rest.columns.assign(in.columns.begin(), in.columns.end());
   aside.rest.rowCount = in.rowCount;
   aside.rest.selection = kept == live ? in.selection : Selection::list(aside.kept, kept);
}

} // namespace

LocalStatePtr HashJoinProbe::makeLocal(QueryContext& context) {
   return std::make_unique<Local>(shape_, table_, context);
}

OperatorStatus HashJoinProbe::process(QueryContext& context, LocalState& state, const Batch& in, Batch& out) {
   auto& local = static_cast<Local&>(state);
   if (!spill_.isActive()) return local.prober.process(context, in, out);
   if (!local.aside)
      local.aside = std::make_unique<Aside>(spill_, table_.rows().keys().size() + spill_.probeSlots().size());
   Aside& aside = *local.aside;
   if (!aside.isOpen) {
      putAside(spill_, table_, local.prober, aside, in);
      if (aside.rest.liveRows() == 0) {
         out.setDense(0);
         return OperatorStatus::NeedInput;
      }
   }
   const OperatorStatus status = local.prober.process(context, aside.rest, out);
   aside.isOpen = status == OperatorStatus::HaveOutput;
   return status;
}

} // namespace ouzel::executor
