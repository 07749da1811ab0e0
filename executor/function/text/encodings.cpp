#include <set>
#include <utility>

#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/text_table.hpp"
#include "common/text/encoding_converter.hpp"
#include "common/text/utf8.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// Text in other encodings, as bytea: convert(), convert_to(), convert_from(), length(); to_ascii(); the encodings'
// names.

namespace ouzel::executor {

namespace {

CharacterEncoding requireEncoding(const char* role, const StringView& name) {
   if (const auto found = encodingNamed(name.view())) return *found;
   throw SqlError(sqlstate::invalidParameterValue,
                  "invalid " + std::string(role) + "encoding name \"" + std::string(name.view()) + "\"");
}

/// Whether pg_conversion has a conversion. There are none between most encodings.
bool isConversion(CharacterEncoding from, CharacterEncoding to) {
   static const auto known = [] {
      std::set<std::pair<std::string_view, std::string_view>> pairs;
      const catalog::TextTable& table = *catalog::builtins().rows("pg_conversion");
      const uint32_t source = table.column("conforencoding"), target = table.column("contoencoding");
      for (uint32_t row = 0; row < table.rowCount(); ++row)
         pairs.emplace(*table.at(row, source), *table.at(row, target));
      return pairs;
   }();
   const std::string source = std::to_string(static_cast<int>(from)), target = std::to_string(static_cast<int>(to));
   return known.contains({source, target});
}

void requireConvertible(CharacterEncoding encoding) {
   if (!canConvert(encoding)) throwNotSupported("conversion of the encoding " + std::string(encodingName(encoding)));
}

StringView converted(std::string_view text, CharacterEncoding from, CharacterEncoding to, KernelEnv& env) {
   checkEncoded(from, text);
   if (from == to || to == CharacterEncoding::SqlAscii) return env.copy(text);
   if (from == CharacterEncoding::SqlAscii) {
      checkEncoded(to, text);
      return env.copy(text);
   }
   if (!isConversion(from, to))
      throw SqlError(sqlstate::undefinedFunction, "default conversion function for encoding \"" +
                                                      std::string(encodingName(from)) + "\" to \"" +
                                                      std::string(encodingName(to)) + "\" does not exist");
   requireConvertible(from);
   requireConvertible(to);
   ValueBuilder result(env.strings);
   toUtf8(from, text,
          [&](std::string_view utf8) { fromUtf8(to, utf8, [&](std::string_view bytes) { result.append(bytes); }); });
   return result.finish();
}

StringView convert(const StringView& bytes, const StringView& source, const StringView& target, KernelEnv& env) {
   const CharacterEncoding from = requireEncoding("source ", source), to = requireEncoding("destination ", target);
   return converted(bytes.view(), from, to, env);
}
StringView convertFrom(const StringView& bytes, const StringView& encoding, KernelEnv& env) {
   return converted(bytes.view(), requireEncoding("source ", encoding), CharacterEncoding::Utf8, env);
}
StringView convertTo(const StringView& text, const StringView& encoding, KernelEnv& env) {
   return converted(text.view(), CharacterEncoding::Utf8, requireEncoding("destination ", encoding), env);
}

int32_t lengthInEncoding(const StringView& bytes, const StringView& name) {
   const CharacterEncoding encoding = requireEncoding("", name);
   std::string_view rest = bytes.view();
   checkEncoded(encoding, rest);
   if (encoding == CharacterEncoding::Utf8) return static_cast<int32_t>(countCharacters(rest));
   int32_t count = 0;
   for (; !rest.empty(); ++count)
      rest.remove_prefix(characterBytes(encoding, rest));
   return count;
}

// ---- to_ascii ----

/// What the bytes from `first` on become.
struct AsciiTable {
   uint8_t first = 0;
   std::string_view letters;
};

AsciiTable asciiTable(CharacterEncoding encoding) {
   switch (encoding) {
   case CharacterEncoding::Latin1:
      return {160, "  cL Y  \"Ca  -R     'u .,      ?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty"};
   case CharacterEncoding::Latin2:
      return {160,
              " A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt."};
   case CharacterEncoding::Latin9:
      return {160, "  cL YS sCa  -R     Zu .z   EeY?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty"};
   case CharacterEncoding::Win1250:
      return {128,
              "  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTB"
              "raaaalccceeeeiiddnnoooo/ruuuuyt "};
   default:
      throw SqlError(sqlstate::featureNotSupported,
                     "encoding conversion from " + std::string(encodingName(encoding)) + " to ASCII not supported");
   }
}

/// Reads the bytes of a text as if they were in `encoding`, as PostgreSQL does.
StringView toAsciiFrom(const StringView& text, CharacterEncoding encoding, KernelEnv& env) {
   const AsciiTable table = asciiTable(encoding);
   ValueBuilder result(env.strings);
   result.reserve(text.size());
   for (const char c : text.view()) {
      const auto byte = static_cast<uint8_t>(c);
      const bool isKnown = byte >= table.first && byte < table.first + table.letters.size();
      result.push_back(byte < 0x80 ? c : isKnown ? table.letters[byte - table.first] : ' ');
   }
   return result.finish();
}

StringView toAscii(const StringView& text, KernelEnv& env) {
   return toAsciiFrom(text, CharacterEncoding::Utf8, env);
}
StringView toAsciiByNumber(const StringView& text, int32_t number, KernelEnv& env) {
   const auto encoding = encodingOf(number);
   if (!encoding) throw SqlError(sqlstate::undefinedObject, std::to_string(number) + " is not a valid encoding code");
   return toAsciiFrom(text, *encoding, env);
}
StringView toAsciiByName(const StringView& text, const StringView& name, KernelEnv& env) {
   const auto encoding = encodingNamed(name.view());
   if (!encoding) throw SqlError(sqlstate::undefinedObject, std::string(name.view()) + " is not a valid encoding name");
   return toAsciiFrom(text, *encoding, env);
}

// ---- names ----

StringView encodingToChar(int32_t number) {
   const auto encoding = encodingOf(number);
   return StringView(encoding ? encodingName(*encoding) : std::string_view());
}
int32_t charToEncoding(const StringView& name) {
   const auto encoding = encodingNamed(name.view());
   return encoding ? static_cast<int32_t>(*encoding) : -1;
}
std::optional<int32_t> encodingMaxLength(int32_t number) {
   const auto encoding = encodingOf(number);
   return encoding ? std::optional(characterBytesMax(*encoding)) : std::nullopt;
}

} // namespace

void registerEncodings() {
   addKernel<convert>("pg_convert");
   addKernel<convertFrom>("pg_convert_from");
   addKernel<convertTo>("pg_convert_to");
   addKernel<lengthInEncoding>("length_in_encoding");
   addKernel<toAscii>("to_ascii_default");
   addKernel<toAsciiByNumber>("to_ascii_enc");
   addKernel<toAsciiByName>("to_ascii_encname");
   addKernel<encodingToChar>("PG_encoding_to_char");
   addKernel<charToEncoding>("PG_char_to_encoding");
   addKernel<encodingMaxLength>("pg_encoding_max_length_sql");
}

} // namespace ouzel::executor
