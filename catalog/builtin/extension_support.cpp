#include "catalog/builtin/extension_support.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace ouzel::catalog {

namespace {

/// The functions of a class: number=name of one of the script, or number=OID of a built-in one.
struct ClassFunctions {
   Oid usedBy;
   std::string_view functions;
};

constexpr ClassFunctions classFunctions[] = {
    {9300, "1=1596 2=gin_extract_value_bit 3=gin_extract_query_bit 4=gin_btree_consistent 5=gin_compare_prefix_bit"},
    {9301, "1=1693 2=gin_extract_value_bool 3=gin_extract_query_bool 4=gin_btree_consistent 5=gin_compare_prefix_bool"},
    {9302,
     "1=1078 2=gin_extract_value_bpchar 3=gin_extract_query_bpchar 4=gin_btree_consistent 5=gin_compare_prefix_bpchar"},
    {9303,
     "1=1954 2=gin_extract_value_bytea 3=gin_extract_query_bytea 4=gin_btree_consistent 5=gin_compare_prefix_bytea"},
    {9304, "1=358 2=gin_extract_value_char 3=gin_extract_query_char 4=gin_btree_consistent 5=gin_compare_prefix_char"},
    {9305, "1=926 2=gin_extract_value_cidr 3=gin_extract_query_cidr 4=gin_btree_consistent 5=gin_compare_prefix_cidr"},
    {9306, "1=1092 2=gin_extract_value_date 3=gin_extract_query_date 4=gin_btree_consistent 5=gin_compare_prefix_date"},
    {9307, "1=gin_enum_cmp 2=gin_extract_value_anyenum 3=gin_extract_query_anyenum 4=gin_btree_consistent "
           "5=gin_compare_prefix_anyenum"},
    {9308,
     "1=354 2=gin_extract_value_float4 3=gin_extract_query_float4 4=gin_btree_consistent 5=gin_compare_prefix_float4"},
    {9309,
     "1=355 2=gin_extract_value_float8 3=gin_extract_query_float8 4=gin_btree_consistent 5=gin_compare_prefix_float8"},
    {9310, "1=926 2=gin_extract_value_inet 3=gin_extract_query_inet 4=gin_btree_consistent 5=gin_compare_prefix_inet"},
    {9311, "1=350 2=gin_extract_value_int2 3=gin_extract_query_int2 4=gin_btree_consistent 5=gin_compare_prefix_int2"},
    {9312, "1=351 2=gin_extract_value_int4 3=gin_extract_query_int4 4=gin_btree_consistent 5=gin_compare_prefix_int4"},
    {9313, "1=842 2=gin_extract_value_int8 3=gin_extract_query_int8 4=gin_btree_consistent 5=gin_compare_prefix_int8"},
    {9314, "1=1315 2=gin_extract_value_interval 3=gin_extract_query_interval 4=gin_btree_consistent "
           "5=gin_compare_prefix_interval"},
    {9315, "1=4119 2=gin_extract_value_macaddr8 3=gin_extract_query_macaddr8 4=gin_btree_consistent "
           "5=gin_compare_prefix_macaddr8"},
    {9316, "1=836 2=gin_extract_value_macaddr 3=gin_extract_query_macaddr 4=gin_btree_consistent "
           "5=gin_compare_prefix_macaddr"},
    {9317,
     "1=377 2=gin_extract_value_money 3=gin_extract_query_money 4=gin_btree_consistent 5=gin_compare_prefix_money"},
    {9318, "1=359 2=gin_extract_value_name 3=gin_extract_query_name 4=gin_btree_consistent 5=gin_compare_prefix_name"},
    {9319, "1=gin_numeric_cmp 2=gin_extract_value_numeric 3=gin_extract_query_numeric 4=gin_btree_consistent "
           "5=gin_compare_prefix_numeric"},
    {9320, "1=356 2=gin_extract_value_oid 3=gin_extract_query_oid 4=gin_btree_consistent 5=gin_compare_prefix_oid"},
    {9321, "1=360 2=gin_extract_value_text 3=gin_extract_query_text 4=gin_btree_consistent 5=gin_compare_prefix_text"},
    {9322, "1=1107 2=gin_extract_value_time 3=gin_extract_query_time 4=gin_btree_consistent 5=gin_compare_prefix_time"},
    {9323, "1=2045 2=gin_extract_value_timestamp 3=gin_extract_query_timestamp 4=gin_btree_consistent "
           "5=gin_compare_prefix_timestamp"},
    {9324, "1=1314 2=gin_extract_value_timestamptz 3=gin_extract_query_timestamptz 4=gin_btree_consistent "
           "5=gin_compare_prefix_timestamptz"},
    {9325,
     "1=1358 2=gin_extract_value_timetz 3=gin_extract_query_timetz 4=gin_btree_consistent 5=gin_compare_prefix_timetz"},
    {9326, "1=2960 2=gin_extract_value_uuid 3=gin_extract_query_uuid 4=gin_btree_consistent 5=gin_compare_prefix_uuid"},
    {9327,
     "1=1672 2=gin_extract_value_varbit 3=gin_extract_query_varbit 4=gin_btree_consistent 5=gin_compare_prefix_varbit"},
    {9328, "1=360 2=gin_extract_value_text 3=gin_extract_query_text 4=gin_btree_consistent 5=gin_compare_prefix_text"},
    {9329, "1=gbt_bit_consistent 2=gbt_bit_union 3=gbt_bit_compress 4=gbt_var_decompress 5=gbt_bit_penalty "
           "6=gbt_bit_picksplit 7=gbt_bit_same 9=gbt_var_fetch"},
    {9330, "1=gbt_bool_consistent 2=gbt_bool_union 3=gbt_bool_compress 4=gbt_decompress 5=gbt_bool_penalty "
           "6=gbt_bool_picksplit 7=gbt_bool_same 9=gbt_bool_fetch"},
    {9331, "1=gbt_bpchar_consistent 2=gbt_text_union 3=gbt_bpchar_compress 4=gbt_var_decompress 5=gbt_text_penalty "
           "6=gbt_text_picksplit 7=gbt_text_same 9=gbt_var_fetch"},
    {9332, "1=gbt_bytea_consistent 2=gbt_bytea_union 3=gbt_bytea_compress 4=gbt_var_decompress 5=gbt_bytea_penalty "
           "6=gbt_bytea_picksplit 7=gbt_bytea_same 9=gbt_var_fetch"},
    {9333, "1=gbt_cash_consistent 2=gbt_cash_union 3=gbt_cash_compress 4=gbt_decompress 5=gbt_cash_penalty "
           "6=gbt_cash_picksplit 7=gbt_cash_same 8=gbt_cash_distance 9=gbt_cash_fetch"},
    {9334, "1=gbt_inet_consistent 2=gbt_inet_union 3=gbt_inet_compress 4=gbt_decompress 5=gbt_inet_penalty "
           "6=gbt_inet_picksplit 7=gbt_inet_same"},
    {9335, "1=gbt_date_consistent 2=gbt_date_union 3=gbt_date_compress 4=gbt_decompress 5=gbt_date_penalty "
           "6=gbt_date_picksplit 7=gbt_date_same 8=gbt_date_distance 9=gbt_date_fetch"},
    {9336, "1=gbt_enum_consistent 2=gbt_enum_union 3=gbt_enum_compress 4=gbt_decompress 5=gbt_enum_penalty "
           "6=gbt_enum_picksplit 7=gbt_enum_same 9=gbt_enum_fetch"},
    {9337, "1=gbt_float4_consistent 2=gbt_float4_union 3=gbt_float4_compress 4=gbt_decompress 5=gbt_float4_penalty "
           "6=gbt_float4_picksplit 7=gbt_float4_same 8=gbt_float4_distance 9=gbt_float4_fetch"},
    {9338, "1=gbt_float8_consistent 2=gbt_float8_union 3=gbt_float8_compress 4=gbt_decompress 5=gbt_float8_penalty "
           "6=gbt_float8_picksplit 7=gbt_float8_same 8=gbt_float8_distance 9=gbt_float8_fetch"},
    {9339, "1=gbt_inet_consistent 2=gbt_inet_union 3=gbt_inet_compress 4=gbt_decompress 5=gbt_inet_penalty "
           "6=gbt_inet_picksplit 7=gbt_inet_same"},
    {9340, "1=gbt_int2_consistent 2=gbt_int2_union 3=gbt_int2_compress 4=gbt_decompress 5=gbt_int2_penalty "
           "6=gbt_int2_picksplit 7=gbt_int2_same 8=gbt_int2_distance 9=gbt_int2_fetch"},
    {9341, "1=gbt_int4_consistent 2=gbt_int4_union 3=gbt_int4_compress 4=gbt_decompress 5=gbt_int4_penalty "
           "6=gbt_int4_picksplit 7=gbt_int4_same 8=gbt_int4_distance 9=gbt_int4_fetch"},
    {9342, "1=gbt_int8_consistent 2=gbt_int8_union 3=gbt_int8_compress 4=gbt_decompress 5=gbt_int8_penalty "
           "6=gbt_int8_picksplit 7=gbt_int8_same 8=gbt_int8_distance 9=gbt_int8_fetch"},
    {9343, "1=gbt_intv_consistent 2=gbt_intv_union 3=gbt_intv_compress 4=gbt_intv_decompress 5=gbt_intv_penalty "
           "6=gbt_intv_picksplit 7=gbt_intv_same 8=gbt_intv_distance 9=gbt_intv_fetch"},
    {9344, "1=gbt_macad8_consistent 2=gbt_macad8_union 3=gbt_macad8_compress 4=gbt_decompress 5=gbt_macad8_penalty "
           "6=gbt_macad8_picksplit 7=gbt_macad8_same 9=gbt_macad8_fetch"},
    {9345, "1=gbt_macad_consistent 2=gbt_macad_union 3=gbt_macad_compress 4=gbt_decompress 5=gbt_macad_penalty "
           "6=gbt_macad_picksplit 7=gbt_macad_same 9=gbt_macad_fetch"},
    {9346, "1=gbt_numeric_consistent 2=gbt_numeric_union 3=gbt_numeric_compress 4=gbt_var_decompress "
           "5=gbt_numeric_penalty 6=gbt_numeric_picksplit 7=gbt_numeric_same 9=gbt_var_fetch"},
    {9347, "1=gbt_oid_consistent 2=gbt_oid_union 3=gbt_oid_compress 4=gbt_decompress 5=gbt_oid_penalty "
           "6=gbt_oid_picksplit 7=gbt_oid_same 8=gbt_oid_distance 9=gbt_oid_fetch"},
    {9348, "1=gbt_text_consistent 2=gbt_text_union 3=gbt_text_compress 4=gbt_var_decompress 5=gbt_text_penalty "
           "6=gbt_text_picksplit 7=gbt_text_same 9=gbt_var_fetch"},
    {9349, "1=gbt_time_consistent 2=gbt_time_union 3=gbt_time_compress 4=gbt_decompress 5=gbt_time_penalty "
           "6=gbt_time_picksplit 7=gbt_time_same 8=gbt_time_distance 9=gbt_time_fetch"},
    {9350, "1=gbt_ts_consistent 2=gbt_ts_union 3=gbt_ts_compress 4=gbt_decompress 5=gbt_ts_penalty 6=gbt_ts_picksplit "
           "7=gbt_ts_same 8=gbt_ts_distance 9=gbt_ts_fetch"},
    {9351, "1=gbt_tstz_consistent 2=gbt_ts_union 3=gbt_tstz_compress 4=gbt_decompress 5=gbt_ts_penalty "
           "6=gbt_ts_picksplit 7=gbt_ts_same 8=gbt_tstz_distance 9=gbt_ts_fetch"},
    {9352, "1=gbt_timetz_consistent 2=gbt_time_union 3=gbt_timetz_compress 4=gbt_decompress 5=gbt_time_penalty "
           "6=gbt_time_picksplit 7=gbt_time_same"},
    {9353, "1=gbt_uuid_consistent 2=gbt_uuid_union 3=gbt_uuid_compress 4=gbt_decompress 5=gbt_uuid_penalty "
           "6=gbt_uuid_picksplit 7=gbt_uuid_same 9=gbt_uuid_fetch"},
    {9354, "1=gbt_bit_consistent 2=gbt_bit_union 3=gbt_bit_compress 4=gbt_var_decompress 5=gbt_bit_penalty "
           "6=gbt_bit_picksplit 7=gbt_bit_same 9=gbt_var_fetch"},
    {9355, "1=351 2=2743 3=ginint4_queryextract 4=ginint4_consistent"},
    {9356, "1=g_int_consistent 2=g_int_union 3=g_int_compress 4=g_int_decompress 5=g_int_penalty 6=g_int_picksplit "
           "7=g_int_same 10=g_int_options"},
    {9357, "1=g_intbig_consistent 2=g_intbig_union 3=g_intbig_compress 4=g_intbig_decompress 5=g_intbig_penalty "
           "6=g_intbig_picksplit 7=g_intbig_same 10=g_intbig_options"},
    {9358, "1=351 2=gin_extract_value_trgm 3=gin_extract_query_trgm 4=gin_trgm_consistent 6=gin_trgm_triconsistent"},
    {9359, "1=gtrgm_consistent 2=gtrgm_union 3=gtrgm_compress 4=gtrgm_decompress 5=gtrgm_penalty 6=gtrgm_picksplit "
           "7=gtrgm_same 8=gtrgm_distance 10=gtrgm_options"},
    {9360, "1=hstore_cmp"},
    {9361, "1=hstore_hash 2=hstore_hash_extended"},
    {9362, "1=ghstore_consistent 2=ghstore_union 3=ghstore_compress 4=ghstore_decompress 5=ghstore_penalty "
           "6=ghstore_picksplit 7=ghstore_same 10=ghstore_options"},
    {9363, "1=360 2=gin_extract_hstore 3=gin_extract_hstore_query 4=gin_consistent_hstore"},
    {9364, "1=citext_cmp"},
    {9365, "1=citext_hash 2=citext_hash_extended"},
    {9366, "1=citext_pattern_cmp"},
    {9367, "1=ltree_cmp"},
    {9368, "1=ltree_consistent 2=ltree_union 3=ltree_compress 4=ltree_decompress 5=ltree_penalty 6=ltree_picksplit "
           "7=ltree_same 10=ltree_gist_options"},
    {9369, "1=_ltree_consistent 2=_ltree_union 3=_ltree_compress 4=ltree_decompress 5=_ltree_penalty "
           "6=_ltree_picksplit 7=_ltree_same 10=_ltree_gist_options"},
    {9370, "1=cube_cmp"},
    {9371, "1=g_cube_consistent 2=g_cube_union 5=g_cube_penalty 6=g_cube_picksplit 7=g_cube_same 8=g_cube_distance"},
};

SupportFunction parsed(Oid usedBy, std::string_view text) {
   SupportFunction result{usedBy, 0, invalidOid, {}};
   const size_t sign = text.find('=');
   std::from_chars(text.data(), text.data() + sign, result.number);
   result.name = text.substr(sign + 1);
   if (result.name[0] < '0' || result.name[0] > '9') return result;
   std::from_chars(result.name.data(), text.data() + text.size(), result.builtin);
   result.name = {};
   return result;
}

} // namespace

std::span<const SupportFunction> supportFunctions() {
   static const std::vector<SupportFunction> all = [] {
      std::vector<SupportFunction> result;
      for (const ClassFunctions& one : classFunctions)
         for (std::string_view rest = one.functions; !rest.empty();) {
            const size_t end = std::min(rest.find(' '), rest.size());
            result.push_back(parsed(one.usedBy, rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
         }
      return result;
   }();
   return all;
}

} // namespace ouzel::catalog
