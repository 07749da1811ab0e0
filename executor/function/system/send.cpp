#include "common/type/binary_codec.hpp"
#include "common/type/session_format.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_text.hpp"

// int4send() and similar functions: the binary format of the protocol as bytea.

namespace ouzel::executor {

namespace {

void send(const KernelCall& call, ResultVector& result) {
   const Vector& values = call.args[0];
   StringView* out = result.values<StringView>();
   std::string bytes;
   const size_t width = physicalSize(values.type);
   forEachRow(call.rows, [&](uint32_t row) {
      bytes.clear();
      const std::byte* value = static_cast<const std::byte*>(values.data) + values.positionOf(row) * width;
      appendBinary(bytes, call.argTypes[0], call.argReprs[0], value, sessionFormat(call.context).types);
      out[row] = result.strings().copyString(bytes);
   });
}

} // namespace

void registerSend() {
   for (const char* prosrc :
        {"boolsend",           "int2send",         "int4send",          "int8send",         "oidsend",
         "float4send",         "float8send",       "numeric_send",      "textsend",         "varcharsend",
         "bpcharsend",         "namesend",         "charsend",          "byteasend",        "date_send",
         "time_send",          "timetz_send",      "timestamp_send",    "timestamptz_send", "interval_send",
         "uuid_send",          "array_send",       "int2vectorsend",    "oidvectorsend",    "json_send",
         "jsonb_send",         "jsonpath_send",    "xml_send",          "bit_send",         "varbit_send",
         "inet_send",          "cidr_send",        "macaddr_send",      "macaddr8_send",    "cash_send",
         "pg_lsn_send",        "xid8send",         "xidsend",           "cidsend",          "range_send",
         "multirange_send",    "enum_send",        "point_send",        "box_send",         "tidsend",
         "hstore/hstore_send", "ltree/ltree_send", "ltree/lquery_send", "ltree/ltxtq_send", "cube/cube_send",
         "tsvectorsend",       "tsquerysend",      "regconfigsend",     "regdictionarysend"})
      registerKernel(prosrc, anyArguments, {send, true, true});
}

} // namespace ouzel::executor
