#include <algorithm>
#include <array>
#include <memory>
#include <openssl/evp.h>

#include "common/base_type/bit_string.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/interruption.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// Functions of bytea: digests, encode and decode, single bits and bytes.

namespace ouzel::executor {

namespace {

/// Between two of these many bytes a function looks whether its statement was cancelled.
constexpr size_t bytesAtOnce = size_t{4} << 20;

// ---- digests ----

std::string digest(const EVP_MD* algorithm, std::string_view bytes) {
   std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
   unsigned int size = 0;
   const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
   bool ok = context && EVP_DigestInit_ex(context.get(), algorithm, nullptr) == 1;
   for (; ok && !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), bytesAtOnce))) {
      if (bytes.size() > bytesAtOnce) checkInterrupted();
      ok = EVP_DigestUpdate(context.get(), bytes.data(), std::min(bytes.size(), bytesAtOnce)) == 1;
   }
   if (!ok || EVP_DigestFinal_ex(context.get(), hash.data(), &size) != 1) throwInternal("digest failed");
   return {reinterpret_cast<const char*>(hash.data()), size};
}

void toHex(std::string_view bytes, ValueBuilder& result) {
   result.reserve(bytes.size() * 2);
   while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, bytesAtOnce);
      if (bytes.size() > part.size()) checkInterrupted();
      char* target = result.extend(part.size() * 2);
      for (const char c : part) {
         const auto byte = static_cast<unsigned char>(c);
         *target++ = "0123456789abcdef"[byte >> 4];
         *target++ = "0123456789abcdef"[byte & 15];
      }
      bytes.remove_prefix(part.size());
   }
}

StringView md5(const StringView& s, KernelEnv& env) {
   ValueBuilder result(env.strings);
   toHex(digest(EVP_md5(), s.view()), result);
   return result.finish();
}
template <const EVP_MD* (*algorithm)()>
StringView sha(const StringView& s, KernelEnv& env) {
   return env.copy(digest(algorithm(), s.view()));
}

// ---- encode, decode ----

enum class Format : uint8_t { Hex, Base64, Escape };
Format formatOf(std::string_view name) {
   std::string lower;
   for (const char c : name)
      lower.push_back(asciiLower(c));
   if (lower == "hex") return Format::Hex;
   if (lower == "base64") return Format::Base64;
   if (lower == "escape") return Format::Escape;
   throw SqlError(sqlstate::invalidParameterValue, "unrecognized encoding: \"" + std::string(name) + "\"");
}

constexpr char base64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void toBase64(std::string_view bytes, ValueBuilder& result) {
   constexpr size_t lineLength = 76;
   size_t line = 0;
   for (size_t i = 0; i < bytes.size(); i += 3) {
      uint32_t group = 0;
      const size_t count = std::min<size_t>(3, bytes.size() - i);
      for (size_t k = 0; k < 3; ++k)
         group = (group << 8) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
      for (size_t k = 0; k < 4; ++k)
         result.push_back(k <= count ? base64Digits[(group >> (18 - 6 * k)) & 63] : '=');
      line += 4;
      if (line >= lineLength && i + 3 < bytes.size()) {
         result.push_back('\n');
         line = 0;
      }
   }
}

void fromBase64(std::string_view text, ValueBuilder& result) {
   uint32_t group = 0, position = 0, padding = 0;
   for (const char& c : text) {
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
      uint32_t digit = 0;
      if (c == '=') {
         // One "=" needs three digits before it, two "=" need two digits.
         if (padding == 0 && position < 2)
            throw SqlError(sqlstate::invalidParameterValue, "unexpected \"=\" while decoding base64 sequence");
         ++padding;
      } else {
         const char* found = std::char_traits<char>::find(base64Digits, 64, c);
         if (!found || padding > 0) {
            const size_t at = static_cast<size_t>(&c - text.data());
            throw SqlError(sqlstate::invalidParameterValue, "invalid symbol \"" +
                                                                std::string(text.substr(at, characterBytes(c))) +
                                                                "\" found while decoding base64 sequence");
         }
         digit = static_cast<uint32_t>(found - base64Digits);
      }
      group = (group << 6) | digit;
      if (++position < 4) continue;
      result.push_back(static_cast<char>(group >> 16));
      if (padding < 2) result.push_back(static_cast<char>(group >> 8));
      if (padding < 1) result.push_back(static_cast<char>(group));
      group = position = 0;
   }
   if (position != 0)
      throw SqlError(sqlstate::invalidParameterValue, "invalid base64 end sequence")
          .hint("Input data is missing padding, is truncated, or is otherwise corrupted.");
}

uint32_t hexDigit(std::string_view text, size_t at) {
   const char c = text[at];
   if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
   if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
   if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
   throw SqlError(sqlstate::invalidParameterValue,
                  "invalid hexadecimal digit: \"" + std::string(text.substr(at, characterBytes(c))) + "\"");
}
void fromHex(std::string_view text, ValueBuilder& result) {
   for (size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
         ++i;
         continue;
      }
      const uint32_t high = hexDigit(text, i++);
      if (i >= text.size())
         throw SqlError(sqlstate::invalidParameterValue, "invalid hexadecimal data: odd number of digits");
      result.push_back(static_cast<char>((high << 4) | hexDigit(text, i++)));
   }
}

void toEscape(std::string_view bytes, ValueBuilder& result) {
   for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0 || byte >= 0x80) {
         result.push_back('\\');
         for (const int shift : {6, 3, 0})
            result.push_back(static_cast<char>('0' + ((byte >> shift) & 7)));
      } else {
         if (c == '\\') result.push_back('\\');
         result.push_back(c);
      }
   }
}
void fromEscape(std::string_view text, ValueBuilder& result) {
   const auto octal = [&](size_t at, char max) { return at < text.size() && text[at] >= '0' && text[at] <= max; };
   for (size_t i = 0; i < text.size();) {
      if (text[i] != '\\') {
         result.push_back(text[i++]);
      } else if (octal(i + 1, '3') && octal(i + 2, '7') && octal(i + 3, '7')) {
         result.push_back(
             static_cast<char>(((text[i + 1] - '0') << 6) | ((text[i + 2] - '0') << 3) | (text[i + 3] - '0')));
         i += 4;
      } else if (i + 1 < text.size() && text[i + 1] == '\\') {
         result.push_back('\\');
         i += 2;
      } else {
         throw SqlError(sqlstate::invalidTextRepresentation, "invalid input syntax for type bytea");
      }
   }
}

StringView encode(const StringView& bytes, const StringView& format, KernelEnv& env) {
   ValueBuilder result(env.strings);
   switch (formatOf(format.view())) {
   case Format::Hex: toHex(bytes.view(), result); break;
   case Format::Base64: toBase64(bytes.view(), result); break;
   case Format::Escape: toEscape(bytes.view(), result); break;
   }
   return result.finish();
}
StringView decode(const StringView& text, const StringView& format, KernelEnv& env) {
   ValueBuilder result(env.strings);
   switch (formatOf(format.view())) {
   case Format::Hex: fromHex(text.view(), result); break;
   case Format::Base64: fromBase64(text.view(), result); break;
   case Format::Escape: fromEscape(text.view(), result); break;
   }
   return result.finish();
}

// ---- bits and bytes ----

[[noreturn]] void throwIndex(int64_t index, int64_t max) {
   throw SqlError(sqlstate::arraySubscriptError,
                  "index " + std::to_string(index) + " out of valid range, 0.." + std::to_string(max));
}
int32_t getByte(const StringView& s, int32_t index) {
   if (index < 0 || index >= static_cast<int64_t>(s.size())) throwIndex(index, int64_t{s.size()} - 1);
   return static_cast<unsigned char>(s.view()[static_cast<size_t>(index)]);
}
int32_t getBit(const StringView& s, int64_t index) {
   if (index < 0 || index >= int64_t{s.size()} * 8) throwIndex(index, int64_t{s.size()} * 8 - 1);
   return (s.view()[static_cast<size_t>(index / 8)] >> (index % 8)) & 1;
}
StringView setByte(const StringView& s, int32_t index, int32_t value, KernelEnv& env) {
   if (index < 0 || index >= static_cast<int64_t>(s.size())) throwIndex(index, int64_t{s.size()} - 1);
   ValueBuilder result(env.strings);
   result.append(s.view()).data()[index] = static_cast<char>(value);
   return result.finish();
}
StringView setBit(const StringView& s, int64_t index, int32_t value, KernelEnv& env) {
   if (index < 0 || index >= int64_t{s.size()} * 8) throwIndex(index, int64_t{s.size()} * 8 - 1);
   if (value != 0 && value != 1) throw SqlError(sqlstate::invalidParameterValue, "new bit must be 0 or 1");
   ValueBuilder result(env.strings);
   char& byte = result.append(s.view()).data()[index / 8];
   const auto bit = static_cast<char>(1 << (index % 8));
   byte = static_cast<char>(value ? byte | bit : byte & ~bit);
   return result.finish();
}
int64_t bitCount(const StringView& s) {
   int64_t count = 0;
   for (const char c : s.view())
      count += __builtin_popcount(static_cast<unsigned char>(c));
   return count;
}
int32_t bitLength(const StringView& s, KernelEnv& env) {
   if (env.call.argTypes[0].oid == oid::bit) return static_cast<int32_t>(BitView(s.view()).size());
   return static_cast<int32_t>(s.size() * 8);
}

} // namespace

void registerBytes() {
   addKernels<md5>({"md5_text", "md5_bytea"}, totalKernel);
   addKernel<sha<EVP_sha224>>("sha224_bytea", totalKernel);
   addKernel<sha<EVP_sha256>>("sha256_bytea", totalKernel);
   addKernel<sha<EVP_sha384>>("sha384_bytea", totalKernel);
   addKernel<sha<EVP_sha512>>("sha512_bytea", totalKernel);
   addKernel<encode>("binary_encode");
   addKernel<decode>("binary_decode");
   addKernel<getByte>("byteaGetByte");
   addKernel<getBit>("byteaGetBit");
   addKernel<setByte>("byteaSetByte");
   addKernel<setBit>("byteaSetBit");
   addKernel<bitCount>("bytea_bit_count", totalKernel);
   addKernel<bitLength>("sql:bit_length", totalKernel);
}

} // namespace ouzel::executor
