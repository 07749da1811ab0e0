#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/error/sql_error.hpp"

// The bytes of fields of catalog objects: what a Writer writes a Reader reads. A function that lists the fields of a
// type is a template over the two, with const objects or with objects to fill.

namespace ouzel::catalog {

class Writer {
public:
   static constexpr bool isReading = false;
   /// Whether the bytes have the fields that this version of the format brought.
   bool has(int) const { return true; }
   void raw(std::string_view bytes) { out_.append(bytes); }
   void operator()(const std::string& value) {
      varint(value.size());
      out_.append(value);
   }
   void operator()(const bool& value) { out_.push_back(value ? '\1' : '\0'); }
   void operator()(const char& value) { out_.push_back(value); }
   void operator()(const uint8_t& value) { out_.push_back(static_cast<char>(value)); }
   template <typename T>
   requires std::is_enum_v<T>
   void operator()(const T& value) { (*this)(static_cast<std::underlying_type_t<T>>(value)); }
   template <typename T>
   requires std::is_integral_v<T>
   void operator()(const T& value) {
      const auto wide = static_cast<int64_t>(value);
      varint((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
   }
   void varint(uint64_t value) {
      while (value >= 0x80) {
         out_.push_back(static_cast<char>(value | 0x80));
         value >>= 7;
      }
      out_.push_back(static_cast<char>(value));
   }
   template <typename T>
   void list(const std::vector<T>& values) {
      varint(values.size());
   }
   std::string take() { return std::move(out_); }

private:
   std::string out_;
};

class Reader {
public:
   static constexpr bool isReading = true;
   bool has(int version) const { return version_ >= version; }
   void setVersion(int version) { version_ = version; }
   explicit Reader(std::string_view bytes) : rest_(bytes) {}
   [[noreturn, gnu::cold]] static void damaged() {
      throw SqlError(sqlstate::dataCorrupted, "the stored catalog is damaged");
   }
   std::string_view raw(size_t size) {
      if (size > rest_.size()) damaged();
      const std::string_view front = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return front;
   }
   void operator()(std::string& value) { value = raw(varint()); }
   void operator()(bool& value) { value = raw(1)[0] != '\0'; }
   void operator()(char& value) { value = raw(1)[0]; }
   void operator()(uint8_t& value) { value = static_cast<uint8_t>(raw(1)[0]); }
   template <typename T>
   requires std::is_enum_v<T>
   void operator()(T& value) {
      std::underlying_type_t<T> number;
      (*this)(number);
      value = static_cast<T>(number);
   }
   template <typename T>
   requires std::is_integral_v<T>
   void operator()(T& value) {
      const uint64_t zigzag = varint();
      value = static_cast<T>(static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1));
   }
   uint64_t varint() {
      uint64_t value = 0;
      for (int shift = 0; shift < 64; shift += 7) {
         const auto byte = static_cast<uint8_t>(raw(1)[0]);
         value |= static_cast<uint64_t>(byte & 0x7f) << shift;
         if (byte < 0x80) return value;
      }
      damaged();
   }
   template <typename T>
   void list(std::vector<T>& values) {
      const uint64_t count = varint();
      if (count > rest_.size()) damaged(); // every element takes at least one byte
      values.resize(count);
   }
   bool atEnd() const { return rest_.empty(); }

private:
   std::string_view rest_;
   int version_ = 0;
};

template <typename Coder, typename T>
void elements(Coder& coder, T& values) {
   coder.list(values);
   for (auto& value : values)
      coder(value);
}
template <typename Coder, typename T, typename Field>
void structures(Coder& coder, T& values, Field&& field) {
   coder.list(values);
   for (auto& value : values)
      field(value);
}
template <typename Coder, typename T, typename Field>
void optional(Coder& coder, T& value, Field&& field) {
   bool isPresent = value.has_value();
   coder(isPresent);
   if constexpr (Coder::isReading) {
      if (isPresent) value.emplace();
   }
   if (isPresent) field(*value);
}

} // namespace ouzel::catalog
