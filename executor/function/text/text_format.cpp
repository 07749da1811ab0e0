#include "catalog/object/search_path.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_text.hpp"

// concat, concat_ws, format and quoting: functions that take values of any type as text.

namespace ouzel::executor {

namespace {

void appendArgument(std::string& out, const KernelCall& call, size_t arg, uint32_t row) {
   appendRowText(out, call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row);
}

void concat(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text;
   forEachRow(call.rows, [&](uint32_t row) {
      text.clear();
      for (size_t i = 0; i < call.args.size(); ++i)
         if (!call.args[i].isNull(row)) appendArgument(text, call, i, row);
      out[row] = result.strings().copyString(text);
   });
}

void concatWithSeparator(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text;
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      text.clear();
      bool isFirst = true;
      for (size_t i = 1; i < call.args.size(); ++i) {
         if (call.args[i].isNull(row)) continue;
         if (!isFirst) text.append(call.args[0].value<StringView>(row).view());
         isFirst = false;
         appendArgument(text, call, i, row);
      }
      out[row] = result.strings().copyString(text);
   });
}

/// text || value and value || text. The value is converted as by a cast to text: "true", not "t".
void concatPair(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text;
   forEachRow(call.rows, [&](uint32_t row) {
      text.clear();
      for (size_t i = 0; i < call.args.size(); ++i) {
         if (call.args[i].isNull(row)) return result.setNull(row);
         if (call.argTypes[i].oid == oid::boolean)
            text.append(call.args[i].value<uint8_t>(row) != 0 ? "true" : "false");
         else
            appendArgument(text, call, i, row);
      }
      out[row] = result.strings().copyString(text);
   });
}

// ---- quoting ----

std::string quoteLiteral(std::string_view text) {
   std::string result;
   if (text.find('\\') != std::string_view::npos) result.push_back('E');
   result.push_back('\'');
   for (const char c : text) {
      if (c == '\'' || c == '\\') result.push_back(c);
      result.push_back(c);
   }
   result.push_back('\'');
   return result;
}
StringView quoteLiteralText(const StringView& s, KernelEnv& env) {
   return env.copy(quoteLiteral(s.view()));
}
StringView quoteNullableText(std::optional<StringView> s, KernelEnv& env) {
   return s ? env.copy(quoteLiteral(s->view())) : StringView("NULL", 4);
}
StringView quoteIdent(const StringView& s, KernelEnv& env) {
   return env.copy(catalog::quoteIdentifier(s.view()));
}

template <bool nullable>
void quoteAny(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text;
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) {
         if (!nullable) return result.setNull(row);
         out[row] = StringView("NULL", 4);
         return;
      }
      text.clear();
      appendArgument(text, call, 0, row);
      out[row] = result.strings().copyString(quoteLiteral(text));
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

void appendPadded(std::string& out, std::string_view text, int32_t width, bool isLeft) {
   if (width < 0) {
      isLeft = true;
      width = -width;
   }
   const auto characters = static_cast<int32_t>(countCharacters(text));
   const size_t blanks = width > characters ? static_cast<size_t>(width - characters) : 0;
   if (!isLeft) out.append(blanks, ' ');
   out.append(text);
   if (isLeft) out.append(blanks, ' ');
}

std::string formatRow(const KernelCall& call, uint32_t row) {
   std::string result, piece;
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
         piece.clear();
         if (!call.args[arg].isNull(row)) {
            appendArgument(piece, call, arg, row);
            s.width = static_cast<int32_t>(std::strtol(piece.c_str(), nullptr, 10));
         }
      }
      const size_t arg = require(s.position);
      piece.clear();
      if (call.args[arg].isNull(row)) {
         if (s.type == 'I')
            throw SqlError(sqlstate::nullValueNotAllowed, "null values cannot be formatted as an SQL identifier");
         if (s.type == 'L') piece = "NULL";
      } else {
         appendArgument(piece, call, arg, row);
         if (s.type == 'I') piece = catalog::quoteIdentifier(piece);
         if (s.type == 'L') piece = quoteLiteral(piece);
      }
      appendPadded(result, piece, s.width, s.isLeft);
   }
   return result;
}

void format(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      out[row] = result.strings().copyString(formatRow(call, row));
   });
}

} // namespace

void registerTextFormat() {
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
