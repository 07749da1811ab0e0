#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>

#include "common/json/jsonb.hpp"
#include "common/memory/arena.hpp"

namespace ouzel::executor {

/// The numbers by which jsonpath's keyvalue() tells objects apart: where an object begins in the document's binary form
/// in PostgreSQL, in bytes from the beginning of the base object. That form is
///
///   a word; a word for each element, or for each key and each value; the elements, or the keys and the values
///
/// with 4 bytes a word; numbers and containers begin at multiples of 4. Strings are as long as their text, numbers as
/// PostgreSQL's numeric, true, false and null take nothing.
///
/// A container's positions are computed when they are first asked for and kept in the arena.
class ObjectIds {
public:
   explicit ObjectIds(Arena& arena) : arena_(arena) {}

   /// Where `object`, which is `base` or lies in it, begins.
   int64_t offset(const json::JsonbView& base, const json::JsonbView& object);

private:
   /// Where each element or value begins, from the beginning of the container.
   std::span<const uint32_t> positions(const json::JsonbView& container);

   Arena& arena_;
   std::unordered_map<const char*, std::span<const uint32_t>> known_; ///< by the first byte of the container
};

} // namespace ouzel::executor
