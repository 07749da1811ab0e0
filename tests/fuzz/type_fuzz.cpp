#include <cstdio>
#include <cstdlib>

#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"
#include "common/base_type/ltree_query.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/base_type/type_form.hpp"
#include "common/base_type/vector.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/range_types.hpp"
#include "tests/fuzz/target.hpp"

// Input: a type and a text or the bytes of a binary form, which the type's input or receive function reads. Failures
// are findings of sanitizers, failed DCHECKs, exceptions other than SqlError, XX000, and values that their own text or
// binary form does not give again.

namespace ouzel::fuzz {

bool isText() {
   return false;
}
bool isWellFormed(const std::string&) {
   return true;
}

namespace {

constexpr Oid types[] = {oid::bit,
                         oid::varbit,
                         oid::inet,
                         oid::cidr,
                         oid::macaddr,
                         oid::macaddr8,
                         oid::money,
                         oid::pgLsn,
                         oid::boolean,
                         oid::int2,
                         oid::int4,
                         oid::int8,
                         oid::oid,
                         oid::xid8,
                         oid::float4,
                         oid::float8,
                         oid::numeric,
                         oid::date,
                         oid::time,
                         oid::timetz,
                         oid::timestamp,
                         oid::timestamptz,
                         oid::interval,
                         oid::uuid,
                         oid::bytea,
                         oid::text,
                         oid::name,
                         oid::character,
                         oid::bpchar,
                         oid::int2vector,
                         oid::oidvector,
                         oid::int4Array,
                         oid::textArray,
                         oid::numericArray,
                         1561,
                         1041,
                         1263,
                         3904,
                         3906,
                         3908,
                         3910,
                         3912,
                         3926,
                         4451,
                         4532,
                         4534,
                         4535,
                         3905,
                         6151,
                         oid::vector,
                         oid::hstore,
                         oid::citext,
                         oid::ltree,
                         oid::lquery,
                         oid::ltxtquery,
                         oid::cube,
                         oid::pgSnapshot,
                         oid::tsvector,
                         oid::tsquery};
constexpr const char* texts[] = {"101",
                                 "x1fA0",
                                 "10.1.2.3/24",
                                 "::ffff:1.2.3.4/97",
                                 "2001:db8::/32",
                                 "08:00:2b:01:02:03",
                                 "08002b:0102030405",
                                 "-$1,234.50",
                                 "($5)",
                                 "16/B374D848",
                                 "true",
                                 "-32768",
                                 "1e-5",
                                 "NaN",
                                 "12.50",
                                 "2020-02-29 12:00:00.5+02",
                                 "12:00 America/New_York",
                                 "1 year 2 mons -3 days 04:05:06",
                                 "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                                 "\\x00ff",
                                 "1 2 3",
                                 "{1,NULL,\"a b\"}",
                                 "[0:1]={{1,2},{3,4}}",
                                 "(1,\"5\"]",
                                 "[2020-01-01,)",
                                 " empty ",
                                 "{[1,3),empty,(5.50,]}",
                                 "[1,-2.5,3e-45]",
                                 "top.a_b",
                                 "!a|b@%*.*{1,2}.c{,3}",
                                 "a & !(b* | !c@) | d%",
                                 "a:1A,2 'b ''c':16383*",
                                 "!(a:*B | 'b') <-> c <2> (d & e)",
                                 "\1top.a_b",
                                 "\1!a|b@%*.*{1,2}",
                                 "\1a & !(b* | !c@)",
                                 "[(1, -2.5e3), (nan, +inf)]"};

void require(bool holds, const char* what, Oid type) {
   if (holds) return;
   std::fprintf(stderr, "broken: %s of type %u\n", what, type);
   std::abort();
}

bool isOfTextSearch(Oid type) {
   return type == oid::tsvector || type == oid::tsquery;
}

void check(const SqlType& type, const Value& value, bool isBinary) {
   const SessionFormat format;
   const std::string text = textOf(type, value, format);
   checkUtf8(text);
   alignas(16) unsigned char place[16] = {};
   value.store(place);
   std::string bytes;
   appendBinary(bytes, type, storedRepresentation(type), place, nullptr);
   if (type.oid == oid::cube) return; // a box with equal corners is written as the point, and NaN has several forms
   if (isBinary && type.oid == oid::tsvector) return; // it may have empty words and a position 0, which no text writes
   const bool hasOneForm = findTypeForm(type.oid) || findRangeType(type.oid) || findMultirangeType(type.oid);
   if (!hasOneForm) return;                          // other types have values of several forms
   const bool hasOneText = type.oid != oid::tsquery; // a & (b & c) is written as a & b & c
   require(!hasOneText || parseText(type, text, format).identical(value), "a value from its text", type.oid);
   require(parseBinary(type, bytes, nullptr).identical(value), "a value from its binary form", type.oid);
}

/// hstore's input function reports errors of syntax as XX000, as PostgreSQL 15 does, the types of ltree versions, and
/// the receive functions of full text search all that is wrong.
bool isRightlyInternal(Oid type, const SqlError& error) {
   const std::string_view message = error.what();
   if (type == oid::hstore) return message == "Unexpected end of string" || message.starts_with("Syntax error near \"");
   if (isOfTextSearch(type)) return true;
   const bool isOfLtree = type == oid::ltree || type == oid::lquery || type == oid::ltxtquery;
   return isOfLtree && message.starts_with("unsupported ");
}

} // namespace

std::vector<std::string> seeds() {
   std::vector<std::string> all;
   for (size_t i = 0; i < std::size(types); ++i)
      for (const char* text : texts)
         for (const char isBinary : {'\0', '\1'})
            all.push_back(std::string(1, static_cast<char>(i)) + isBinary + text);
   return all;
}

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   using namespace ouzel;
   if (size < 2) return 0;
   const SqlType type{fuzz::types[data[0] % std::size(fuzz::types)], -1, invalidOid};
   const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
   const bool isBinary = data[1] % 2 != 0;
   try {
      if (!isBinary) checkUtf8(input);
      fuzz::check(type, isBinary ? parseBinary(type, input, nullptr) : parseText(type, input, SessionFormat()),
                  isBinary);
   } catch (const SqlError& error) {
      fuzz::require(error.state() != sqlstate::internalError || fuzz::isRightlyInternal(type.oid, error),
                    "an internal error", type.oid);
   }
   return 0;
}
