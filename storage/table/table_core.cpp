#include "storage/table/table_core.hpp"

#include <cstdio>

#include "common/error/sql_error.hpp"
#include "storage/base/table_place.hpp"

namespace ouzel::storage {

std::string StorageContext::newBlockName(StorageId table, SegmentId segment) {
   char name[128];
   std::snprintf(name, sizeof name, "block/%010llx-%s-%llu", static_cast<unsigned long long>(segment),
                 sessionTag.c_str(), static_cast<unsigned long long>(nextObject.fetch_add(1)));
   return prefixOf(table) + name;
}

TableCore::TableCore(StorageContext& ctx, StorageId tableId, std::vector<ColumnDefinition> definitions)
   : context(ctx), id(tableId), shares(ctx.lockMemory),
     columns(std::make_shared<const std::vector<ColumnDefinition>>(std::move(definitions))),
     segments(std::make_shared<const SegmentList>()) {}

TableCore::~TableCore() {
   for (const SegmentPtr& segment : *segments)
      if (segment->retiredAt != 0 && segment->delta) context.retiredDeltaBytes -= segment->delta->bytes();
   if (!isDropped) return;
   for (const SegmentPtr& segment : *segments)
      if (segment->block) segment->block->retire(context.garbage);
}

void TableCore::requireSound() const {
   if (damage.empty()) return;
   throw SqlError(sqlstate::dataCorrupted,
                  "table with storage id " + std::to_string(static_cast<uint64_t>(id)) + " is damaged: " + damage)
       .hint("Other tables are not affected. Restore the object from a copy and start again, or drop the table.");
}

std::vector<PhysicalType> TableCore::physicalTypes() const {
   std::vector<PhysicalType> types;
   for (const ColumnDefinition& column : *columns)
      types.push_back(column.representation.physical);
   return types;
}

std::vector<Value> TableCore::missingValues() const {
   std::vector<Value> values;
   for (const ColumnDefinition& column : *columns)
      values.push_back(column.missing);
   return values;
}

std::shared_ptr<const SegmentList> TableCore::segmentList() const {
   const MutexLock lock(mutex);
   return segments;
}

void TableCore::addSegment(SegmentPtr segment) {
   auto list = std::make_shared<SegmentList>(*segments);
   list->push_back(std::move(segment));
   segments = std::move(list);
}

void TableCore::addColumn(ColumnDefinition definition) {
   auto wider = std::make_shared<std::vector<ColumnDefinition>>(*columns);
   wider->push_back(std::move(definition));
   columns = std::move(wider);
}

SegmentPtr TableCore::newDeltaSegment(SegmentId segmentId, JsonExtraction extraction) {
   auto segment = std::make_shared<Segment>();
   segment->id = segmentId;
   segment->versions = std::make_shared<SegmentVersions>();
   segment->delta =
       std::make_shared<Delta>(physicalTypes(), context.deltaMemory, DocumentColumns::of(*columns, extraction));
   return segment;
}

SegmentPtr TableCore::deltaWithRoom(uint32_t rows, JsonExtraction extraction) {
   const bool fits = openDelta && openDelta->delta->room() >= rows && openDelta->columnCount() == columns->size() &&
                     openDelta->delta->documents().extraction == extraction;
   if (!fits) {
      openDelta = newDeltaSegment(context.ids.newSegment(), extraction);
      addSegment(openDelta);
   }
   return openDelta;
}

SegmentPtr TableCore::findSegment(SegmentId segmentId) const {
   const auto list = segmentList();
   for (const SegmentPtr& segment : *list)
      if (segment->id == segmentId) return segment;
   return nullptr;
}

} // namespace ouzel::storage
