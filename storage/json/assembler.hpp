#pragma once
#include <optional>
#include <span>
#include <vector>

#include "common/json/jsonb.hpp"
#include "common/json/jsonb_writer.hpp"
#include "storage/json/shape.hpp"

namespace ouzel::storage {

/// Makes documents of shapes and values again. Immutable: threads may share it, each with a writer of its own.
class Assembler {
public:
   /// `dictionary` outlives this. Throws XX001 where a shape has a value that no leaf holds.
   explicit Assembler(const ShapeDictionary& dictionary);

   /// The leaves of a shape, in the order of its nodes.
   std::span<const uint32_t> leavesOf(uint32_t shape) const { return leaves_[shape]; }
   /// Describes a document to the writer. `values`: of the leaves of the shape, each as it lies in a flat vector of the
   /// leaf's representation. `residue`: REQUIRED exactly where the shape has one.
   void assemble(uint32_t shape, std::span<const void* const> values, const std::optional<json::JsonbView>& residue,
                 json::JsonbWriter& out) const;

private:
   struct Document;
   void put(Document& document, const std::optional<json::JsonbView>& residue) const;
   void putObject(Document& document, uint32_t path, const std::optional<json::JsonbView>& residue) const;

   const ShapeDictionary& dictionary_;
   std::vector<std::vector<uint32_t>> leaves_; ///< by shape
};

/// A value of a leaf of dates. Throws XX001 where it is none.
int32_t dateAt(const void* value);

} // namespace ouzel::storage
