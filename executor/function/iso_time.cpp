#include "executor/function/iso_time.hpp"

#include <algorithm>

#include "common/type/session_format.hpp"
#include "common/type/text_codec.hpp"
#include "executor/function/value_text.hpp"

namespace ouzel::executor {

std::string isoTimeText(const FunctionContext& context, const SqlType& type, Representation repr, const void* value) {
   SessionFormat format = sessionFormat(context);
   format.dateStyle = DateStyle::Iso;
   std::string text;
   appendText(text, type, repr, value, format);
   const size_t blank = text.find(' ');
   if (type.oid == oid::date || blank == std::string::npos) return text; // also infinity
   text[blank] = 'T';
   if (type.oid != oid::timestamptz) return text;
   const size_t end = std::min(text.find(' '), text.size()), sign = text.find_last_of("+-", end);
   if (end - sign == 3) text.insert(end, ":00");
   return text;
}

} // namespace ouzel::executor
