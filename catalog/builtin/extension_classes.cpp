#include "catalog/builtin/extension_classes.hpp"

#include "catalog/builtin/extension_types.hpp"

namespace ouzel::catalog {

namespace {

// Numbers are stored with indexes: new rows go to the end.
constexpr ExtensionClass classes[] = {
    {9300, "btree_gin", "gin", "bit_ops", 1560, true},
    {9301, "btree_gin", "gin", "bool_ops", 16, true},
    {9302, "btree_gin", "gin", "bpchar_ops", 1042, true},
    {9303, "btree_gin", "gin", "bytea_ops", 17, true},
    {9304, "btree_gin", "gin", "char_ops", 18, true},
    {9305, "btree_gin", "gin", "cidr_ops", 650, true},
    {9306, "btree_gin", "gin", "date_ops", 1082, true},
    {9307, "btree_gin", "gin", "enum_ops", 3500, true},
    {9308, "btree_gin", "gin", "float4_ops", 700, true},
    {9309, "btree_gin", "gin", "float8_ops", 701, true},
    {9310, "btree_gin", "gin", "inet_ops", 869, true},
    {9311, "btree_gin", "gin", "int2_ops", 21, true},
    {9312, "btree_gin", "gin", "int4_ops", 23, true},
    {9313, "btree_gin", "gin", "int8_ops", 20, true},
    {9314, "btree_gin", "gin", "interval_ops", 1186, true},
    {9315, "btree_gin", "gin", "macaddr8_ops", 774, true},
    {9316, "btree_gin", "gin", "macaddr_ops", 829, true},
    {9317, "btree_gin", "gin", "money_ops", 790, true},
    {9318, "btree_gin", "gin", "name_ops", 19, true},
    {9319, "btree_gin", "gin", "numeric_ops", 1700, true},
    {9320, "btree_gin", "gin", "oid_ops", 26, true},
    {9321, "btree_gin", "gin", "text_ops", 25, true},
    {9322, "btree_gin", "gin", "time_ops", 1083, true},
    {9323, "btree_gin", "gin", "timestamp_ops", 1114, true},
    {9324, "btree_gin", "gin", "timestamptz_ops", 1184, true},
    {9325, "btree_gin", "gin", "timetz_ops", 1266, true},
    {9326, "btree_gin", "gin", "uuid_ops", 2950, true},
    {9327, "btree_gin", "gin", "varbit_ops", 1562, true},
    {9328, "btree_gin", "gin", "varchar_ops", 1043, true},
    {9329, "btree_gist", "gist", "gist_bit_ops", 1560, true, key_type::btreeVariable},
    {9330, "btree_gist", "gist", "gist_bool_ops", 16, true, key_type::btree2},
    {9331, "btree_gist", "gist", "gist_bpchar_ops", 1042, true, key_type::btreeVariable},
    {9332, "btree_gist", "gist", "gist_bytea_ops", 17, true, key_type::btreeVariable},
    {9333, "btree_gist", "gist", "gist_cash_ops", 790, true, key_type::btree16},
    {9334, "btree_gist", "gist", "gist_cidr_ops", 650, true, key_type::btree16},
    {9335, "btree_gist", "gist", "gist_date_ops", 1082, true, key_type::btree8},
    {9336, "btree_gist", "gist", "gist_enum_ops", 3500, true, key_type::btree8},
    {9337, "btree_gist", "gist", "gist_float4_ops", 700, true, key_type::btree8},
    {9338, "btree_gist", "gist", "gist_float8_ops", 701, true, key_type::btree16},
    {9339, "btree_gist", "gist", "gist_inet_ops", 869, true, key_type::btree16},
    {9340, "btree_gist", "gist", "gist_int2_ops", 21, true, key_type::btree4},
    {9341, "btree_gist", "gist", "gist_int4_ops", 23, true, key_type::btree8},
    {9342, "btree_gist", "gist", "gist_int8_ops", 20, true, key_type::btree16},
    {9343, "btree_gist", "gist", "gist_interval_ops", 1186, true, key_type::btree32},
    {9344, "btree_gist", "gist", "gist_macaddr8_ops", 774, true, key_type::btree16},
    {9345, "btree_gist", "gist", "gist_macaddr_ops", 829, true, key_type::btree16},
    {9346, "btree_gist", "gist", "gist_numeric_ops", 1700, true, key_type::btreeVariable},
    {9347, "btree_gist", "gist", "gist_oid_ops", 26, true, key_type::btree8},
    {9348, "btree_gist", "gist", "gist_text_ops", 25, true, key_type::btreeVariable},
    {9349, "btree_gist", "gist", "gist_time_ops", 1083, true, key_type::btree16},
    {9350, "btree_gist", "gist", "gist_timestamp_ops", 1114, true, key_type::btree16},
    {9351, "btree_gist", "gist", "gist_timestamptz_ops", 1184, true, key_type::btree16},
    {9352, "btree_gist", "gist", "gist_timetz_ops", 1266, true, key_type::btree16},
    {9353, "btree_gist", "gist", "gist_uuid_ops", 2950, true, key_type::btree32},
    {9354, "btree_gist", "gist", "gist_vbit_ops", 1562, true, key_type::btreeVariable},
    {9355, "intarray", "gin", "gin__int_ops", 1007, false, 23},
    {9356, "intarray", "gist", "gist__int_ops", 1007, true},
    {9357, "intarray", "gist", "gist__intbig_ops", 1007, false, key_type::intbig},
    {9358, "pg_trgm", "gin", "gin_trgm_ops", 25, false, 23},
    {9359, "pg_trgm", "gist", "gist_trgm_ops", 25, false, key_type::trigrams},
    {9360, "hstore", "btree", "btree_hstore_ops", 9202, true},
    {9361, "hstore", "hash", "hash_hstore_ops", 9202, true},
    {9362, "hstore", "gist", "gist_hstore_ops", 9202, true, key_type::hstore},
    {9363, "hstore", "gin", "gin_hstore_ops", 9202, true, 25},
    {9364, "citext", "btree", "citext_ops", 9204, true},
    {9365, "citext", "hash", "citext_ops", 9204, true},
    {9366, "citext", "btree", "citext_pattern_ops", 9204, false},
    {9367, "ltree", "btree", "ltree_ops", 9206, true},
    {9368, "ltree", "gist", "gist_ltree_ops", 9206, true, key_type::ltree},
    {9369, "ltree", "gist", "gist__ltree_ops", 9207, true, key_type::ltree},
    {9370, "cube", "btree", "cube_ops", 9212, true},
    {9371, "cube", "gist", "gist_cube_ops", 9212, true},
};

} // namespace

std::span<const ExtensionClass> extensionClasses() {
   return classes;
}

const ExtensionClass* extensionClass(Oid oid) {
   for (const ExtensionClass& one : classes)
      if (one.oid == oid) return &one;
   return nullptr;
}

const ExtensionClass* extensionFamily(Oid oid) {
   for (const ExtensionClass& one : classes)
      if (one.family() == oid) return &one;
   return nullptr;
}

} // namespace ouzel::catalog
