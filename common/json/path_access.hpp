#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/calendar/iso_date.hpp"
#include "common/json/jsonb.hpp"
#include "common/memory/arena.hpp"
#include "common/value/physical_type.hpp"

// What a scan gives of documents instead of the documents themselves: the values at a path, as a column of their own.

namespace ouzel::json {

enum class PathForm : uint8_t {
   Json,     ///< the value, as -> gives it
   Text,     ///< its text, as ->> gives it
   Value,    ///< a number, boolean or ISO date whose text is one of type `target`; NULL for all else
   Rest,     ///< the text where Value is NULL though there is a text
   KindName, ///< its jsonb_typeof()
   /// Whether what lies at all keys but the last has the last one: ? of a document, which may be an array or a string.
   HasKey,
   // Tests: true, or NULL.
   HasValue, ///< -> is not NULL
   HasText,  ///< ->> is not NULL
};

enum class PathTarget : uint8_t { Boolean, Int2, Int4, Int8, Float8, Numeric, Date };

/// The values at a path in one of these forms.
struct PathAccess {
   std::vector<std::string> keys; ///< of objects, from the document inwards; none for HasValue of the document itself
   PathForm form = PathForm::Json;
   PathTarget target = PathTarget::Numeric; ///< of Value and Rest
   /// Of a Value: whatever has a text is of the type, as statistics say, and numerics have this scale and 64 bits.
   /// Where that turns out wrong, reading throws XX000.
   bool isCertain = false;
   uint8_t scale = 0;

   bool isTyped() const { return form == PathForm::Value || form == PathForm::Rest; }
   /// Whether a JSON null at the path gives a value.
   bool givesOfNull() const {
      return form == PathForm::Json || form == PathForm::KindName || form == PathForm::HasKey ||
             form == PathForm::HasValue;
   }
   bool isTest() const { return form >= PathForm::HasValue; }
   /// Json, Text, Rest and KindName are String; HasKey and tests are Bool.
   PhysicalType resultType() const;
   Representation result() const { return {resultType(), scale}; }
   /// The keys of the value that is asked: HasKey asks what is around its last key.
   std::span<const std::string> valueKeys() const {
      return std::span(keys).first(keys.size() - (form == PathForm::HasKey ? 1 : 0));
   }
   bool operator==(const PathAccess&) const = default;
};

/// What lies at the path; nothing where a key is missing or has no object around it.
std::optional<JsonbView> find(JsonbView document, std::span<const std::string> keys);

/// Writes what the access gives of a document to `out`, as give() does of the value at its path.
bool giveOf(const PathAccess& access, JsonbView document, void* out, Arena& arena);

/// Writes what the access gives of the value at its path (HasKey: at the path of what may have the key) to `out`, which
/// has room for one value of the access's result type. False:
/// NULL. Strings point into the value or into `arena`.
bool give(const PathAccess& access, const JsonbView& value, void* out, Arena& arena);

/// What an access of form Value gives of a value that is of another type: NULL, which is false. Throws XX000 where the
/// access is certain that there is none.
bool notOfType(const PathAccess& access);

/// What jsonb_typeof() says of a value.
std::string_view nameOfKind(Kind kind);
/// Whether the value is an object with the key, an array with the string, or the string itself.
bool hasKey(const JsonbView& value, std::string_view key);

// The same for values whose kind is known and that are not in the form of jsonb:
bool giveNumber(const PathAccess& access, const StringView& decimal, void* out, Arena& arena);
bool giveBoolean(const PathAccess& access, bool value, void* out);
bool giveString(const PathAccess& access, const StringView& text, void* out, Arena& arena);
bool giveDate(const PathAccess& access, int32_t days, void* out, Arena& arena);

} // namespace ouzel::json
