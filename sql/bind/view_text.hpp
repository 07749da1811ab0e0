#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/objects.hpp"

namespace ouzel::sql {

/// Notes, while a view's query is bound, what its text must say instead so that it keeps its meaning, and what it
/// reads.
class ViewTextRecorder {
public:
   /// Replace `length` bytes of the source at `location`.
   void replace(uint32_t location, uint32_t length, std::string text);
   void readColumn(Oid relation, int16_t attribute);
   void readRelation(Oid relation);

   /// The text source[offset, offset + length) with all replacements inside it made.
   std::string apply(std::string_view source, uint32_t offset, uint32_t length) const;
   std::vector<catalog::Dependency> dependencies() const;

private:
   struct Edit {
      uint32_t location, length;
      std::string text;
   };
   std::vector<Edit> edits_;
   std::vector<catalog::Dependency> reads_;
};

} // namespace ouzel::sql
