#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::io {

struct ObjectInfo {
   std::string name;
   uint64_t size = 0;
};

/// When a put takes effect.
struct PutCondition {
   enum class Kind : uint8_t { Always, IfAbsent, IfMatch };
   Kind kind = Kind::Always;
   std::string tag; ///< IfMatch: what the object's tag must still be
   static PutCondition ifAbsent() { return {Kind::IfAbsent, {}}; }
   static PutCondition ifMatch(std::string tag) { return {Kind::IfMatch, std::move(tag)}; }
};

/// One object opened for ranged reads. Thread-safe. Stays readable after the object was removed where the store can
/// keep that promise (a directory can).
class ObjectReader {
public:
   virtual ~ObjectReader() = default;
   /// Read exactly [offset, offset + size); 58030 when the object is shorter.
   virtual void read(uint64_t offset, size_t size, void* target) const = 0;
   /// A hint that the range will be read soon.
   virtual void prefetch(uint64_t offset, size_t size) const = 0;
   virtual uint64_t size() const = 0;
};

/// Named immutable byte strings: S3, or a directory with the same promises. A put is atomic and, when it returns,
/// durable. Names are '/'-separated words of letters, digits, '.', '_' and '-'. Thread-safe. Failures throw 58030,
/// 53100 when full; what a caller branches on is a result.
class ObjectStore {
public:
   virtual ~ObjectStore() = default;

   /// Store the concatenation of `parts`. False when the condition did not hold; nothing changed then.
   virtual bool put(std::string_view name, std::span<const std::string_view> parts,
                    const PutCondition& condition = {}) = 0;
   bool put(std::string_view name, std::string_view bytes, const PutCondition& condition = {}) {
      return put(name, std::span(&bytes, 1), condition);
   }
   /// Null when there is no such object.
   virtual std::unique_ptr<ObjectReader> open(std::string_view name) = 0;
   /// The whole object; empty when there is none.
   std::optional<std::string> get(std::string_view name);
   /// Changes whenever the object is replaced; empty when there is none.
   virtual std::optional<std::string> tag(std::string_view name) = 0;
   /// Objects whose names begin with `prefix`, in byte order of the names; at most `limit`.
   virtual std::vector<ObjectInfo> list(std::string_view prefix, size_t limit = SIZE_MAX) = 0;
   /// Removing what is not there is fine.
   virtual void remove(std::string_view name) = 0;
};

} // namespace ouzel::io
