#include "storage/json/shredder.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "common/calendar/iso_date.hpp"
#include "common/error/check.hpp"
#include "common/hash/hash.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::storage {

using json::JsonbView;
using json::Kind;

namespace {

constexpr uint32_t none = DocumentSummary::none;

/// 60 % of a tile, of the partition of eight tiles that is sorted by what its documents have.
constexpr double globalShare = 0.6, tileShare = globalShare / 8;

/// The second pass, and what both passes know.
class Shredder {
public:
   explicit Shredder(const ShredLimits& limits) : limits_(limits), tree_(limits.pathsMax) {}

   void count(const JsonbView& document) { tree_.add(document); }
   /// Between the passes: chooses what is kept. `rows`: documents that are not NULL.
   void choose(uint32_t rows);
   void add(StringView document, uint32_t row);
   ShreddedColumn finish();

   ShreddedColumn out;

private:
   struct Pending {
      uint32_t leaf;
      JsonbView value;
   };
   /// An object that is kept.
   struct Object {
      uint32_t end = 0; ///< the number of the next object that is not in it
      bool hasResidue = false;
   };
   bool isKept(uint32_t path, NodeKind kind) const { return kept_[slot(path, kind)] != none; }
   static size_t slot(uint32_t path, NodeKind kind) { return size_t{path} * nodeKindCount + static_cast<size_t>(kind); }
   bool collect(const JsonbView& view, uint32_t path, NodeKind kind);
   void writeResidue(const JsonbView& object, uint32_t path, uint32_t hash, uint32_t& number);
   void noteResidue(uint32_t hash);
   void noteResidue(const JsonbView& value, uint32_t hash);
   std::optional<int16_t> shapeNumber();
   void addWhole(StringView document, uint32_t row);
   void addValue(const Pending& pending);
   void chooseRepresentation(uint32_t leaf);
   static std::optional<uint8_t> toIntegers(ShreddedColumn::Values& values);
   static bool toDates(ShreddedColumn::Values& values);
   void dropUnused();

   // PROPERTIES
   const ShredLimits limits_;
   DocumentSummary tree_;
   std::vector<uint32_t> kept_; ///< by path and kind: the leaf; 0 for kinds without a value; none: not kept

   // STATE of the document at hand
   Shape shape_;
   std::vector<Pending> pending_;
   std::vector<Object> objects_; ///< in the order in which they are met
   json::JsonbWriter writer_;

   // STATE of all
   std::unordered_set<uint32_t> residuePaths_; ///< their hashes
   std::unordered_multimap<uint64_t, int16_t> shapeNumbers_;
   int16_t lastShape_ = -1, whole_ = -1;
};

void Shredder::choose(uint32_t rows) {
   const auto shareMin = static_cast<uint32_t>(std::ceil(limits_.leafShareMin * rows));
   const uint32_t countMin = std::max(std::min(limits_.leafCountMin, std::max(1u, rows / 4)), shareMin);
   kept_.assign(size_t{tree_.size()} * nodeKindCount, none);
   std::vector<ShapeNode> leaves;
   for (uint32_t path = 0; path < tree_.size(); ++path)
      for (uint32_t k = 0; k < nodeKindCount; ++k) {
         const auto kind = static_cast<NodeKind>(k);
         if (tree_.values(path).count(kind) < countMin) continue;
         if (hasValue(kind))
            leaves.push_back({path, kind});
         else
            kept_[slot(path, kind)] = 0;
      }
   if (leaves.size() > limits_.leavesMax) {
      const auto isMoreFrequent = [this](const ShapeNode& a, const ShapeNode& b) {
         return tree_.values(a.path).count(a.kind) > tree_.values(b.path).count(b.kind);
      };
      std::nth_element(leaves.begin(), leaves.begin() + limits_.leavesMax, leaves.end(), isMoreFrequent);
      leaves.resize(limits_.leavesMax);
   }
   for (const ShapeNode& leaf : leaves) {
      kept_[slot(leaf.path, leaf.kind)] = static_cast<uint32_t>(out.dictionary.leaves.size());
      out.dictionary.leaves.push_back({leaf, {}, 0});
   }
   out.values.resize(out.dictionary.leaves.size());
}

/// Adds a value that is kept to the shape. Returns whether members in it are not kept.
bool Shredder::collect(const JsonbView& view, uint32_t path, NodeKind kind) {
   shape_.nodes.push_back({path, kind});
   if (hasValue(kind)) pending_.push_back({kept_[slot(path, kind)], view});
   if (kind != NodeKind::Object) return false;
   checkStack();
   const size_t number = objects_.size();
   objects_.emplace_back();
   bool hasResidue = false;
   for (uint32_t i = 0; i < view.size(); ++i) {
      const uint32_t child = tree_.child(path, view.key(i), i);
      const JsonbView member = view.element(i);
      const NodeKind memberKind = nodeKindOf(member);
      const bool isWhole = child != none && isKept(child, memberKind) && !collect(member, child, memberKind);
      hasResidue = hasResidue || !isWhole;
   }
   objects_[number] = {static_cast<uint32_t>(objects_.size()), hasResidue};
   return hasResidue;
}

/// Writes the members of an object that are not kept, and those of objects in it. `number`: the object's in objects_;
/// moves on behind those in it. `hash`: of the object's path.
void Shredder::writeResidue(const JsonbView& object, uint32_t path, uint32_t hash, uint32_t& number) {
   checkStack();
   ++number;
   writer_.beginObject();
   for (uint32_t i = 0; i < object.size(); ++i) {
      const std::string_view key = object.key(i);
      const uint32_t child = tree_.child(path, key, i);
      const JsonbView member = object.element(i);
      const NodeKind kind = nodeKindOf(member);
      const uint32_t memberHash = ResiduePaths::hashOf(hash, key);
      if (child == none || !isKept(child, kind)) {
         writer_.key(key);
         writer_.value(member);
         noteResidue(member, memberHash);
      } else if (kind == NodeKind::Object && objects_[number].hasResidue) {
         writer_.key(key);
         noteResidue(memberHash);
         writeResidue(member, child, memberHash, number);
      } else if (kind == NodeKind::Object) {
         number = objects_[number].end;
      }
   }
   writer_.endObject();
}

void Shredder::noteResidue(uint32_t hash) {
   ResiduePaths& paths = out.dictionary.residuePaths;
   if (paths.areMany) return;
   residuePaths_.insert(hash);
   paths.areMany = residuePaths_.size() > ResiduePaths::hashesMax;
}

/// Notes the path of a value in a residue, whose hash is given, and of all below it.
void Shredder::noteResidue(const JsonbView& value, uint32_t hash) {
   checkStack();
   noteResidue(hash);
   if (value.kind() != Kind::Object || out.dictionary.residuePaths.areMany) return;
   for (uint32_t i = 0; i < value.size(); ++i)
      noteResidue(value.element(i), ResiduePaths::hashOf(hash, value.key(i)));
}

/// The number of shape_, which is made if it is new; nothing if there are too many.
std::optional<int16_t> Shredder::shapeNumber() {
   std::vector<Shape>& shapes = out.dictionary.shapes;
   if (lastShape_ >= 0 && shapes[static_cast<size_t>(lastShape_)] == shape_) return lastShape_;
   uint64_t hash = hashI64(shape_.hasResidue);
   for (const ShapeNode& node : shape_.nodes)
      hash = hashCombine(hash, hashI64(static_cast<int64_t>(slot(node.path, node.kind))));
   const auto [first, last] = shapeNumbers_.equal_range(hash);
   for (auto it = first; it != last; ++it)
      if (shapes[static_cast<size_t>(it->second)] == shape_) return lastShape_ = it->second;
   if (shapes.size() >= limits_.shapesMax) return std::nullopt;
   lastShape_ = static_cast<int16_t>(shapes.size());
   shapes.push_back(shape_);
   shapeNumbers_.emplace(hash, lastShape_);
   return lastShape_;
}

/// Adds a document as a residue and nothing else.
void Shredder::addWhole(StringView document, uint32_t row) {
   if (whole_ < 0) {
      whole_ = static_cast<int16_t>(out.dictionary.shapes.size());
      out.dictionary.shapes.push_back({{}, true});
   }
   noteResidue(JsonbView(document.view()), ResiduePaths::rootHash);
   out.shapes[row] = whole_;
   out.residues.push_back(document);
}

void Shredder::addValue(const Pending& pending) {
   ShreddedColumn::Values& values = out.values[pending.leaf];
   ++out.dictionary.leaves[pending.leaf].count;
   switch (out.dictionary.leaves[pending.leaf].node.kind) {
   case NodeKind::Boolean: values.booleans.push_back(pending.value.boolean() ? 1 : 0); return;
   case NodeKind::Number: values.strings.push_back(pending.value.number()); return;
   case NodeKind::String: values.strings.push_back(StringView(pending.value.string())); return;
   default: values.strings.push_back(StringView(pending.value.bytes())); return;
   }
}

void Shredder::add(StringView document, uint32_t row) {
   const JsonbView view(document.view());
   const NodeKind kind = nodeKindOf(view);
   if (!isKept(0, kind)) return addWhole(document, row);
   shape_.nodes.clear();
   pending_.clear();
   objects_.clear();
   shape_.hasResidue = collect(view, 0, kind);
   const std::optional<int16_t> number = shapeNumber();
   if (!number) return addWhole(document, row);
   out.shapes[row] = *number;
   for (const Pending& pending : pending_)
      addValue(pending);
   if (!shape_.hasResidue) return;
   uint32_t object = 0;
   writeResidue(view, 0, ResiduePaths::rootHash, object);
   DCHECK(object == objects_.size());
   out.owned.push_back(writer_.finish());
   out.residues.push_back(StringView(out.owned.back()));
}

/// Numbers that share a scale and fit become integers, and texts that all are ISO dates become days.
void Shredder::chooseRepresentation(uint32_t leaf) {
   Leaf& made = out.dictionary.leaves[leaf];
   ShreddedColumn::Values& values = out.values[leaf];
   switch (made.node.kind) {
   case NodeKind::Boolean: made.representation = {PhysicalType::Bool, 0}; return;
   case NodeKind::Number:
      made.representation = {PhysicalType::Decimal, 0};
      if (const auto scale = toIntegers(values)) made.representation = {PhysicalType::I64, *scale};
      return;
   case NodeKind::String: made.representation = {toDates(values) ? PhysicalType::I32 : PhysicalType::String, 0}; return;
   default: made.representation = {PhysicalType::String, 0};
   }
}

std::optional<uint8_t> Shredder::toIntegers(ShreddedColumn::Values& values) {
   if (values.strings.empty()) return std::nullopt;
   const int32_t scale = decimal::scale(values.strings[0]);
   if (scale > UINT8_MAX) return std::nullopt;
   std::vector<int64_t> integers;
   integers.reserve(values.strings.size());
   for (const StringView& number : values.strings) {
      decimal::Scaled parts;
      if (!decimal::decode(number, parts) || parts.scale != scale || parts.value != static_cast<int64_t>(parts.value))
         return std::nullopt;
      integers.push_back(static_cast<int64_t>(parts.value));
   }
   values.integers = std::move(integers);
   values.strings = {};
   return static_cast<uint8_t>(scale);
}

bool Shredder::toDates(ShreddedColumn::Values& values) {
   std::vector<int32_t> dates;
   for (const StringView& text : values.strings) {
      const auto days = parseIsoDate(text.view());
      if (!days) return false;
      dates.push_back(*days);
   }
   values.dates = std::move(dates);
   values.strings = {};
   return true;
}

/// Drops the paths and leaves that no shape has, and numbers the others anew.
void Shredder::dropUnused() {
   ShapeDictionary& dictionary = out.dictionary;
   std::vector<uint32_t> paths(tree_.size(), none);
   for (const Shape& shape : dictionary.shapes)
      for (const ShapeNode& node : shape.nodes)
         paths[node.path] = 0; // with those above it, which are objects of the shape
   paths[0] = 0;
   for (uint32_t path = 0; path < tree_.size(); ++path) {
      if (paths[path] == none) continue;
      paths[path] = static_cast<uint32_t>(dictionary.paths.size());
      dictionary.paths.push_back(tree_.path(path));
      dictionary.paths.back().parent = paths[tree_.path(path).parent];
   }
   for (Shape& shape : dictionary.shapes)
      for (ShapeNode& node : shape.nodes)
         node.path = paths[node.path];
   size_t used = 0;
   for (size_t leaf = 0; leaf < dictionary.leaves.size(); ++leaf) {
      if (dictionary.leaves[leaf].count == 0) continue;
      dictionary.leaves[used] = dictionary.leaves[leaf];
      dictionary.leaves[used].node.path = paths[dictionary.leaves[leaf].node.path];
      if (used != leaf) out.values[used] = std::move(out.values[leaf]);
      ++used;
   }
   dictionary.leaves.resize(used);
   out.values.resize(used);
}

ShreddedColumn Shredder::finish() {
   for (uint32_t leaf = 0; leaf < out.dictionary.leaves.size(); ++leaf)
      chooseRepresentation(leaf);
   dropUnused();
   ResiduePaths& paths = out.dictionary.residuePaths;
   if (!paths.areMany) paths.hashes.assign(residuePaths_.begin(), residuePaths_.end());
   std::sort(paths.hashes.begin(), paths.hashes.end());
   out.summary = tree_.frequent(DocumentSummary::pathsMax);
   return std::move(out);
}

} // namespace

ShredLimits ShredLimits::of(JsonExtraction extraction) {
   ShredLimits limits;
   if (extraction == JsonExtraction::None) limits.leafShareMin = 2;
   if (extraction == JsonExtraction::Global) limits.leafShareMin = globalShare;
   if (extraction == JsonExtraction::Tiles) limits.leafShareMin = tileShare;
   return limits;
}

ColumnSlice ShreddedColumn::leafSlice(uint32_t leaf) const {
   const Leaf& described = dictionary.leaves[leaf];
   const Values& column = values[leaf];
   ColumnSlice slice{described.representation.physical, column.strings.data(), nullptr, described.count};
   if (slice.type == PhysicalType::I64) slice.data = column.integers.data();
   if (slice.type == PhysicalType::I32) slice.data = column.dates.data();
   if (slice.type == PhysicalType::Bool) slice.data = column.booleans.data();
   return slice;
}

ColumnSlice ShreddedColumn::residueSlice() const {
   return {PhysicalType::String, residues.data(), nullptr, static_cast<uint32_t>(residues.size())};
}

ColumnSlice ShreddedColumn::shapeSlice(const ValidityWord* validity) const {
   return {PhysicalType::I16, shapes.data(), validity, static_cast<uint32_t>(shapes.size())};
}

ShreddedColumn shred(const ColumnSlice& documents, const ShredLimits& limits) {
   DCHECK(documents.type == PhysicalType::String);
   Shredder shredder(limits);
   const auto* values = documents.values<StringView>();
   uint32_t rows = 0;
   for (uint32_t row = 0; row < documents.count; ++row) {
      if (!documents.isValid(row)) continue;
      shredder.count(JsonbView(values[row].view()));
      ++rows;
   }
   shredder.choose(rows);
   shredder.out.shapes.assign(documents.count, 0);
   for (uint32_t row = 0; row < documents.count; ++row)
      if (documents.isValid(row)) shredder.add(values[row], row);
   return shredder.finish();
}

} // namespace ouzel::storage
