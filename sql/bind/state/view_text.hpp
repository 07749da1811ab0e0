#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

namespace ouzel::sql {

/// Notes, while a view's query is bound, what its text must say instead so that it keeps its meaning, and what it
/// reads.
class ViewTextRecorder {
public:
   /// Replace `length` bytes of the source at `location`.
   void replace(uint32_t location, uint32_t length, std::string text);
   void readColumn(Oid relation, int16_t attribute);
   void readRelation(Oid relation);

   /// Instead, make the text say a new name for a relation (attribute 0) or for one of its columns.
   struct Rename {
      Oid relation = invalidOid;
      int16_t attribute = 0;
      std::string name;
   };
   void rename(Rename rename, std::string_view source) {
      rename_ = std::move(rename);
      source_ = source;
   }
   /// The reference being bound: its location and how many dotted parts it has; negative: none.
   void enterReference(int32_t location, uint32_t parts) {
      location_ = location;
      parts_ = parts;
      isRenamed_ = false;
   }
   /// True if the last reference names the renamed column.
   bool isRenamed() const { return isRenamed_; }
   /// Give the reference at `location`, an output without a name of its own, its old name.
   void keepOutputName(int32_t location, std::string_view name);
   void renameTable(Oid relation, int32_t location, uint32_t parts, std::string_view alias);
   bool renamesColumn(Oid relation, int16_t attribute) const {
      return rename_.relation && rename_.relation == relation && rename_.attribute == attribute && attribute;
   }

   /// The text source[offset, offset + length) with all replacements inside it made.
   std::string apply(std::string_view source, uint32_t offset, uint32_t length) const;
   std::vector<catalog::Dependency> dependencies() const;

private:
   struct Edit {
      uint32_t location, length;
      std::string text;
   };
   /// Where the last of `parts` dotted identifiers at `location` begins and how long it is.
   std::pair<uint32_t, uint32_t> lastPart(int32_t location, uint32_t parts) const;

   std::vector<Edit> edits_;
   Rename rename_;
   std::string_view source_;
   int32_t location_ = -1;
   uint32_t parts_ = 1;
   bool isRenamed_ = false;
   std::vector<catalog::Dependency> reads_;
};

} // namespace ouzel::sql
