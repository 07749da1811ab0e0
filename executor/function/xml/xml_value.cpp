#include "executor/function/xml/xml_value.hpp"

#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "common/type/session_format.hpp"
#include "common/xml/names.hpp"
#include "executor/function/iso_time.hpp"
#include "executor/function/value_text.hpp"

namespace ouzel::executor {

namespace {

/// Lines of 72 characters.
void appendBase64(std::string& out, std::string_view bytes) {
   static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
   constexpr size_t bytesOfLine = 54;
   for (size_t i = 0; i < bytes.size(); i += 3) {
      if (i > 0 && i % bytesOfLine == 0) out += "\r\n";
      const size_t count = std::min<size_t>(3, bytes.size() - i);
      uint32_t group = 0;
      for (size_t k = 0; k < 3; ++k)
         group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
      for (size_t k = 0; k < 4; ++k)
         out.push_back(k <= count ? digits[group >> (18 - 6 * k) & 63] : '=');
   }
}

void appendHex(std::string& out, std::string_view bytes) {
   static constexpr char digits[] = "0123456789ABCDEF";
   for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
   }
}

void appendTime(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                const void* value) {
   const std::string text = isoTimeText(context, type, repr, value);
   if (text.ends_with("infinity")) {
      const std::string name = type.oid == oid::date ? "date" : "timestamp";
      throw SqlError(sqlstate::datetimeFieldOverflow, name + " out of range")
          .detail("XML does not support infinite " + name + " values.");
   }
   out += text;
}

bool isArray(Oid type) {
   return arrayElementType(type) != invalidOid || type == oid::int2vector || type == oid::oidvector;
}

void appendElements(std::string& out, const FunctionContext& context, std::string_view bytes) {
   const ArrayView array(bytes);
   const SqlType type{array.elementType(), -1, invalidOid};
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull()) continue;
      out += "<element>";
      appendXmlValue(out, context, type, {array.physical(), 0}, element.stored(), true);
      out += "</element>";
   }
}

} // namespace

void appendXmlValue(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                    const void* value, bool isEscaped) {
   const auto bytes = [&] { return static_cast<const StringView*>(value)->view(); };
   switch (type.oid) {
   case oid::boolean: out += *static_cast<const uint8_t*>(value) != 0 ? "true" : "false"; return;
   case oid::date:
   case oid::timestamp:
   case oid::timestamptz: return appendTime(out, context, type, repr, value);
   case oid::bytea:
      return sessionFormat(context).xmlBinary == XmlBinary::Hex ? appendHex(out, bytes()) : appendBase64(out, bytes());
   default: break;
   }
   if (isArray(type.oid)) return appendElements(out, context, bytes());
   if (type.oid == oid::xml || !isEscaped) return appendValueText(out, context, type, repr, value);
   std::string text;
   appendValueText(text, context, type, repr, value);
   xml::appendEscaped(out, text);
}

void appendXmlValue(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                    const Vector& vector, uint32_t row, bool isEscaped) {
   const auto* values = static_cast<const std::byte*>(vector.data);
   appendXmlValue(out, context, type, repr, values + size_t{vector.positionOf(row)} * physicalSize(vector.type),
                  isEscaped);
}

} // namespace ouzel::executor
