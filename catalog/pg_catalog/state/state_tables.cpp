#include "catalog/object/acl.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/row_security.hpp"
#include "catalog/pg_catalog/producers.hpp"
#include "common/base_type/network_address_parse.hpp"

// System tables of the server's state, from SystemState.

namespace ouzel::catalog {

namespace {

/// An address as a value of type inet.
std::optional<std::string> inetBytes(const std::optional<std::string>& text) {
   const auto parsed = text ? parseNetworkAddress(*text, false) : std::nullopt;
   if (!parsed) return std::nullopt;
   Arena arena;
   return std::string(networkAddressBytes(*parsed, arena).view());
}

void pgSettings(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::Setting& s : context.state->settings()) {
      row.text(s.name).text(s.value).nullable(s.unit).text(s.category).text(s.description).nullable(s.extraDescription);
      row.text(s.context).text(s.type).text(s.source).nullable(s.minimum).nullable(s.maximum);
      if (s.choices.empty())
         row.null();
      else
         row.textArray(s.choices);
      row.text(s.bootValue).text(s.resetValue).nulls(2).boolean(false).emit();
   }
}

constexpr Oid readAllStats = 3375; ///< the predefined role pg_read_all_stats

void pgStatActivity(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::Activity& a : context.state->activity()) {
      const DatabasePtr database = context.snapshot.database(a.database);
      const RolePtr role = context.snapshot.role(a.role);
      const Oid viewer = context.state->role();
      if (!ownsObject(context.snapshot, viewer, a.role) && !inheritsFrom(context.snapshot, viewer, readAllStats)) {
         row.oid(a.database).textOrNull(database ? database->name : "").int4(a.pid).null();
         row.oid(a.role).textOrNull(role ? role->name : "").text(a.applicationName).nulls(13);
         row.text("<insufficient privilege>").null().emit();
         continue;
      }
      const auto nullableOid = [&](Oid oid) { oid != invalidOid ? row.oid(oid) : row.null(); };
      nullableOid(a.database);
      row.textOrNull(database ? database->name : "").int4(a.pid).null();
      nullableOid(a.role);
      row.textOrNull(role ? role->name : "")
          .text(a.applicationName)
          .nullable(inetBytes(a.clientAddress))
          .null()
          .int4(a.clientPort);
      row.timestamp(a.backendStart).timestamp(a.transactionStart).timestamp(a.queryStart).timestamp(a.stateChange);
      row.nullable(a.waitEventType)
          .nullable(a.waitEvent)
          .textOrNull(a.state)
          .nulls(3)
          .text(a.query)
          .text(a.backendType);
      row.emit();
   }
}

void pgHbaFileRules(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const AccessRuleRow& rule : context.state->accessRules()) {
      row.int4(rule.line).text(rule.type).textArray(rule.databases).textArray(rule.users);
      row.textOrNull(rule.address).textOrNull(rule.mask).text(rule.method);
      if (rule.options.empty())
         row.null();
      else
         row.textArray(rule.options);
      row.null().emit();
   }
}

void pgIdentFileMappings(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const UserMapRow& line : context.state->userMaps())
      row.int4(line.line).text(line.map).text(line.systemName).text(line.role).null().emit();
}

void pgStatProgressCopy(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::Copy& c : context.state->copies()) {
      const DatabasePtr database = context.snapshot.database(c.database);
      row.int4(c.pid).oid(c.database).textOrNull(database ? database->name : "").oid(c.relation);
      row.text(c.command).text(c.type).int8(c.bytesProcessed).int8(c.bytesTotal);
      row.int8(c.tuplesProcessed).int8(c.tuplesExcluded).emit();
   }
}

void pgLocks(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::Lock& l : context.state->locks()) {
      const auto oidOrNull = [&](const std::optional<Oid>& value) { value ? row.oid(*value) : row.null(); };
      row.text(l.type);
      // A shared object, such as a database, is said to be in database 0.
      oidOrNull(l.database == invalidOid && l.type != "object" ? std::nullopt : std::optional(l.database));
      oidOrNull(l.relation);
      row.nulls(2); // page, tuple
      l.isOwn ? row.text(l.owner) : row.null();
      oidOrNull(l.transactionId ? std::optional(static_cast<Oid>(*l.transactionId)) : std::nullopt);
      oidOrNull(l.classId);
      oidOrNull(l.objectId);
      l.objectSubId ? row.int2(*l.objectSubId) : row.null();
      row.text(l.owner);
      l.pid != 0 ? row.int4(l.pid) : row.null();
      row.text(l.mode).boolean(l.isGranted).boolean(false).null().emit();
   }
}

void pgPreparedXacts(const SystemContext& context, RowBuilder& row) {
   for (const PreparedTransactionPtr& prepared : context.snapshot.preparedTransactions()) {
      const auto number = context.state ? context.state->preparedNumber(prepared->name) : std::nullopt;
      const RolePtr owner = context.snapshot.role(prepared->owner);
      const DatabasePtr database = context.snapshot.database(prepared->database);
      number ? row.oid(*number) : row.null();
      row.text(prepared->name).timestamp(prepared->preparedAt);
      owner ? row.text(owner->name) : row.null();
      database ? row.text(database->name) : row.null();
      row.emit();
   }
}

void pgPreparedStatements(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::PreparedStatement& p : context.state->preparedStatements())
      row.text(p.name)
          .text(p.statement)
          .timestamp(p.preparedAt)
          .regtypeArray(p.parameterTypes)
          .boolean(p.isFromSql)
          .int8(0)
          .int8(0)
          .emit();
}

void pgCursors(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::Cursor& c : context.state->cursors())
      row.text(c.name)
          .text(c.statement)
          .boolean(c.isHoldable)
          .boolean(c.isBinary)
          .boolean(c.isScrollable)
          .timestamp(c.createdAt)
          .emit();
}

void pgTimezoneNames(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::TimeZone& z : context.state->timeZones())
      row.text(z.name).text(z.abbreviation).interval(z.offsetMicros).boolean(z.isDst).emit();
}

void pgTimezoneAbbrevs(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::TimeZone& z : context.state->timeZoneAbbreviations())
      row.text(z.abbreviation).interval(z.offsetMicros).boolean(z.isDst).emit();
}

void pgSequences(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : context.snapshot.relations()) {
      if (!r->sequence) continue;
      const SequenceDefinition& s = *r->sequence;
      const SchemaPtr schema = context.snapshot.schema(r->schema);
      const RolePtr owner = context.snapshot.role(r->owner);
      row.text(schema ? schema->name : "").text(r->name).text(owner ? owner->name : "").oid(s.type.oid);
      row.int8(s.start).int8(s.minimum).int8(s.maximum).int8(s.increment).boolean(s.cycles).int8(s.cache);
      const auto value = context.state != nullptr ? context.state->sequenceValue(*r) : std::nullopt;
      row.timestamp(value && value->isCalled ? std::optional(value->value) : std::nullopt).emit();
   }
}

/// One column's paths.
void jsonPathsOf(const SystemContext& context, const Relation& relation, const Column& column, uint32_t number,
                 RowBuilder& row) {
   for (const SystemState::JsonPath& path : context.state->jsonPaths(relation.storage, number)) {
      const SchemaPtr schema = context.snapshot.schema(relation.schema);
      row.oid(relation.oid).textOrNull(schema ? schema->name : "").text(relation.name).text(column.name);
      row.textArray(path.keys);
      row.int8(path.objects + path.arrays + path.strings + path.numbers + path.booleans + path.nulls);
      row.int8(path.objects).int8(path.arrays).int8(path.strings).int8(path.numbers).int8(path.booleans);
      row.int8(path.nulls).numeric(path.numberMin).numeric(path.numberMax).date(path.dateMin).date(path.dateMax);
      (path.distinct ? row.int8(*path.distinct) : row.null()).emit();
   }
}

void ouzelStatJsonPaths(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const RelationPtr& relation : context.snapshot.relations()) {
      if (relation->relationKind != RelationKind::Table || !relation->hasOwnRows()) continue;
      if (isRestricted(context.snapshot, context.state->role(), *relation)) continue; // as pg_stats
      for (size_t i = 0; i < relation->columns.size(); ++i)
         if (const Column& column = relation->columns[i];
             column.type.oid == oid::jsonb && !column.isDropped &&
             mayUseColumn(context.snapshot, context.state->role(), *relation, column, privilege::select))
            jsonPathsOf(context, *relation, column, static_cast<uint32_t>(i), row);
   }
}

void ouzelStatMemory(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const auto& [name, bytes] : context.state->memory())
      row.text(name).int8(bytes).emit();
}

void ouzelStatSpill(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::SpillDevice& d : context.state->spillDevices()) {
      row.text(d.directory).int8(d.bytesAllocated).int8(d.bytesInUse).int8(d.rawBytesWritten).int8(d.bytesWritten);
      row.int8(d.rawBytesRead).int8(d.bytesRead);
      d.writeBandwidth ? row.int8(*d.writeBandwidth) : row.null();
      d.readBandwidth ? row.int8(*d.readBandwidth) : row.null();
      d.roundMicros ? row.float8(*d.roundMicros) : row.null();
      // What the device could read in the time of a round: REMOP's tau.
      const bool isKnown = d.roundMicros && d.readBandwidth;
      isKnown ? row.int8(static_cast<int64_t>(*d.roundMicros / 1e6 * static_cast<double>(*d.readBandwidth)))
              : row.null();
      row.int8(d.writeRequests).int8(d.readRequests).int8(d.failures).int8(d.readRounds);
      row.float8(d.writeWaitMillis).float8(d.readWaitMillis).emit();
   }
}

void ouzelStatCompression(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::CompressionDecision& d : context.state->compressionDecisions())
      row.timestamp(d.at)
          .int4(d.lane)
          .text(d.directory)
          .text(d.levelBefore)
          .text(d.levelAfter)
          .float4(d.cpuNanos)
          .float4(d.ioNanos)
          .emit();
}

/// As pg_stat_activity, without the rows of other roles' sessions.
void ouzelStatProgress(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   const Oid viewer = context.state->role();
   for (const SystemState::Progress& p : context.state->progress()) {
      if (!ownsObject(context.snapshot, viewer, p.role) && !inheritsFrom(context.snapshot, viewer, readAllStats))
         continue;
      row.int4(p.pid)
          .oid(p.database)
          .int4(p.pipeline)
          .text(p.source)
          .text(p.state)
          .int8(p.rowsDone)
          .int8(p.rowsExpected);
      row.float8(p.share).float8(p.seconds).float8(p.queryShare).float8(p.querySeconds);
      p.querySecondsLeft ? row.float8(*p.querySecondsLeft) : row.null();
      row.emit();
   }
}

void ouzelStatObjectStore(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   for (const SystemState::StoreRequests& r : context.state->storeRequests()) {
      row.text(r.kind).int8(r.requests).int8(r.bytes).int8(r.errors).int8(r.retries).int8(r.hedges).int8(r.hedgesWon);
      row.int8(r.throttled).int8(r.active).float8(r.estimatedCost);
      r.limit ? row.int8(*r.limit) : row.null();
      r.bandwidth ? row.int8(*r.bandwidth) : row.null();
      r.latencyMs ? row.float8(*r.latencyMs) : row.null();
      row.emit();
   }
}

void ouzelStatCache(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   const auto cache = context.state->objectCache();
   if (!cache) return;
   row.int8(cache->size).int8(cache->bytesUsed).int8(cache->regions).int8(cache->hits).int8(cache->hitBytes);
   row.int8(cache->misses).int8(cache->missBytes).int8(cache->joins).int8(cache->fills).int8(cache->droppedFills);
   row.int8(cache->evictions).int8(cache->corruptions).int8(cache->errors).emit();
}

/// The values of all sequences. Reading a sequence as a table is a query over this table.
void ouzelSequenceValues(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : context.snapshot.relations()) {
      if (!r->sequence || context.state == nullptr) continue;
      if (!mayUse(context.snapshot, context.state->role(), *r, privilege::select)) continue;
      if (const auto value = context.state->sequenceValue(*r))
         row.oid(r->oid).int8(value->value).boolean(value->isCalled).emit();
   }
}

constexpr NamedProducer tables[] = {
    {"pg_settings", pgSettings},
    {"pg_stat_activity", pgStatActivity},
    {"pg_hba_file_rules", pgHbaFileRules},
    {"pg_ident_file_mappings", pgIdentFileMappings},
    {"pg_stat_progress_copy", pgStatProgressCopy},
    {"pg_locks", pgLocks},
    {"pg_prepared_statements", pgPreparedStatements},
    {"pg_prepared_xacts", pgPreparedXacts},
    {"pg_cursors", pgCursors},
    {"pg_timezone_names", pgTimezoneNames},
    {"pg_timezone_abbrevs", pgTimezoneAbbrevs},
    {"pg_sequences", pgSequences},
    {"ouzel_sequence_values", ouzelSequenceValues},
    {"ouzel_stat_json_paths", ouzelStatJsonPaths},
    {"ouzel_stat_memory", ouzelStatMemory},
    {"ouzel_stat_spill", ouzelStatSpill},
    {"ouzel_stat_compression", ouzelStatCompression},
    {"ouzel_stat_progress", ouzelStatProgress},
    {"ouzel_stat_object_store", ouzelStatObjectStore},
    {"ouzel_stat_cache", ouzelStatCache},
};

} // namespace

std::span<const NamedProducer> stateProducers() {
   return tables;
}

} // namespace ouzel::catalog
