#include "storage/json/shape.hpp"

#include <algorithm>

#include "common/hash/hash.hpp"

namespace ouzel::storage {

// Bytes: the number of paths, then of each but the first its parent and key; the number of leaves, then of each its
// path, kind, physical type, scale and count; the number of shapes, then of each its number of nodes times two, plus
// one if it has a residue, and its nodes as path times eight plus kind; the number of residues' paths times two, plus
// one if they are too many, and their hashes.

namespace {

constexpr uint32_t kindBits = 3;
static_assert(nodeKindCount <= 1u << kindBits);

void putNode(ByteWriter& writer, const ShapeNode& node) {
   writer.varint(uint64_t{node.path} << kindBits | static_cast<uint64_t>(node.kind));
}

ShapeNode takeNode(ByteReader& reader, size_t pathCount) {
   const uint64_t packed = reader.varint();
   const uint64_t path = packed >> kindBits, kind = packed & ((1u << kindBits) - 1);
   if (path >= pathCount || kind >= nodeKindCount) ByteReader::corrupted();
   return {static_cast<uint32_t>(path), static_cast<NodeKind>(kind)};
}

bool isLeafType(NodeKind kind, PhysicalType type) {
   switch (kind) {
   case NodeKind::Boolean: return type == PhysicalType::Bool;
   case NodeKind::Number: return type == PhysicalType::I64 || type == PhysicalType::Decimal;
   case NodeKind::String: return type == PhysicalType::String || type == PhysicalType::I32;
   case NodeKind::Array: return type == PhysicalType::String;
   default: return false;
   }
}

/// Whether the parents of a shape's nodes are objects that stand before them.
void checkTree(const ShapeDictionary& dictionary, const Shape& shape) {
   std::vector<uint32_t> open; // objects around, outermost first
   for (size_t i = 0; i < shape.nodes.size(); ++i) {
      const ShapeNode& node = shape.nodes[i];
      if (i == 0 ? node.path != 0 : node.path == 0) ByteReader::corrupted();
      while (i > 0 && !open.empty() && open.back() != dictionary.paths[node.path].parent)
         open.pop_back();
      if (i > 0 && open.empty()) ByteReader::corrupted();
      if (node.kind == NodeKind::Object) open.push_back(node.path);
   }
   if (shape.nodes.empty() && !shape.hasResidue) ByteReader::corrupted();
}

} // namespace

uint32_t ResiduePaths::hashOf(uint32_t parentHash, std::string_view key) {
   return static_cast<uint32_t>(hashCombine(hashI64(parentHash), hashBytes(key)));
}

bool ResiduePaths::mayHave(std::span<const std::string> keys) const {
   if (areMany) return true;
   uint32_t hash = rootHash;
   for (const std::string& key : keys)
      hash = hashOf(hash, key);
   return std::binary_search(hashes.begin(), hashes.end(), hash);
}

void ShapeDictionary::serialize(std::string& out) const {
   ByteWriter writer(out);
   writer.varint(paths.size());
   for (size_t i = 1; i < paths.size(); ++i) {
      writer.varint(paths[i].parent);
      writer.string(paths[i].key);
   }
   writer.varint(leaves.size());
   for (const Leaf& leaf : leaves) {
      putNode(writer, leaf.node);
      writer.fixed(static_cast<uint8_t>(leaf.representation.physical));
      writer.fixed(leaf.representation.scale);
      writer.varint(leaf.count);
   }
   writer.varint(shapes.size());
   for (const Shape& shape : shapes) {
      writer.varint(shape.nodes.size() * 2 + (shape.hasResidue ? 1 : 0));
      for (const ShapeNode& node : shape.nodes)
         putNode(writer, node);
   }
   writer.varint(residuePaths.hashes.size() * 2 + (residuePaths.areMany ? 1 : 0));
   for (const uint32_t hash : residuePaths.hashes)
      writer.fixed(hash);
}

ShapeDictionary ShapeDictionary::deserialize(std::string_view bytes) {
   ByteReader reader(bytes);
   ShapeDictionary out;
   const size_t pathCount = reader.count();
   if (pathCount == 0) ByteReader::corrupted();
   out.paths.resize(1);
   while (out.paths.size() < pathCount) {
      const uint64_t parent = reader.varint();
      if (parent >= out.paths.size()) ByteReader::corrupted();
      out.paths.push_back({static_cast<uint32_t>(parent), std::string(reader.string())});
   }
   out.leaves.resize(reader.count(4));
   for (Leaf& leaf : out.leaves) {
      leaf.node = takeNode(reader, pathCount);
      const auto physical = reader.fixed<uint8_t>();
      if (physical >= physicalTypeCount) ByteReader::corrupted();
      leaf.representation = {static_cast<PhysicalType>(physical), reader.fixed<uint8_t>()};
      leaf.count = static_cast<uint32_t>(reader.varint());
      if (!isLeafType(leaf.node.kind, leaf.representation.physical)) ByteReader::corrupted();
   }
   out.shapes.resize(reader.count());
   for (Shape& shape : out.shapes) {
      const uint64_t head = reader.varint();
      shape.hasResidue = (head & 1) != 0;
      if (head / 2 > reader.rest().size()) ByteReader::corrupted();
      shape.nodes.resize(head / 2);
      for (ShapeNode& node : shape.nodes)
         node = takeNode(reader, pathCount);
      checkTree(out, shape);
   }
   const uint64_t head = reader.varint();
   out.residuePaths.areMany = (head & 1) != 0;
   if (head / 2 > ResiduePaths::hashesMax) ByteReader::corrupted();
   out.residuePaths.hashes.resize(head / 2);
   for (uint32_t& hash : out.residuePaths.hashes)
      hash = reader.fixed<uint32_t>();
   if (!reader.atEnd()) ByteReader::corrupted();
   return out;
}

} // namespace ouzel::storage
