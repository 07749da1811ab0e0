#include "common/base_type/tid.hpp"

#include <cerrno>
#include <cstdlib>

#include "common/base_type/wire.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

/// A number as strtoul() reads it, which ends where `end` stands. False: there is another one, or none that fits.
bool parseNumber(const char* text, char end, uint64_t& out) {
   char* rest = nullptr;
   errno = 0;
   out = std::strtoul(text, &rest, 10);
   return errno == 0 && *rest == end;
}

// PostgreSQL looks for the parentheses and the comma, and accepts what it does not need in front of and behind them.
void parse(void* target, std::string_view text, int32_t, Arena&) {
   const std::string copy(text);
   const char* numbers[2] = {};
   size_t found = 0;
   for (const char* at = copy.c_str(); *at != '\0' && found < 2 && *at != ')'; ++at)
      if (*at == ',' || (*at == '(' && found == 0)) numbers[found++] = at + 1;
   uint64_t block = 0, row = 0;
   if (found < 2 || !parseNumber(numbers[0], ',', block) || !parseNumber(numbers[1], ')', row) || row > UINT16_MAX)
      throwInvalidSyntax("tid", text);
   const auto asSigned = static_cast<int64_t>(block); // "-1" is the last block
   if (block > UINT32_MAX && (asSigned >= 0 || asSigned < INT32_MIN)) throwInvalidSyntax("tid", text);
   putValue(target, makeTid(static_cast<uint32_t>(block), static_cast<uint16_t>(row)));
}

void append(std::string& out, const void* value) {
   const auto tid = valueAt<int64_t>(value);
   out += '(';
   out += std::to_string(blockOfTid(tid));
   out += ',';
   out += std::to_string(rowOfTid(tid));
   out += ')';
}

void send(std::string& out, const void* value) {
   const auto tid = valueAt<int64_t>(value);
   appendBig(out, blockOfTid(tid));
   appendBig(out, rowOfTid(tid));
}

void receive(void* target, std::string_view bytes, int32_t, Arena&) {
   WireReader reader(bytes);
   const auto block = reader.take<uint32_t>();
   const auto row = reader.take<uint16_t>();
   reader.finish();
   putValue(target, makeTid(block, row));
}

} // namespace

const TypeForm tidForm{oid::tid, 6, 2, append, parse, send, receive};

} // namespace ouzel
