#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/value/value.hpp"
#include "common/value/vector.hpp"

namespace ouzel::executor {

/// The constants of an IN list, for membership tests of whole vectors. Immutable after construction.
class ConstantSet {
public:
   /// All values have the physical type `type`. NULLs in `values` are not stored; they set hasNull().
   ConstantSet(PhysicalType type, std::span<const Value> values);

   /// Set flags[i] to whether the i-th live row's value equals one of the constants by SQL's =; for NULL any value.
   /// `hashes` is scratch with room for rows.count() hashes.
   void contains(const Vector& vector, Selection rows, uint64_t* hashes, uint8_t* flags) const;
   bool hasNull() const { return hasNull_; }
   uint32_t size() const { return count_; }
   /// Equal sets have equal fingerprints; the compiler shares nodes by them.
   const std::string& fingerprint() const { return fingerprint_; }

private:
   static constexpr uint32_t linearMax = 4; // up to so many constants, comparing is faster than hashing

   const std::byte* valueAt(uint32_t index) const { return storage_.data() + size_t{index} * physicalSize(type_); }

   PhysicalType type_;
   bool hasNull_ = false;
   uint32_t count_ = 0;
   std::vector<std::byte> storage_; // flat values; strings point into strings_
   std::vector<std::string> strings_;
   std::vector<uint32_t> slots_; // hash table with open addressing: index of the constant + 1; 0: empty
   uint32_t slotShift_ = 0;
   std::string fingerprint_;
};

} // namespace ouzel::executor
