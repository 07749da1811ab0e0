#include "executor/function/extension/pgcrypto_armor.hpp"

#include <openssl/evp.h>

#include "common/type/array.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

namespace ouzel::executor {

namespace {

constexpr std::string_view firstLine = "-----BEGIN PGP MESSAGE-----\n", lastLine = "\n-----END PGP MESSAGE-----\n";

[[noreturn]] void corrupt() {
   throw SqlError(sqlstate::externalRoutineInvocationException, "Corrupt ascii-armor");
}

uint32_t crc24(std::string_view data) {
   uint32_t crc = 0xb704ce;
   for (const char c : data) {
      crc ^= static_cast<uint32_t>(static_cast<unsigned char>(c)) << 16;
      for (int bit = 0; bit < 8; ++bit) {
         crc <<= 1;
         if (crc & 0x1000000) crc ^= 0x1864cfb;
      }
   }
   return crc & 0xffffff;
}

std::string base64(std::string_view data) {
   std::string text((data.size() + 2) / 3 * 4 + 1, '\0');
   EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(data.data()),
                   static_cast<int>(data.size()));
   text.pop_back(); // the zero at the end
   return text;
}

std::string fromBase64(std::string_view text) {
   std::string digits;
   for (const char c : text)
      if (c != '\n' && c != '\r' && c != ' ' && c != '\t') digits += c;
   if (digits.size() % 4 != 0) corrupt();
   std::string data(digits.size() / 4 * 3, '\0');
   const int size =
       EVP_DecodeBlock(reinterpret_cast<unsigned char*>(data.data()),
                       reinterpret_cast<const unsigned char*>(digits.data()), static_cast<int>(digits.size()));
   if (size < 0) corrupt();
   for (size_t i = digits.size(); i > 0 && digits[i - 1] == '='; --i)
      data.pop_back();
   return data;
}

std::string threeBytes(uint32_t value) {
   return {static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// Where a line begins that starts with `start`; npos: there is none.
size_t lineWith(std::string_view text, std::string_view start, size_t from = 0) {
   for (size_t at = from; at < text.size();) {
      if (text.substr(at).starts_with(start)) return at;
      const size_t end = text.find('\n', at);
      if (end == std::string_view::npos) break;
      at = end + 1;
   }
   return std::string_view::npos;
}

size_t afterLine(std::string_view text, size_t at) {
   const size_t end = text.find('\n', at);
   if (end == std::string_view::npos) corrupt();
   return end + 1;
}

struct Place {
   size_t headers, data, checksum, end; ///< where they begin
};

Place placeOf(std::string_view text) {
   Place place{};
   const size_t begin = lineWith(text, "-----BEGIN PGP ");
   if (begin == std::string_view::npos) corrupt();
   place.headers = afterLine(text, begin);
   place.data = place.headers;
   while (text[place.data] != '\n' && text[place.data] != '\r')
      if ((place.data = afterLine(text, place.data)) >= text.size()) corrupt();
   place.end = lineWith(text, "-----END ", place.data);
   if (place.end == std::string_view::npos) corrupt();
   const size_t mark = text.substr(0, place.end).rfind("\n=");
   if (mark == std::string_view::npos || mark + 6 > place.end) corrupt();
   place.checksum = mark + 2;
   return place;
}

std::string armored(std::string_view data, std::string_view headers) {
   std::string text(firstLine);
   text += headers;
   text += '\n';
   constexpr size_t lineLength = 76;
   const std::string digits = base64(data);
   for (size_t at = 0; at < digits.size(); at += lineLength) {
      text.append(digits, at, lineLength);
      if (at + lineLength <= digits.size()) text += '\n';
   }
   if (text.back() != '\n') text += '\n';
   return text + "=" + base64(threeBytes(crc24(data))) + std::string(lastLine);
}

/// The texts of the one-dimensional array.
std::vector<std::string> textsOf(std::string_view bytes, const char* kind, std::string_view forbidden) {
   const ArrayView array(bytes);
   if (array.dimensionCount() > 1) throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
   std::vector<std::string> texts;
   const auto refuse = [&](const std::string& what) {
      throw SqlError(sqlstate::invalidParameterValue, std::string("header ") + kind + " must not contain " + what);
   };
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull())
         throw SqlError(sqlstate::nullValueNotAllowed, std::string("null value not allowed for header ") + kind);
      const std::string_view text = element.as<StringView>().view();
      for (const char c : text)
         if (static_cast<unsigned char>(c) >= 0x80) refuse("non-ASCII characters");
      if (!forbidden.empty() && text.find(forbidden) != std::string_view::npos)
         refuse("\"" + std::string(forbidden) + "\"");
      if (text.find('\n') != std::string_view::npos) refuse("newlines");
      texts.emplace_back(text);
   }
   return texts;
}

StringView armor(const StringView& data, KernelEnv& env) {
   return env.copy(armored(data.view(), {}));
}

StringView armorWithHeaders(const StringView& data, const StringView& keys, const StringView& values, KernelEnv& env) {
   const ArrayView keyArray(keys.view()), valueArray(values.view());
   if (keyArray.dimensionCount() > 1 || valueArray.dimensionCount() > 1)
      throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
   if (keyArray.size() != valueArray.size())
      throw SqlError(sqlstate::arraySubscriptError, "mismatched array dimensions");
   const std::vector<std::string> names = textsOf(keys.view(), "key", ": "),
                                  texts = textsOf(values.view(), "value", "");
   std::string headers;
   for (size_t i = 0; i < names.size(); ++i)
      headers += names[i] + ": " + texts[i] + "\n";
   return env.copy(armored(data.view(), headers));
}

StringView dearmor(const StringView& text, KernelEnv& env) {
   return env.copy(readArmor(text.view()).data);
}

} // namespace

ArmorParts readArmor(std::string_view text) {
   const Place place = placeOf(text);
   ArmorParts parts{{}, fromBase64(text.substr(place.data, place.checksum - 1 - place.data))};
   if (fromBase64(text.substr(place.checksum, 4)) != threeBytes(crc24(parts.data))) corrupt();
   parts.headers = readArmorHeaders(text);
   return parts;
}

std::vector<std::pair<std::string, std::string>> readArmorHeaders(std::string_view text) {
   const Place place = placeOf(text);
   std::vector<std::pair<std::string, std::string>> headers;
   for (size_t at = place.headers; at < place.data;) {
      const size_t next = afterLine(text, at);
      std::string_view line = text.substr(at, next - 1 - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      const size_t colon = line.find(": ");
      if (colon == std::string_view::npos) corrupt();
      headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
      at = next;
   }
   return headers;
}

void registerPgcryptoArmor() {
   addKernel<armor>("pgcrypto/pg_armor");
   addKernel<armorWithHeaders>("pgcrypto/pg_armor");
   addKernel<dearmor>("pgcrypto/pg_dearmor");
}

} // namespace ouzel::executor
