#include <algorithm>
#include <limits>

#include "storage/chunk/path_reader.hpp"

// Where the values of a path come from, shape by shape.

namespace ouzel::storage {

using json::PathForm;
using json::PathTarget;

namespace {

constexpr uint32_t noPath = UINT32_MAX;

/// The path in the dictionary; noPath if no document has it outside of residues.
uint32_t pathIn(const ShapeDictionary& dictionary, std::span<const std::string> keys) {
   uint32_t path = 0;
   size_t found = 0;
   // Parents precede children.
   for (uint32_t i = 1; i < dictionary.paths.size() && found < keys.size(); ++i)
      if (dictionary.paths[i].parent == path && dictionary.paths[i].key == keys[found]) {
         path = i;
         ++found;
      }
   return found == keys.size() ? path : noPath;
}

/// Whether each integer of the zone is one of the target type.
bool fits(PathTarget target, const ZoneRange& zone) {
   const auto lies = [&zone](auto lowest, auto highest) {
      return zone.isEmpty() || (zone.lower >= ZoneKey(lowest) && zone.upper <= ZoneKey(highest));
   };
   switch (target) {
   case PathTarget::Int2: return lies(std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max());
   case PathTarget::Int4: return lies(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
   case PathTarget::Int8: return true;
   default: return false;
   }
}

NodeKind kindOf(PathTarget target) {
   return target == PathTarget::Boolean ? NodeKind::Boolean
          : target == PathTarget::Date  ? NodeKind::String
                                        : NodeKind::Number;
}

} // namespace

void PathReader::load() {
   shapes_->loadDictionary();
   const ShapeDictionary& dictionary = shapes_->dictionary();
   const uint32_t path = pathIn(dictionary, access_.valueKeys());
   const bool mayBeResidue = dictionary.residuePaths.mayHave(access_.valueKeys());
   leaves_.reserve(nodeKindCount);
   sources_.assign(1, fromNowhere);
   std::vector<uint8_t> hasResidue(1, 0);
   for (const Shape& shape : dictionary.shapes) {
      sources_.push_back(sourceOf(shape, path, mayBeResidue));
      hasResidue.push_back(shape.hasResidue);
   }
   const auto isFrom = [this](auto&& test) { return std::any_of(sources_.begin(), sources_.end(), test); };
   isAllNull_ = !isFrom([](uint8_t source) { return source != fromNowhere; });
   hasOthers_ = isFrom([](uint8_t source) { return source != fromNowhere && source < fromLeaves; });
   if (isFrom([](uint8_t source) { return source == fromResidue || source == fromResidueMember; })) {
      residues_ = std::make_unique<DenseColumn>(PhysicalType::String);
      residues_->reader.open(shapes_->partAt(partResidues));
      residueSet_ = shapes_->setOf(std::move(hasResidue));
   }
   for (size_t i = 0; i < leaves_.size(); ++i)
      leaves_[i].set = setOf(static_cast<uint8_t>(fromLeaves + i));
   isOneLeaf_ = leaves_.size() == 1 && leaves_[0].isDirect && !hasOthers_;
   isDirect_ = isOneLeaf_ && leaves_[0].leaf.count == shapes_->rowCount();
   if (isDirect_ && leaves_[0].column.reader.rowCount() != shapes_->rowCount()) ByteReader::corrupted();
   areCodes_ = isOneLeaf_ && leaves_[0].column.reader.hasDictionary();
   isPresence_ = !isFrom([](uint8_t source) { return source != fromNowhere && source != fromPresence; });
   if (isPresence_) presenceSet_ = setOf(fromPresence);
   isLoaded_ = true;
}

/// The shapes whose values come from one source.
uint32_t PathReader::setOf(uint8_t source) {
   std::vector<uint8_t> isMember;
   for (const uint8_t one : sources_)
      isMember.push_back(one == source);
   return shapes_->setOf(std::move(isMember));
}

uint8_t PathReader::sourceOf(const Shape& shape, uint32_t path, bool mayBeResidue) {
   if (access_.isTest() && access_.keys.empty()) return fromPresence; // of the document itself
   if (path != noPath)
      for (const ShapeNode& node : shape.nodes)
         if (node.path == path) return access_.form == PathForm::HasKey ? keySource(shape, node, path) : sourceOf(node);
   return shape.hasResidue && mayBeResidue ? fromResidue : fromNowhere;
}

/// Of the key of a value, `around`, that lies at `path`.
uint8_t PathReader::keySource(const Shape& shape, const ShapeNode& around, uint32_t path) {
   if (around.kind == NodeKind::Array || around.kind == NodeKind::String) return leafSource(around);
   if (around.kind != NodeKind::Object) return fromAbsence;
   const ShapeDictionary& dictionary = shapes_->dictionary();
   for (const ShapeNode& node : shape.nodes)
      if (const JsonPath& member = dictionary.paths[node.path];
          node.path != 0 && member.parent == path && member.key == access_.keys.back())
         return fromPresence;
   return shape.hasResidue && dictionary.residuePaths.mayHave(access_.keys) ? fromResidueMember : fromAbsence;
}

uint8_t PathReader::sourceOf(const ShapeNode& node) {
   if (access_.isTest())
      return node.kind == NodeKind::Null && access_.form == PathForm::HasText ? fromNowhere : fromPresence;
   if (access_.form == PathForm::KindName) return static_cast<uint8_t>(fromKinds + static_cast<uint8_t>(node.kind));
   switch (node.kind) {
   case NodeKind::Null: return access_.form == PathForm::Json ? fromNull : fromNowhere;
   case NodeKind::EmptyArray:
   case NodeKind::Object:
      if (access_.form == PathForm::Value) return otherType();
      return node.kind == NodeKind::Object ? fromDocument : fromEmptyArray;
   default: return leafSource(node);
   }
}

/// The source of values that are not of the type of a Value. A row group may have rows that no snapshot of the scan
/// sees, so that only a row that is read may refute the statistics.
uint8_t PathReader::otherType() const {
   return access_.isCertain ? fromWrongType : fromNowhere;
}

uint8_t PathReader::leafSource(const ShapeNode& node) {
   for (size_t i = 0; i < leaves_.size(); ++i)
      if (leaves_[i].leaf.node == node) return static_cast<uint8_t>(fromLeaves + i);
   const std::vector<Leaf>& leaves = shapes_->dictionary().leaves;
   for (uint32_t number = 0; number < leaves.size(); ++number) {
      if (!(leaves[number].node == node)) continue;
      if (access_.form == PathForm::Value && node.kind != kindOf(access_.target)) return otherType();
      if (givesNothing(leaves[number], number)) return fromNowhere;
      PathLeaf& leaf = leaves_.emplace_back(leaves[number], typeToRead(leaves[number]));
      leaf.column.reader.open(shapes_->partAt(partLeaves + number));
      leaf.isDirect = isDirect(leaf);
      return static_cast<uint8_t>(fromLeaves + leaves_.size() - 1);
   }
   ByteReader::corrupted();
}

/// Whether the access gives NULL of all values of the leaf.
bool PathReader::givesNothing(const Leaf& leaf, uint32_t number) const {
   if (!access_.isTyped()) return false;
   const bool isOfKind = leaf.node.kind == kindOf(access_.target);
   if (access_.form == PathForm::Value || !isOfKind) return false;
   switch (access_.target) {
   case PathTarget::Boolean:
   case PathTarget::Numeric: return true;
   case PathTarget::Float8: return leaf.representation.physical == PhysicalType::I64;
   case PathTarget::Date: return leaf.representation.physical == PhysicalType::I32;
   default: {
      const ChunkPlace part = shapes_->partAt(partLeaves + number);
      return leaf.representation == Representation{PhysicalType::I64, 0} &&
             fits(access_.target, part.header().parts[part.part].zone);
   }
   }
}

/// Integers that all fit are read as the narrower type.
PhysicalType PathReader::typeToRead(const Leaf& leaf) const {
   const bool isNarrowed = access_.isCertain && leaf.representation == Representation{PhysicalType::I64, 0} &&
                           (access_.target == PathTarget::Int2 || access_.target == PathTarget::Int4);
   return isNarrowed ? access_.resultType() : leaf.representation.physical;
}

bool PathReader::isDirect(const PathLeaf& leaf) const {
   const bool isText = leaf.leaf.node.kind == NodeKind::String && leaf.column.reader.type() == PhysicalType::String;
   switch (access_.form) {
   case PathForm::Json: return leaf.leaf.node.kind == NodeKind::Array;
   case PathForm::Text: return isText;
   case PathForm::Rest: return isText && access_.target != PathTarget::Date;
   case PathForm::KindName:
   case PathForm::HasKey:
   case PathForm::HasValue:
   case PathForm::HasText: return false;
   case PathForm::Value: break;
   }
   return leaf.column.reader.type() == access_.resultType() && leaf.leaf.representation.scale == access_.scale;
}

} // namespace ouzel::storage
