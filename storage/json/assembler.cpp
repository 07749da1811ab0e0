#include "storage/json/assembler.hpp"

#include <unordered_map>

#include "common/calendar/iso_date.hpp"
#include "common/error/check.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::storage {

using json::JsonbView;

/// The document at hand.
struct Assembler::Document {
   const Shape& shape;
   std::span<const uint32_t> leaves;
   std::span<const void* const> values;
   json::JsonbWriter& out;
   size_t node = 0, value = 0; ///< the next ones
};

namespace {

StringView numberAt(const void* value, const Representation& representation) {
   if (representation.physical == PhysicalType::Decimal) return *static_cast<const StringView*>(value);
   return decimal::fromInt64(*static_cast<const int64_t*>(value), representation.scale);
}

} // namespace

int32_t dateAt(const void* value) {
   const int32_t days = *static_cast<const int32_t*>(value);
   if (days < isoDateMin || days > isoDateMax) ByteReader::corrupted();
   return days;
}

Assembler::Assembler(const ShapeDictionary& dictionary) : dictionary_(dictionary) {
   const auto slot = [](const ShapeNode& node) { return uint64_t{node.path} << 8 | static_cast<uint64_t>(node.kind); };
   std::unordered_map<uint64_t, uint32_t> byNode;
   for (uint32_t leaf = 0; leaf < dictionary.leaves.size(); ++leaf)
      byNode.emplace(slot(dictionary.leaves[leaf].node), leaf);
   for (const Shape& shape : dictionary.shapes) {
      std::vector<uint32_t>& leaves = leaves_.emplace_back();
      for (const ShapeNode& node : shape.nodes) {
         if (!hasValue(node.kind)) continue;
         const auto found = byNode.find(slot(node));
         if (found == byNode.end()) ByteReader::corrupted();
         leaves.push_back(found->second);
      }
   }
}

void Assembler::assemble(uint32_t shape, std::span<const void* const> values, const std::optional<JsonbView>& residue,
                         json::JsonbWriter& out) const {
   Document document{dictionary_.shapes[shape], leaves_[shape], values, out};
   DCHECK(values.size() == document.leaves.size());
   DCHECK(residue.has_value() == document.shape.hasResidue);
   if (document.shape.nodes.empty())
      out.value(*residue);
   else
      put(document, residue);
   DCHECK(document.node == document.shape.nodes.size());
   DCHECK(document.value == values.size());
}

/// Puts the next node with all that is in it.
void Assembler::put(Document& document, const std::optional<JsonbView>& residue) const {
   const ShapeNode& node = document.shape.nodes[document.node++];
   json::JsonbWriter& out = document.out;
   switch (node.kind) {
   case NodeKind::Null: return out.null();
   case NodeKind::EmptyArray: out.beginArray(); return out.endArray();
   case NodeKind::Object: return putObject(document, node.path, residue);
   default: break;
   }
   const Leaf& leaf = dictionary_.leaves[document.leaves[document.value]];
   const void* value = document.values[document.value++];
   switch (node.kind) {
   case NodeKind::Boolean: return out.boolean(*static_cast<const uint8_t*>(value) != 0);
   case NodeKind::Number: return out.number(numberAt(value, leaf.representation));
   case NodeKind::String:
      if (leaf.representation.physical == PhysicalType::I32) {
         char text[isoDateSize];
         writeIsoDate(dateAt(value), text);
         return out.string({text, isoDateSize});
      }
      return out.string(static_cast<const StringView*>(value)->view());
   default: return out.value(JsonbView(static_cast<const StringView*>(value)->view()));
   }
}

/// The writer sorts the members of the shape and those of the residue into one order.
void Assembler::putObject(Document& document, uint32_t path, const std::optional<JsonbView>& residue) const {
   checkStack();
   document.out.beginObject();
   std::vector<uint8_t> isPut(residue ? residue->size() : 0);
   const std::vector<ShapeNode>& nodes = document.shape.nodes;
   while (document.node < nodes.size()) {
      const JsonPath& member = dictionary_.paths[nodes[document.node].path];
      if (member.parent != path) break;
      document.out.key(member.key);
      std::optional<JsonbView> below;
      if (residue)
         if (const std::optional<uint32_t> index = residue->indexOf(member.key)) {
            isPut[*index] = 1;
            below = residue->element(*index);
         }
      put(document, below);
   }
   for (uint32_t i = 0; i < isPut.size(); ++i) {
      if (isPut[i]) continue;
      document.out.key(residue->key(i));
      document.out.value(residue->element(i));
   }
   document.out.endObject();
}

} // namespace ouzel::storage
