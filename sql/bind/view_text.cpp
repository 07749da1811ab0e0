#include "sql/bind/view_text.hpp"

#include <algorithm>

namespace ouzel::sql {

void ViewTextRecorder::replace(uint32_t location, uint32_t length, std::string text) {
   // Some expressions are bound more than once.
   for (const Edit& edit : edits_)
      if (edit.location == location && edit.length == length) return;
   edits_.push_back({location, length, std::move(text)});
}

void ViewTextRecorder::readColumn(Oid relation, int16_t attribute) {
   if (relation) reads_.push_back({relation, attribute});
}

void ViewTextRecorder::readRelation(Oid relation) {
   reads_.push_back({relation, 0});
}

std::string ViewTextRecorder::apply(std::string_view source, uint32_t offset, uint32_t length) const {
   std::vector<Edit> edits = edits_;
   std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.location < b.location; });
   std::string text;
   uint32_t copied = offset;
   for (const Edit& edit : edits) {
      if (edit.location < copied || edit.location + edit.length > offset + length) continue;
      text += source.substr(copied, edit.location - copied);
      text += edit.text;
      copied = edit.location + edit.length;
   }
   text += source.substr(copied, offset + length - copied);
   return text;
}

std::vector<catalog::Dependency> ViewTextRecorder::dependencies() const {
   auto reads = reads_;
   std::sort(reads.begin(), reads.end());
   reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
   return reads;
}

} // namespace ouzel::sql
