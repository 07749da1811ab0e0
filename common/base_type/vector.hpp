#pragma once
#include <cstring>
#include <string_view>

#include "common/base_type/type_form.hpp"

// The type vector of the extension of that name: floats, one after the other. They are finite, and there is at least
// one. Their order is none of bytes.

namespace ouzel {

namespace oid {
/// Of types that only extensions have; pg_type has rows for them while the extension is there.
inline constexpr Oid vector = 9200, vectorArray = 9201;
} // namespace oid

inline constexpr uint32_t vectorDimensionsMax = 16000;

/// The floats of a value; they may lie at any address.
class FloatsView {
public:
   explicit FloatsView(std::string_view bytes) : bytes_(bytes) {}
   uint32_t size() const { return static_cast<uint32_t>(bytes_.size() / sizeof(float)); }
   float operator[](size_t i) const { return valueAt<float>(bytes_.data() + i * sizeof(float)); }
   const char* data() const { return bytes_.data(); }

private:
   std::string_view bytes_;
};

/// Throws 22000 for NaN and infinity.
void requireFinite(float value);
/// Throws 22000 or 54000 unless a vector may have so many dimensions.
void requireDimensions(size_t count);
/// Throws 22000 unless the vector has the dimensions of vector(n); -1: any.
void requireTypmod(uint32_t dimensions, int32_t typmod);

extern const TypeForm vectorForm;

} // namespace ouzel
