#include "executor/operator/scan/scan_sources.hpp"

#include <algorithm>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "common/format.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::executor {

/// The whole table's specification, or that of a part of it, which may number the columns in another way.
storage::ScanSpec ScanSources::specOf(const sql::TablePart* part, const storage::ScanSpec& whole) {
   storage::ScanSpec spec = whole;
   if (!part || !part->attributes) return spec;
   const auto own = [&](uint32_t& column) {
      if (column == storage::ScanSpec::rowIdColumn) return;
      const int16_t attribute = part->attributeOf(static_cast<int16_t>(column + 1));
      column = attribute == 0 ? storage::ScanSpec::rowIdColumn : static_cast<uint32_t>(attribute - 1);
   };
   for (uint32_t& column : spec.columns)
      own(column);
   for (storage::ScanPath& path : spec.paths)
      own(path.column);
   for (storage::ZonePredicate& zone : spec.zonePredicates)
      own(zone.column);
   for (storage::ValuePredicate& values : spec.valuePredicates)
      own(values.column);
   if (spec.order) {
      const int16_t attribute = part->attributeOf(static_cast<int16_t>(spec.order->column + 1));
      if (attribute == 0)
         spec.order.reset();
      else
         spec.order->column = static_cast<uint32_t>(attribute - 1);
   }
   if (spec.keys && spec.keys->computed) // the computation is over the whole table's columns
      spec.keys.reset();
   if (spec.keys)
      for (uint32_t& column : spec.keys->columns)
         own(column);
   return spec;
}

void ScanSources::add(QueryContext& context, const sql::TablePart* part, const storage::ScanSpec& spec,
                      const storage::Snapshot& snapshot) {
   if (part && !part->wrapper.empty()) // a plan without pruning has it
      catalog::throwNoAccess(part->wrapper, part->hasHandler, "reading foreign tables as partitions or heirs");
   storage::Table* table =
       context.execution.table(part ? static_cast<uint64_t>(part->relation->storage) : plan_.table.storageId);
   storage::ScanSpec own = specOf(part, spec);
   if (storage::Transaction* transaction = context.execution.transaction) {
      transaction->noteRead(table->id(), own);
      own.use = transaction->use().of(table->sharedUse());
   }
   used_.push_back(useOf(own));
   sources_.push_back(table->scan(snapshot, std::move(own)));
   Constants& constants = constants_.emplace_back();
   constants.relation = part ? part->relation->oid : plan_.table.relation;
   const size_t count = plan_.columns.size();
   std::vector<bool> isOid(count), isAbsent(count);
   for (size_t i = 0; i < count; ++i) {
      const int16_t attribute = plan_.columns[i].attribute;
      isOid[i] = attribute == sql::tableOidAttribute;
      isAbsent[i] = part && attribute > 0 && part->attributeOf(attribute) == 0;
   }
   const auto any = [](const std::vector<bool>& flags) {
      return std::find(flags.begin(), flags.end(), true) != flags.end();
   };
   if (!any(isOid) && !any(isAbsent)) return;
   constants.isOid = std::move(isOid);
   constants.isAbsent = std::move(isAbsent);
}

void ScanSources::foresee(QueryContext& context, const storage::ScanSpec& spec) {
   storage::Table* table = context.execution.table(plan_.table.storageId);
   if (!table->isRemote()) return;
   storage::ScanSpec own = spec;
   if (context.execution.transaction) own.use = context.execution.transaction->use().of(table->sharedUse());
   foreseenUse_ = own.use;
   sources_.push_back(table->scan(*context.execution.snapshot, std::move(own)));
   constants_.emplace_back().relation = plan_.table.relation;
   sources_[0]->readAhead();
   isForeseen_ = true;
}

void ScanSources::start(QueryContext& context, const storage::ScanSpec& spec, size_t foreseenZones,
                        const storage::Snapshot& snapshot, const std::function<void(sql::TableRef&)>& keep) {
   if (std::exchange(isForeseen_, false)) {
      storage::Table* table = context.execution.table(plan_.table.storageId);
      if (context.execution.transaction) context.execution.transaction->noteRead(table->id(), spec);
      sources_[0]->narrow(std::span(spec.zonePredicates).subspan(foreseenZones));
      storage::ScanSpec own = spec;
      own.use = foreseenUse_;
      used_.assign(1, useOf(own));
      return;
   }
   sources_.clear();
   constants_.clear();
   used_.clear();
   table_ = plan_.table;
   if (!table_.parts) return add(context, nullptr, spec, snapshot);
   keep(table_);
   forEachPart(table_, [&](const sql::TablePart& part) { add(context, &part, spec, snapshot); });
}

bool ScanSources::isReadingAhead() const {
   return std::any_of(sources_.begin(), sources_.end(), [](const auto& one) { return one->isReadingAhead(); });
}

uint32_t ScanSources::morsels() const {
   uint32_t count = 0;
   for (const auto& source : sources_)
      count += source->morselCount();
   return count;
}

ScanSources::Used ScanSources::useOf(const storage::ScanSpec& spec) {
   storage::TableUse* use = spec.use.get();
   if (!use) return {};
   storage::LookupUse* lookup = nullptr;
   if (spec.keys) lookup = &use->lookup(spec.keys->computed ? std::vector<uint32_t>() : spec.keys->columns);
   (lookup ? lookup->scans : use->scans).fetch_add(1, std::memory_order_relaxed);
   return {spec.use, lookup ? &lookup->rows : &use->rowsScanned};
}

void ScanSources::countRows(size_t source, uint64_t rows) {
   if (used_[source].rows) used_[source].rows->fetch_add(rows, std::memory_order_relaxed);
}

double ScanSources::consumed() const {
   uint32_t passed = 0, all = 0;
   for (const auto& source : sources_) {
      passed += source->morselsPassed();
      all += source->morselCount();
   }
   return all == 0 ? 1 : static_cast<double>(passed) / all;
}

Vector ScanSources::constant(size_t source, uint32_t column) const {
   static constexpr ValidityWord absent = 0;
   alignas(16) static constexpr std::byte zeros[16] = {};
   const PhysicalType type = columns_[plan_.columns[column].column].repr.physical;
   const Constants& constants = constants_[source];
   return constants.isAbsent[column] ? Vector::constant(type, zeros, &absent)
                                     : Vector::constant(type, &constants.relation, nullptr);
}

void ScanSources::describe(OperatorProfile& profile) const {
   if (sources_.empty() && !table_.parts) return;
   if (table_.parts) profile.notes.emplace_back("Partitions", partsText(table_));
   uint32_t rowGroups = 0, skipped = 0, skippedByFilter = 0, skippedByOrder = 0;
   storage::ScanSource::NetworkReads network;
   for (const auto& source : sources_) {
      rowGroups += source->morselCount();
      skipped += source->morselsSkipped();
      skippedByFilter += source->morselsSkippedByFilter();
      skippedByOrder += source->morselsSkippedByOrder();
      network += source->networkReads();
   }
   profile.notes.emplace_back("Row Groups", std::to_string(rowGroups));
   if (skipped) profile.notes.emplace_back("Row Groups Skipped", std::to_string(skipped));
   if (skippedByFilter) profile.notes.emplace_back("Row Groups Skipped by Filter", std::to_string(skippedByFilter));
   if (skippedByOrder) profile.notes.emplace_back("Row Groups Skipped by Order", std::to_string(skippedByOrder));
   if (network.reads > 0)
      profile.notes.emplace_back("Object Reads", std::to_string(network.reads) + ", " + std::to_string(network.bytes) +
                                                     " bytes, waited for " + std::to_string(network.waits));
   if (network.sharedBytes > 0)
      profile.notes.emplace_back("Object Reads Shared", std::to_string(network.sharedBytes) + " bytes");
   if (network.requests > 0)
      profile.notes.emplace_back("Object Requests",
                                 format("{}, {} bytes, {} retries, {} hedges, ${:.7f}", network.requests,
                                        network.receivedBytes, network.retries, network.hedges, network.cost));
   if (network.cacheHits > 0)
      profile.notes.emplace_back("Object Cache Hits", std::to_string(network.cacheHits) + ", " +
                                                          std::to_string(network.cacheBytes) + " bytes");
}

} // namespace ouzel::executor
