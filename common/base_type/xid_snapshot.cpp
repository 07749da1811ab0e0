#include "common/base_type/xid_snapshot.hpp"

#include <algorithm>
#include <charconv>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

/// Transaction ids are signed on the wire.
constexpr uint64_t idMax = INT64_MAX;

/// Takes a number and, if `end` is not 0, the character behind it off the front.
bool takeId(std::string_view& text, char end, uint64_t& id) {
   const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), id);
   if (error != std::errc() || id > idMax) return false;
   text.remove_prefix(static_cast<size_t>(rest - text.data()));
   if (end == 0) return true;
   if (text.empty() || text.front() != end) return false;
   text.remove_prefix(1);
   return true;
}

/// Adds the next open transaction; one that is named twice counts once.
bool addOpen(XidSnapshot& snapshot, uint64_t id) {
   if (id < snapshot.xmin || id >= snapshot.xmax) return false;
   if (!snapshot.open.empty() && id < snapshot.open.back()) return false;
   if (snapshot.open.empty() || id != snapshot.open.back()) snapshot.open.push_back(id);
   return true;
}

bool areBoundsValid(const XidSnapshot& snapshot) {
   return snapshot.xmin > 0 && snapshot.xmax >= snapshot.xmin && snapshot.xmax <= idMax;
}

void put(void* target, const XidSnapshot& snapshot, Arena& arena) {
   putValue(target, arena.copyString(xidSnapshotText(snapshot)));
}

void parse(void* target, std::string_view text, int32_t, Arena& arena) {
   const std::optional<XidSnapshot> snapshot = readXidSnapshot(text);
   if (!snapshot) throwInvalidSyntax("pg_snapshot", text);
   put(target, *snapshot, arena);
}

void append(std::string& out, const void* value) {
   out.append(valueAt<StringView>(value).view());
}

void send(std::string& out, const void* value) {
   const auto text = valueAt<StringView>(value);
   const XidSnapshot snapshot = readXidSnapshot(text.view()).value();
   appendBig(out, static_cast<uint32_t>(snapshot.open.size()));
   appendBig(out, snapshot.xmin);
   appendBig(out, snapshot.xmax);
   for (const uint64_t id : snapshot.open)
      appendBig(out, id);
}

void receive(void* target, std::string_view bytes, int32_t, Arena& arena) {
   WireReader reader(bytes);
   const auto count = reader.take<uint32_t>();
   XidSnapshot snapshot;
   snapshot.xmin = reader.take<uint64_t>();
   snapshot.xmax = reader.take<uint64_t>();
   bool isValid = areBoundsValid(snapshot);
   for (uint32_t i = 0; isValid && i < count; ++i)
      isValid = addOpen(snapshot, reader.take<uint64_t>());
   if (!isValid) throw SqlError(sqlstate::invalidBinaryRepresentation, "invalid external pg_snapshot data");
   reader.finish();
   put(target, snapshot, arena);
}

constexpr TypeForm formOf(Oid type) {
   return {.oid = type,
           .wireSize = -1,
           .textGrowth = 1,
           .appendText = append,
           .parseText = parse,
           .appendBinary = send,
           .parseBinary = receive,
           .isOrdered = false};
}

} // namespace

const TypeForm xidSnapshotForm = formOf(oid::pgSnapshot), txidSnapshotForm = formOf(oid::txidSnapshot);

bool XidSnapshot::isVisible(uint64_t transaction) const {
   return transaction < xmin || (transaction < xmax && !std::ranges::binary_search(open, transaction));
}

std::string xidSnapshotText(const XidSnapshot& snapshot) {
   std::string text = std::to_string(snapshot.xmin) + ':' + std::to_string(snapshot.xmax) + ':';
   for (const uint64_t id : snapshot.open) {
      if (text.back() != ':') text += ',';
      text += std::to_string(id);
   }
   return text;
}

std::optional<XidSnapshot> readXidSnapshot(std::string_view text) {
   XidSnapshot snapshot;
   if (!takeId(text, ':', snapshot.xmin) || !takeId(text, ':', snapshot.xmax) || !areBoundsValid(snapshot))
      return std::nullopt;
   while (!text.empty()) {
      uint64_t id = 0;
      if (!takeId(text, 0, id) || !addOpen(snapshot, id)) return std::nullopt;
      if (text.empty()) break;
      if (text.front() != ',') return std::nullopt;
      text.remove_prefix(1);
   }
   return snapshot;
}

} // namespace ouzel
