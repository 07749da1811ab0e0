#include "io/format/text_guess.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel::io {

namespace {

bool areDigits(std::string_view text, size_t begin, size_t count) {
   return begin + count <= text.size() && std::all_of(text.begin() + static_cast<ptrdiff_t>(begin),
                                                      text.begin() + static_cast<ptrdiff_t>(begin + count), isDigit);
}

} // namespace

bool parsesAs(Oid type, std::string_view text) {
   try {
      parseText({type, -1, invalidOid}, text, SessionFormat());
      return true;
   } catch (const SqlError&) {
      return false;
   }
}

bool looksLikeDate(std::string_view text) {
   return text.size() == 10 && areDigits(text, 0, 4) && text[4] == '-' && areDigits(text, 5, 2) && text[7] == '-' &&
          areDigits(text, 8, 2) && parsesAs(oid::date, text);
}

bool looksLikeTimestamp(std::string_view text, bool hasZone) {
   if (text.size() < 16 || !looksLikeDate(text.substr(0, 10)) || (text[10] != ' ' && text[10] != 'T') ||
       !areDigits(text, 11, 2) || text[13] != ':')
      return false;
   const bool endsWithZone = text.find_first_of("+-Z", 14) != std::string_view::npos;
   return endsWithZone == hasZone && parsesAs(hasZone ? oid::timestamptz : oid::timestamp, text);
}

} // namespace ouzel::io
