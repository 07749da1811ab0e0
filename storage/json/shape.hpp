#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/value/physical_type.hpp"
#include "storage/base/byte_codec.hpp"

// How the documents of one row group of a jsonb column lie in a block. Durner ("Efficient Query Processing on Modern
// Hardware", JSON Tiles) keeps each document and beside it columns of its frequent paths. Here nothing is kept twice: a
// document is the number of its shape and the values of its leaves.
//
// A shape is what documents with the same keys and types share: a tree of objects with a type at each leaf. The values
// of a leaf, which is a path and a type, form a column of their own. The column is dense: it has only the values of the
// documents whose shape has the leaf, in row order. What is too rare for a column stays behind as a residue: a smaller
// document with the remaining members.
//
//    {"id": 7, "tags": ["a"], "by": {"name": "x"}}   shape 0   leaves $.id number, $.tags array, $.by.name string
//    {"id": 8, "k9": true}                           shape 1   leaf $.id number; residue {"k9": true}

namespace ouzel::storage {

/// A key below a path, or the document itself, which is path 0.
struct JsonPath {
   uint32_t parent = 0;
   std::string key;
};

enum class NodeKind : uint8_t {
   Null,
   EmptyArray,
   Object, ///< its members follow it in the shape
   // Kinds with a value:
   Boolean,
   Number,
   String,
   Array, ///< a whole array with elements, as jsonb
};
inline constexpr uint32_t nodeKindCount = 7;
constexpr bool hasValue(NodeKind kind) {
   return kind >= NodeKind::Boolean;
}

/// A value of a shape and where it is.
struct ShapeNode {
   uint32_t path = 0;
   NodeKind kind = NodeKind::Null;
   bool operator==(const ShapeNode&) const = default;
};

struct Shape {
   /// In the order of jsonb: an object before its members, these by key. Empty: the residue is the whole document.
   std::vector<ShapeNode> nodes;
   bool hasResidue = false;
   bool operator==(const Shape&) const = default;
};

/// The values at a path of one kind, as a column.
struct Leaf {
   ShapeNode node;
   /// Bool; I64 for numbers that share one scale and fit, else Decimal; I32 for texts that are all ISO dates, as days
   /// since 2000-01-01, else String; String for arrays.
   Representation representation;
   uint32_t count = 0; ///< values
   bool operator==(const Leaf&) const = default;
};

/// Which paths the residues have, by hash, so that who looks for another one need not read them.
struct ResiduePaths {
   static constexpr uint32_t hashesMax = 4096;
   static constexpr uint32_t rootHash = 0;
   static uint32_t hashOf(uint32_t parentHash, std::string_view key);

   bool areMany = false;         ///< too many to tell: any path may be there
   std::vector<uint32_t> hashes; ///< ascending

   bool mayHave(std::span<const std::string> keys) const;
};

/// The paths, leaves and shapes of a row group: all but the values. Immutable once made.
struct ShapeDictionary {
   std::vector<JsonPath> paths; ///< parents before children; paths[0] is the document
   std::vector<Leaf> leaves;
   std::vector<Shape> shapes;
   ResiduePaths residuePaths;

   void serialize(std::string& out) const;
   /// Throws XX001.
   static ShapeDictionary deserialize(std::string_view bytes);
};

} // namespace ouzel::storage
