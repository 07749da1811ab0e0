#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/error/sql_error.hpp"

// Bytes of headers, manifests and log records: fixed-size numbers are little-endian, counts are varints, strings carry
// their length. A reader checks each access against the end of the bytes. Columns of blocks have formats of their own
// (storage/block/format.hpp).

namespace ouzel::storage {

static_assert(std::endian::native == std::endian::little);

/// Appends to a string it does not own.
class ByteWriter {
public:
   explicit ByteWriter(std::string& out) : out_(out) {}

   template <typename T>
   void fixed(T value) {
      static_assert(std::is_trivially_copyable_v<T>);
      out_.append(reinterpret_cast<const char*>(&value), sizeof value);
   }
   void varint(uint64_t value) {
      for (; value >= 0x80; value >>= 7)
         out_.push_back(static_cast<char>(value | 0x80));
      out_.push_back(static_cast<char>(value));
   }
   void string(std::string_view bytes) {
      varint(bytes.size());
      out_.append(bytes);
   }
   void raw(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
   std::string& out() { return out_; }

private:
   std::string& out_;
};

/// Reads the bytes of a ByteWriter; a view, does not own them. Throws XX001 at any attempt to read past the end.
class ByteReader {
public:
   explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

   template <typename T>
   T fixed() {
      static_assert(std::is_trivially_copyable_v<T>);
      T value;
      std::memcpy(&value, take(sizeof value).data(), sizeof value);
      return value;
   }
   uint64_t varint() {
      uint64_t value = 0;
      for (uint32_t shift = 0; shift < 64; shift += 7) {
         const auto byte = static_cast<uint8_t>(take(1)[0]);
         value |= static_cast<uint64_t>(byte & 0x7f) << shift;
         if ((byte & 0x80) == 0) return value;
      }
      corrupted();
   }
   /// A varint that counts things of at least `itemSize` bytes each, so that a damaged count cannot exhaust memory.
   size_t count(size_t itemSize = 1) {
      const uint64_t n = varint();
      if (n > rest_.size() / itemSize) corrupted();
      return n;
   }
   std::string_view string() { return take(count()); }
   std::string_view take(size_t size) {
      if (size > rest_.size()) corrupted();
      const std::string_view bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return bytes;
   }
   std::string_view& rest() { return rest_; }
   bool atEnd() const { return rest_.empty(); }

   [[noreturn, gnu::cold]] static void corrupted() {
      throw SqlError(sqlstate::dataCorrupted, "stored metadata is malformed");
   }

private:
   std::string_view rest_;
};

} // namespace ouzel::storage
