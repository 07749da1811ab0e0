#include "catalog/object/search_path.hpp"
#include "common/base_type/network_address.hpp"
#include "common/text/number_text.hpp"
#include "common/value/form_oids.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/parse_ident.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"
#include "executor/function/value_text.hpp"

// concat, concat_ws, format and quoting: functions that take values of any type as text.

namespace ouzel::executor {

namespace {

void appendArgument(ValueBuilder& out, const KernelCall& call, size_t arg, uint32_t row) {
   appendRowText(out, call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row);
}
/// The text of an argument that a function takes apart.
std::string textOfArgument(const KernelCall& call, size_t arg, uint32_t row) {
   std::string text;
   appendRowText(text, call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row);
   return text;
}

void concat(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      ValueBuilder text(result.strings());
      for (size_t i = 0; i < call.args.size(); ++i)
         if (!call.args[i].isNull(row)) appendArgument(text, call, i, row);
      out[row] = text.finish();
   });
}

void concatWithSeparator(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      ValueBuilder text(result.strings());
      bool isFirst = true;
      for (size_t i = 1; i < call.args.size(); ++i) {
         if (call.args[i].isNull(row)) continue;
         if (!isFirst) text.append(call.args[0].value<StringView>(row).view());
         isFirst = false;
         appendArgument(text, call, i, row);
      }
      out[row] = text.finish();
   });
}

std::string addressText(const StringView& address) {
   std::string text;
   appendWithPrefix(text, readNetworkAddress(address.view()));
   return text;
}

/// text || value and value || text. The value is converted as by a cast to text, which for some types is not what their
/// output function gives: "true", not "t"; "10.1.2.3/32", not "10.1.2.3".
void concatPair(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      ValueBuilder text(result.strings());
      for (size_t i = 0; i < call.args.size(); ++i) {
         if (call.args[i].isNull(row)) return result.setNull(row);
         if (call.argTypes[i].oid == oid::boolean)
            text.append(call.args[i].value<uint8_t>(row) != 0 ? "true" : "false");
         else if (call.argTypes[i].oid == oid::inet || call.argTypes[i].oid == oid::cidr)
            text.append(addressText(call.args[i].value<StringView>(row)));
         else
            appendArgument(text, call, i, row);
      }
      out[row] = text.finish();
   });
}

// ---- quoting ----

void quoteLiteral(std::string_view text, ValueBuilder& result) {
   if (text.find('\\') != std::string_view::npos) result.push_back('E');
   result.push_back('\'');
   for (const char c : text) {
      if (c == '\'' || c == '\\') result.push_back(c);
      result.push_back(c);
   }
   result.push_back('\'');
}
StringView quoteLiteralText(const StringView& s, KernelEnv& env) {
   ValueBuilder result(env.strings);
   quoteLiteral(s.view(), result);
   return result.finish();
}
StringView quoteNullableText(std::optional<StringView> s, KernelEnv& env) {
   return s ? quoteLiteralText(*s, env) : StringView("NULL", 4);
}
StringView quoteIdent(const StringView& s, KernelEnv& env) {
   return env.copy(catalog::quoteIdentifier(s.view()));
}

template <bool nullable>
void quoteAny(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) {
         if (!nullable) return result.setNull(row);
         out[row] = StringView("NULL", 4);
         return;
      }
      ValueBuilder text(result.strings());
      quoteLiteral(textOfArgument(call, 0, row), text);
      out[row] = text.finish();
   });
}

// ---- format() ----

[[noreturn]] void throwFormat(const char* message) {
   throw SqlError(sqlstate::invalidParameterValue, message);
}

/// One %[position$][flags][width]type.
struct Specifier {
   int32_t position = 0; ///< 0: the next argument
   bool isLeft = false;
   bool hasWidthArgument = false;
   int32_t widthPosition = 0; ///< 0: the next argument
   int32_t width = 0;
   char type = 0;
};

/// Read a number at `at`, and move `at` past it. Nullopt: there is no digit.
std::optional<int32_t> takeNumber(std::string_view format, size_t& at) {
   int64_t number = 0;
   const size_t begin = at;
   while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
      number = number * 10 + (format[at++] - '0');
      if (number > INT32_MAX) throw SqlError(sqlstate::numericValueOutOfRange, "number is out of range");
   }
   return at == begin ? std::nullopt : std::optional(static_cast<int32_t>(number));
}

char requireChar(std::string_view format, size_t at) {
   if (at >= format.size())
      throw SqlError(sqlstate::invalidParameterValue, "unterminated format() type specifier")
          .hint("For a single \"%\" use \"%%\".");
   return format[at];
}

Specifier parseSpecifier(std::string_view format, size_t& at) {
   Specifier s;
   const size_t begin = at;
   if (const std::optional<int32_t> number = takeNumber(format, at)) {
      if (requireChar(format, at) == '$') {
         if (*number == 0) throwFormat("format specifies argument 0, but arguments are numbered from 1");
         s.position = *number;
         ++at;
      } else {
         at = begin; // the number was the width, not a position
      }
   }
   while (requireChar(format, at) == '-') {
      s.isLeft = true;
      ++at;
   }
   if (requireChar(format, at) == '*') {
      ++at;
      s.hasWidthArgument = true;
      if (const std::optional<int32_t> number = takeNumber(format, at)) {
         if (requireChar(format, at) != '$') throwFormat("width argument position must be ended by \"$\"");
         if (*number == 0) throwFormat("format specifies argument 0, but arguments are numbered from 1");
         s.widthPosition = *number;
         ++at;
      }
   } else if (const std::optional<int32_t> number = takeNumber(format, at)) {
      s.width = *number;
   }
   s.type = requireChar(format, at++);
   return s;
}

int32_t widthOf(std::string_view text) {
   int32_t width = 0;
   switch (parseInteger(text, width)) {
   case ParseStatus::Ok: break;
   case ParseStatus::OutOfRange: throwValueOutOfRange("integer", text);
   default: throwInvalidSyntax("integer", text);
   }
   return width;
}

/// Fills what was appended since `begin` up with blanks, to `width` characters.
void pad(ValueBuilder& out, size_t begin, int32_t width, bool isLeft) {
   if (width == INT32_MIN) throw SqlError(sqlstate::numericValueOutOfRange, "number is out of range");
   if (width < 0) {
      isLeft = true;
      width = -width;
   }
   const std::string_view text = out.view().substr(begin);
   const size_t bytes = text.size(), characters = countCharacters(text);
   if (characters >= static_cast<size_t>(width)) return;
   const size_t blanks = static_cast<size_t>(width) - characters;
   out.append(blanks, ' ');
   if (isLeft) return;
   char* at = out.data() + begin;
   std::memmove(at + blanks, at, bytes);
   std::memset(at, ' ', blanks);
}

/// The argument as %s, %I or %L asks for it.
void appendConverted(ValueBuilder& out, const KernelCall& call, const Specifier& s, size_t arg, uint32_t row) {
   if (call.args[arg].isNull(row)) {
      if (s.type == 'I')
         throw SqlError(sqlstate::nullValueNotAllowed, "null values cannot be formatted as an SQL identifier");
      if (s.type == 'L') out.append("NULL");
   } else if (s.type == 'I') {
      out.append(catalog::quoteIdentifier(textOfArgument(call, arg, row)));
   } else if (s.type == 'L') {
      quoteLiteral(textOfArgument(call, arg, row), out);
   } else {
      appendArgument(out, call, arg, row);
   }
}

void formatRow(const KernelCall& call, uint32_t row, ValueBuilder& result) {
   const std::string_view format = call.args[0].value<StringView>(row).view();
   size_t next = 1; // number of the next argument
   const auto require = [&](int32_t position) {
      const size_t arg = position > 0 ? static_cast<size_t>(position) : next;
      next = arg + 1;
      if (arg >= call.args.size()) throwFormat("too few arguments for format()");
      return arg;
   };
   for (size_t at = 0; at < format.size();) {
      const char c = format[at++];
      if (c != '%') {
         result.push_back(c);
         continue;
      }
      if (requireChar(format, at) == '%') {
         result.push_back('%');
         ++at;
         continue;
      }
      Specifier s = parseSpecifier(format, at);
      if (s.type != 's' && s.type != 'I' && s.type != 'L') {
         const size_t begin = at - 1;
         throw SqlError(sqlstate::invalidParameterValue,
                        "unrecognized format() type specifier \"" +
                            std::string(format.substr(begin, characterBytes(format[begin]))) + "\"")
             .hint("For a single \"%\" use \"%%\".");
      }
      if (s.hasWidthArgument) {
         const size_t arg = require(s.widthPosition);
         if (!call.args[arg].isNull(row)) s.width = widthOf(textOfArgument(call, arg, row));
      }
      const size_t arg = require(s.position), begin = result.size();
      appendConverted(result, call, s, arg, row);
      pad(result, begin, s.width, s.isLeft);
   }
}

void format(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      ValueBuilder text(result.strings());
      formatRow(call, row, text);
      out[row] = text.finish();
   });
}

} // namespace

void registerTextFormat() {
   registerParseIdent();
   registerKernel("text_concat", anyArguments, {concat, false, true});
   registerKernel("text_concat_ws", anyArguments, {concatWithSeparator, false, true});
   for (const char* name : {"sql:textanycat", "sql:anytextcat"})
      registerKernel(name, anyArguments, {concatPair, true, true});
   registerKernel("text_format", anyArguments, {format, false, false});
   registerKernel("text_format_nv", anyArguments, {format, false, false});
   addKernel<quoteLiteralText>("quote_literal", totalKernel);
   addKernel<quoteNullableText>("quote_nullable", totalKernel);
   addKernel<quoteIdent>("quote_ident", totalKernel);
   registerKernel("sql:quote_literal", anyArguments, {quoteAny<false>, false, true});
   registerKernel("sql:quote_nullable", anyArguments, {quoteAny<true>, false, true});
}

} // namespace ouzel::executor
