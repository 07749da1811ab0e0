#include "common/type/row_text.hpp"

#include <algorithm>
#include <optional>

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/thread/stack.hpp"
#include "common/type/quoted_part.hpp"
#include "common/type/row.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel {

namespace {

void appendField(std::string& out, const std::string& text) {
   const bool needsQuotes = text.empty() || std::any_of(text.begin(), text.end(), [](char c) {
                               return c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || isBlank(c);
                            });
   if (!needsQuotes) {
      out.append(text);
      return;
   }
   out.push_back('"');
   for (const char c : text) {
      if (c == '"' || c == '\\') out.push_back(c);
      out.push_back(c);
   }
   out.push_back('"');
}

/// Takes the fields of one record literal one after the other.
class RecordReader {
public:
   explicit RecordReader(std::string_view text) : text_(text) {
      skipBlanks();
      if (peek() != '(') fail("Missing left parenthesis.");
      ++p_;
   }

   /// The text of the next field; nothing: NULL.
   std::optional<std::string> field() {
      if (!isFirst_) {
         if (peek() != ',') fail("Too few columns.");
         ++p_;
      }
      isFirst_ = false;
      if (peek() == ',' || peek() == ')') return std::nullopt;
      return takeQuotedPart(text_, p_, ",)", [&](const char* detail) { fail(detail); });
   }

   void finish() {
      if (atEnd() && isFirst_) fail("Unexpected end of input.");
      if (peek() != ')') fail("Too many columns.");
      ++p_;
      skipBlanks();
      if (!atEnd()) fail("Junk after right parenthesis.");
   }

private:
   bool atEnd() const { return p_ >= text_.size(); }
   char peek() const { return atEnd() ? '\0' : text_[p_]; }
   void skipBlanks() {
      while (!atEnd() && isBlank(peek()))
         ++p_;
   }
   [[noreturn]] void fail(const char* detail) const {
      throw SqlError(sqlstate::invalidTextRepresentation, "malformed record literal: \"" + std::string(text_) + '"')
          .detail(detail);
   }

   std::string_view text_;
   size_t p_ = 0;
   bool isFirst_ = true;
};

} // namespace

RowFields rowFields(Oid type, const SessionFormat& format) {
   if (!format.types) throwInternal("a value of a row type, and no catalog to look its columns up in");
   return format.types->rowFields(type);
}

void appendRowText(std::string& out, std::string_view bytes, const SessionFormat& format) {
   checkStack();
   const RowView row(bytes);
   const RowFields fields = row.type() == oid::record ? nullptr : rowFields(row.type(), format);
   bool isFirst = true;
   const auto separate = [&] {
      out.push_back(isFirst ? '(' : ',');
      isFirst = false;
   };
   for (RowView::Cursor field(row); field.next();) {
      if (fields && columnOf(*fields, field.index()).isDropped) continue;
      separate();
      if (field->isNull) continue;
      std::string text;
      appendText(text, {field->type, -1, invalidOid}, {field->physical, 0}, field->value, format);
      appendField(out, text);
   }
   if (fields) // columns that are newer than the value
      for (size_t i = row.size(); i < fields->size(); ++i)
         if (!(*fields)[i].isDropped) separate();
   if (isFirst) out.push_back('(');
   out.push_back(')');
}

std::string parseRowText(std::string_view text, Oid type, const SessionFormat& format) {
   checkStack();
   const RowFields fields = rowFields(type, format);
   RecordReader reader(text);
   std::vector<Value> values(fields->size());
   for (size_t i = 0; i < fields->size(); ++i) {
      const RowField& field = (*fields)[i];
      if (field.isDropped) continue;
      values[i] = Value::null(rowFieldPhysical(field.type.oid));
      if (const auto part = reader.field()) values[i] = parsePart(field.type, *part, format);
      checkDomain(field.type, values[i], format.types);
   }
   reader.finish();
   return makeRow(type, *fields, values);
}

} // namespace ouzel
