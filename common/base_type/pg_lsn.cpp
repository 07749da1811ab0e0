#include "common/base_type/pg_lsn.hpp"

#include <charconv>
#include <cstdio>

#include "common/base_type/wire.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

/// One to eight hexadecimal digits and nothing else.
bool parseHalf(std::string_view text, uint32_t& out) {
   if (text.empty() || text.size() > 8) return false;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
   return error == std::errc() && end == text.data() + text.size();
}

void parse(void* target, std::string_view text, int32_t, Arena&) {
   const size_t slash = text.find('/');
   uint32_t high = 0, low = 0;
   if (slash == std::string_view::npos || !parseHalf(text.substr(0, slash), high) ||
       !parseHalf(text.substr(slash + 1), low))
      throwInvalidSyntax("pg_lsn", text);
   putValue(target, orderedUnsigned((uint64_t{high} << 32) | low));
}

void append(std::string& out, const void* value) {
   const uint64_t lsn = unsignedOf(valueAt<int64_t>(value));
   char text[20];
   const int size =
       std::snprintf(text, sizeof text, "%X/%X", static_cast<uint32_t>(lsn >> 32), static_cast<uint32_t>(lsn));
   out.append(text, static_cast<size_t>(size));
}

} // namespace

const TypeForm pgLsnForm{oid::pgLsn,
                         8,
                         3,
                         append,
                         parse,
                         [](std::string& out, const void* v) { appendBig(out, unsignedOf(valueAt<int64_t>(v))); },
                         [](void* target, std::string_view bytes, int32_t, Arena&) {
                            putValue(target, orderedUnsigned(readOnly<uint64_t>(bytes)));
                         }};

} // namespace ouzel
