#include "storage/json/document_summary.hpp"

#include <algorithm>

#include "common/calendar/iso_date.hpp"
#include "common/hash/hash.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::storage {

using json::JsonbView;
using json::Kind;

NodeKind nodeKindOf(const JsonbView& value) {
   switch (value.kind()) {
   case Kind::Null: return NodeKind::Null;
   case Kind::Boolean: return NodeKind::Boolean;
   case Kind::Number: return NodeKind::Number;
   case Kind::String: return NodeKind::String;
   case Kind::Array: return value.size() == 0 ? NodeKind::EmptyArray : NodeKind::Array;
   case Kind::Object: return NodeKind::Object;
   }
   return NodeKind::Null;
}

// ---- the values at one path ----

/// REQUIRES: the number is counted already.
void PathSummary::addNumber(const StringView& number) {
   if (!areAlike) return;
   decimal::Scaled parts;
   areAlike = decimal::decode(number, parts) && parts.scale >= 0 && parts.scale <= UINT8_MAX &&
              parts.value == static_cast<int64_t>(parts.value) &&
              (count(NodeKind::Number) == 1 || parts.scale == scale);
   if (!areAlike) return;
   scale = static_cast<uint8_t>(parts.scale);
   smallest = std::min(smallest, static_cast<int64_t>(parts.value));
   largest = std::max(largest, static_cast<int64_t>(parts.value));
}

void PathSummary::addText(std::string_view text) {
   if (!areDates) return;
   const auto days = parseIsoDate(text);
   areDates = days.has_value();
   if (!days) return;
   earliest = std::min(earliest, *days);
   latest = std::max(latest, *days);
}

void PathSummary::addSketch(const PathSketch& added) {
   auto merged = sketch ? std::make_shared<PathSketch>(*sketch) : std::make_shared<PathSketch>();
   merged->distinct.merge(added.distinct);
   merged->count += added.count;
   sketch = std::move(merged);
}

void PathSummary::merge(const PathSummary& other) {
   if (!sketch)
      sketch = other.sketch;
   else if (other.sketch)
      addSketch(*other.sketch);
   const bool hadNumbers = count(NodeKind::Number) > 0, hasNumbers = other.count(NodeKind::Number) > 0;
   if (hasNumbers) {
      areAlike = areAlike && other.areAlike && (!hadNumbers || scale == other.scale);
      scale = other.scale;
      smallest = std::min(smallest, other.smallest);
      largest = std::max(largest, other.largest);
   }
   areDates = areDates && other.areDates;
   earliest = std::min(earliest, other.earliest);
   latest = std::max(latest, other.latest);
   for (uint32_t kind = 0; kind < nodeKindCount; ++kind)
      counts[kind] += other.counts[kind];
   isExact = isExact && other.isExact;
}

// ---- the paths ----

namespace {
uint64_t hashOf(uint32_t parent, std::string_view key) {
   return hashCombine(hashI64(parent), hashBytes(key));
}
} // namespace

uint32_t DocumentSummary::search(uint32_t parent, std::string_view key) const {
   const auto [first, last] = byHash_.equal_range(hashOf(parent, key));
   for (auto it = first; it != last; ++it)
      if (nodes_[it->second].path.parent == parent && nodes_[it->second].path.key == key) return it->second;
   return none;
}

uint32_t DocumentSummary::make(uint32_t parent, std::string_view key) {
   if (const uint32_t known = search(parent, key); known != none) return known;
   if (nodes_.size() >= limit_) {
      isComplete_ = false;
      return none;
   }
   const uint32_t made = size();
   nodes_.emplace_back().path = {parent, std::string(key)};
   byHash_.emplace(hashOf(parent, key), made);
   return made;
}

uint32_t DocumentSummary::child(uint32_t parent, std::string_view key, uint32_t position) {
   const std::vector<uint32_t>& recent = nodes_[parent].recent;
   if (position < recent.size() && nodes_[recent[position]].path.key == key) return recent[position];
   const uint32_t found = make(parent, key);
   if (found == none) return none;
   std::vector<uint32_t>& place = nodes_[parent].recent; // make() may have moved the nodes
   if (position < place.size())
      place[position] = found;
   else if (position == place.size())
      place.push_back(found);
   return found;
}

void DocumentSummary::add(const JsonbView& document) {
   ++documents_;
   add(document, 0);
}

void DocumentSummary::add(const JsonbView& value, uint32_t path) {
   const NodeKind kind = nodeKindOf(value);
   ++nodes_[path].values.counts[static_cast<size_t>(kind)];
   if (kind == NodeKind::Number) return nodes_[path].values.addNumber(value.number());
   if (kind == NodeKind::String) return nodes_[path].values.addText(value.string());
   if (kind != NodeKind::Object) return;
   checkStack();
   for (uint32_t i = 0; i < value.size(); ++i)
      if (const uint32_t member = child(path, value.key(i), i); member != none) add(value.element(i), member);
}

void DocumentSummary::multiply(uint64_t times) {
   documents_ *= times;
   for (Node& node : nodes_)
      for (uint64_t& count : node.values.counts)
         count *= times;
}

void DocumentSummary::merge(const DocumentSummary& other) {
   std::vector<uint8_t> isMet(nodes_.size());
   std::vector<uint32_t> numbers(other.nodes_.size(), none);
   const bool wasComplete = isComplete_;
   const uint32_t before = size();
   for (uint32_t path = 0; path < other.size(); ++path) {
      const JsonPath& added = other.nodes_[path].path;
      if (path > 0 && numbers[added.parent] == none) continue;
      const uint32_t number = path == 0 ? 0 : make(numbers[added.parent], added.key);
      numbers[path] = number;
      if (number == none) continue;
      PathSummary& values = nodes_[number].values;
      values.merge(other.nodes_[path].values);
      if (number >= before && !wasComplete && documents_ > 0) values.isExact = false;
      if (number < before) isMet[number] = 1;
   }
   if (!other.isComplete_ && other.documents_ > 0)
      for (uint32_t path = 0; path < before; ++path)
         if (!isMet[path]) nodes_[path].values.isExact = false;
   documents_ += other.documents_;
   isComplete_ = isComplete_ && other.isComplete_;
}

PathSummary DocumentSummary::find(std::span<const std::string> keys) const {
   uint32_t path = 0;
   for (const std::string& key : keys) {
      path = search(path, key);
      if (path != none) continue;
      PathSummary missing;
      missing.isExact = isComplete_;
      return missing;
   }
   return nodes_[path].values;
}

DocumentSummary DocumentSummary::frequent(uint32_t limit) const {
   DocumentSummary out(limit);
   out.documents_ = documents_;
   out.isComplete_ = isComplete_;
   // A parent has at least as many values as its members, and precedes them.
   std::vector<uint32_t> order(nodes_.size());
   for (uint32_t path = 0; path < order.size(); ++path)
      order[path] = path;
   std::stable_sort(order.begin() + 1, order.end(),
                    [this](uint32_t a, uint32_t b) { return nodes_[a].values.total() > nodes_[b].values.total(); });
   std::vector<uint32_t> numbers(nodes_.size(), none);
   for (const uint32_t path : order) {
      const JsonPath& own = nodes_[path].path;
      numbers[path] = path == 0 ? 0 : numbers[own.parent] == none ? none : out.make(numbers[own.parent], own.key);
      if (numbers[path] != none) out.nodes_[numbers[path]].values = nodes_[path].values;
   }
   return out;
}

void DocumentSummary::addSketch(std::span<const std::string> keys, const PathSketch& sketch) {
   uint32_t path = 0;
   for (const std::string& key : keys) {
      path = search(path, key);
      if (path == none) return;
   }
   nodes_[path].values.addSketch(sketch);
}

void DocumentSummary::limitSketches(uint32_t limit) {
   std::vector<PathSummary*> sketched;
   for (Node& node : nodes_)
      if (node.values.sketch) sketched.push_back(&node.values);
   if (sketched.size() <= limit) return;
   std::nth_element(sketched.begin(), sketched.begin() + limit, sketched.end(),
                    [](const PathSummary* a, const PathSummary* b) { return a->sketch->count > b->sketch->count; });
   for (size_t i = limit; i < sketched.size(); ++i)
      sketched[i]->sketch = nullptr;
}

// ---- bytes ----
//
// The number of documents times two, plus one if the summary is complete; the number of paths; of each path, but the
// first, its parent and key; of each path its counts, a byte of flags, the number of values in its sketch and the
// sketch if it has one, the bounds of its texts if all are dates, and the scale and bounds of its numbers.

namespace {
constexpr uint8_t flagAlike = 1, flagExact = 2, flagDates = 4, flagSketch = 8;
}

void DocumentSummary::serialize(std::string& out) const {
   ByteWriter writer(out);
   writer.varint(documents_ * 2 + (isComplete_ ? 1 : 0));
   writer.varint(nodes_.size());
   for (size_t path = 0; path < nodes_.size(); ++path) {
      const Node& node = nodes_[path];
      if (path > 0) {
         writer.varint(node.path.parent);
         writer.string(node.path.key);
      }
      for (const uint64_t count : node.values.counts)
         writer.varint(count);
      writer.fixed(static_cast<uint8_t>((node.values.areAlike ? flagAlike : 0) | (node.values.isExact ? flagExact : 0) |
                                        (node.values.areDates ? flagDates : 0) |
                                        (node.values.sketch ? flagSketch : 0)));
      if (node.values.sketch) {
         writer.varint(node.values.sketch->count);
         node.values.sketch->distinct.serialize(out);
      }
      if (node.values.areDates && node.values.count(NodeKind::String) > 0) {
         writer.fixed(node.values.earliest);
         writer.fixed(node.values.latest);
      }
      if (node.values.count(NodeKind::Number) == 0) continue;
      writer.fixed(node.values.scale);
      writer.fixed(node.values.smallest);
      writer.fixed(node.values.largest);
   }
}

DocumentSummary DocumentSummary::deserialize(ByteReader& in) {
   DocumentSummary out;
   const uint64_t head = in.varint();
   out.documents_ = head / 2;
   out.isComplete_ = (head & 1) != 0;
   const size_t count = in.count(nodeKindCount + 1);
   if (count == 0) ByteReader::corrupted();
   out.limit_ = std::max(out.limit_, static_cast<uint32_t>(count));
   for (size_t path = 0; path < count; ++path) {
      if (path > 0) {
         const uint64_t parent = in.varint();
         if (parent >= path) ByteReader::corrupted();
         const std::string_view key = in.string();
         if (out.make(static_cast<uint32_t>(parent), key) != path) ByteReader::corrupted();
      }
      PathSummary& values = out.nodes_[path].values;
      for (uint64_t& one : values.counts)
         one = in.varint();
      const auto flags = in.fixed<uint8_t>();
      values.areAlike = (flags & flagAlike) != 0;
      values.isExact = (flags & flagExact) != 0;
      values.areDates = (flags & flagDates) != 0;
      if ((flags & flagSketch) != 0) {
         PathSketch sketch;
         sketch.count = in.varint();
         if (!sketch.distinct.deserialize(in.rest())) ByteReader::corrupted();
         values.sketch = std::make_shared<PathSketch>(sketch);
      }
      if (values.areDates && values.count(NodeKind::String) > 0) {
         values.earliest = in.fixed<int32_t>();
         values.latest = in.fixed<int32_t>();
      }
      if (values.count(NodeKind::Number) == 0) continue;
      values.scale = in.fixed<uint8_t>();
      values.smallest = in.fixed<int64_t>();
      values.largest = in.fixed<int64_t>();
   }
   return out;
}

} // namespace ouzel::storage
