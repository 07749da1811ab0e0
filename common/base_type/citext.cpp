#include "common/base_type/citext.hpp"

#include "common/text/utf8.hpp"

namespace ouzel {

namespace {

void append(std::string& out, const void* value) {
   const auto text = valueAt<StringView>(value);
   out += text.view();
}

void parse(void* target, std::string_view text, int32_t, Arena& arena) {
   putValue(target, arena.copyString(text));
}

void receive(void* target, std::string_view bytes, int32_t, Arena& arena) {
   checkUtf8(bytes);
   putValue(target, arena.copyString(bytes));
}

} // namespace

const TypeForm citextForm{
    .oid = oid::citext,
    .wireSize = -1,
    .textGrowth = 1,
    .appendText = append,
    .parseText = parse,
    .appendBinary = append,
    .parseBinary = receive,
    .isOrdered = false,
};

} // namespace ouzel
