#include "common/value/batch.hpp"

#include <cstring>
#include <utility>

namespace ouzel {

namespace {

std::string brokenSelection(const Selection& selection, uint32_t rowCount) {
   if (rowCount > batchRowsMax) return "more than batchRowsMax rows";
   if (selection.count() > rowCount) return "more live rows than rows";
   if (selection.isDense())
      return selection.count() == rowCount ? "" : "a dense selection of fewer rows than there are";
   for (uint32_t i = 0; i < selection.count(); ++i) {
      if (selection.rows()[i] >= rowCount) return "a selected row past the end";
      if (i > 0 && selection.rows()[i - 1] >= selection.rows()[i]) return "a selection that is not ascending";
   }
   return "";
}

const char* brokenString(const StringView& string) {
   char bytes[sizeof(StringView)];
   std::memcpy(bytes, &string, sizeof bytes);
   if (string.isInline()) {
      if (string.storage() != StringView::Storage::Transient) return "an inline string with a storage class";
      for (size_t i = 4 + string.size(); i < sizeof bytes; ++i)
         if (bytes[i] != 0) return "an inline string whose unused bytes are not zero";
      return nullptr;
   }
   if (string.storage() > StringView::Storage::Permanent) return "a string of no storage class";
   if (string.data() == nullptr) return "a long string that points nowhere";
   // The bytes were reused when they no longer begin with the prefix that was taken of them.
   if (std::memcmp(bytes + 4, string.data(), 4) != 0) return "a string whose bytes differ from its prefix";
   return nullptr;
}

const char* brokenValue(const Vector& vector, uint32_t position) {
   if (!isValidBit(vector.validity, position)) return nullptr;
   if (isVariableSize(vector.type)) return brokenString(static_cast<const StringView*>(vector.data)[position]);
   if (vector.type == PhysicalType::Bool && static_cast<const uint8_t*>(vector.data)[position] > 1)
      return "a boolean that is neither 0 nor 1";
   return nullptr;
}

const char* brokenShape(const Vector& vector) {
   if (static_cast<uint32_t>(vector.type) >= physicalTypeCount) return "a type that does not exist";
   if (vector.encoding > Encoding::Dictionary) return "an encoding that does not exist";
   if (vector.data == nullptr) return "no data";
   if (vector.encoding != Encoding::Dictionary) return nullptr;
   if (vector.codes == nullptr) return "a dictionary without codes";
   return vector.dictionarySize == 0 ? "an empty dictionary" : nullptr;
}

/// REQUIRES: a sound selection with live rows.
const char* brokenVector(const Vector& vector, const Selection& selection) {
   if (const char* broken = brokenShape(vector)) return broken;
   if (vector.encoding == Encoding::Constant) return brokenValue(vector, 0);
   const bool isDictionary = vector.encoding == Encoding::Dictionary;
   for (uint32_t i = 0; i < selection.count(); ++i) {
      const uint32_t row = selection.row(i);
      if (isDictionary && vector.codes[row] >= vector.dictionarySize) return "a code past the dictionary's end";
      if (const char* broken = brokenValue(vector, vector.positionOf(row))) return broken;
   }
   return nullptr;
}

} // namespace

std::string Batch::brokenPromise() const {
   std::string broken = brokenSelection(selection, rowCount);
   if (!broken.empty() || liveRows() == 0) return broken;
   for (size_t i = 0; i < columns.size(); ++i)
      if (const char* what = brokenVector(columns[i], selection))
         return std::string(what) + " in column " + std::to_string(i);
   return "";
}

std::string Batch::brokenPromise(std::span<const PhysicalType> expected) const {
   if (liveRows() == 0) return brokenPromise();
   if (columns.size() != expected.size())
      return std::to_string(columns.size()) + " columns instead of " + std::to_string(expected.size());
   for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].type != expected[i]) return "another type than the plan's in column " + std::to_string(i);
   return brokenPromise();
}

} // namespace ouzel
