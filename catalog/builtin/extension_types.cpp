#include "catalog/builtin/extension_types.hpp"

#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"
#include "common/base_type/ltree_query.hpp"
#include "common/base_type/vector.hpp"

namespace ouzel::catalog {

namespace {

/// Of the functions that read, print and subscript values.
struct Names {
   std::string_view input, output, receive, send, subscript = {};
};

/// The type, which is of variable length, and its array. Their input and output functions are those of text and of
/// arrays, so that clients that ask for them find some.
ExtensionType makeType(Oid oid, Oid array, std::string_view name, std::string_view arrayName,
                       std::string_view extension, Names names, char category = 'U', Oid collation = invalidOid,
                       char storage = 'x') {
   TypeInfo type{};
   type.oid = oid;
   type.name = name;
   type.schema = extensionTypeSchema;
   type.length = -1;
   type.kind = TypeKind::Base;
   type.category = category;
   type.delimiter = ',';
   type.alignment = storage == 'p' ? 'd' : 'i'; // of floating-point numbers that are not packed
   type.storage = storage;
   type.array = array;
   type.input = 46;
   type.output = 47;
   type.receive = 2414;
   type.send = 2415;
   type.typmodIn = oid == oid::vector ? 2913 : Oid{invalidOid}; // numbers of dimensions
   type.typmod = -1;
   type.collation = collation;
   TypeInfo arrayType = type;
   arrayType.oid = array;
   arrayType.name = arrayName;
   arrayType.category = 'A';
   arrayType.storage = 'x';
   arrayType.subscript = 6179;
   arrayType.element = oid;
   arrayType.array = invalidOid;
   arrayType.input = 750;
   arrayType.output = 751;
   arrayType.receive = 2400;
   arrayType.send = 2401;
   return {type, arrayType, extension, names.input, names.output, names.receive, names.send, names.subscript};
}

/// The type of what an index stores. The array has the next OID.
ExtensionType makeKeyType(Oid oid, std::string_view name, std::string_view arrayName, std::string_view extension,
                          Names names, int16_t length = -1, char storage = 'p') {
   ExtensionType made = makeType(oid, oid + 1, name, arrayName, extension, names);
   made.type.length = length;
   made.type.storage = storage;
   for (TypeInfo* type : {&made.type, &made.array})
      type->receive = type->send = type->typmodIn = invalidOid;
   made.array.receive = 2400;
   made.array.send = 2401;
   return made;
}

} // namespace

std::span<const ExtensionType> extensionTypes() {
   static const ExtensionType types[] = {
       makeType(oid::vector, oid::vectorArray, "vector", "_vector", "vector", {}, 'U', invalidOid, 'e'),
       makeType(oid::hstore, oid::hstoreArray, "hstore", "_hstore", "hstore",
                {"hstore_in", "hstore_out", "hstore_recv", "hstore_send", "hstore_subscript_handler"}),
       makeType(oid::citext, oid::citextArray, "citext", "_citext", "citext",
                {"citextin", "citextout", "citextrecv", "citextsend"}, 'S', defaultCollation),
       makeType(oid::ltree, oid::ltreeArray, "ltree", "_ltree", "ltree",
                {"ltree_in", "ltree_out", "ltree_recv", "ltree_send"}),
       makeType(oid::lquery, oid::lqueryArray, "lquery", "_lquery", "ltree",
                {"lquery_in", "lquery_out", "lquery_recv", "lquery_send"}),
       makeType(oid::ltxtquery, oid::ltxtqueryArray, "ltxtquery", "_ltxtquery", "ltree",
                {"ltxtq_in", "ltxtq_out", "ltxtq_recv", "ltxtq_send"}),
       makeType(oid::cube, oid::cubeArray, "cube", "_cube", "cube", {"cube_in", "cube_out", "cube_recv", "cube_send"},
                'U', invalidOid, 'p'),
       makeKeyType(key_type::hstore, "ghstore", "_ghstore", "hstore", {"ghstore_in", "ghstore_out", {}, {}}),
       makeKeyType(key_type::trigrams, "gtrgm", "_gtrgm", "pg_trgm", {"gtrgm_in", "gtrgm_out", {}, {}}),
       makeKeyType(key_type::intbig, "intbig_gkey", "_intbig_gkey", "intarray", {"_intbig_in", "_intbig_out", {}, {}}),
       makeKeyType(key_type::ltree, "ltree_gist", "_ltree_gist", "ltree", {"ltree_gist_in", "ltree_gist_out", {}, {}}),
       makeKeyType(key_type::btree2, "gbtreekey2", "_gbtreekey2", "btree_gist",
                   {"gbtreekey2_in", "gbtreekey2_out", {}, {}}, 2),
       makeKeyType(key_type::btree4, "gbtreekey4", "_gbtreekey4", "btree_gist",
                   {"gbtreekey4_in", "gbtreekey4_out", {}, {}}, 4),
       makeKeyType(key_type::btree8, "gbtreekey8", "_gbtreekey8", "btree_gist",
                   {"gbtreekey8_in", "gbtreekey8_out", {}, {}}, 8),
       makeKeyType(key_type::btree16, "gbtreekey16", "_gbtreekey16", "btree_gist",
                   {"gbtreekey16_in", "gbtreekey16_out", {}, {}}, 16),
       makeKeyType(key_type::btree32, "gbtreekey32", "_gbtreekey32", "btree_gist",
                   {"gbtreekey32_in", "gbtreekey32_out", {}, {}}, 32),
       makeKeyType(key_type::btreeVariable, "gbtreekey_var", "_gbtreekey_var", "btree_gist",
                   {"gbtreekey_var_in", "gbtreekey_var_out", {}, {}}, -1, 'x'),
   };
   return types;
}

const ExtensionType* extensionType(Oid type) {
   for (const ExtensionType& one : extensionTypes())
      if (one.type.oid == type || one.array.oid == type) return &one;
   return nullptr;
}

} // namespace ouzel::catalog
