#include "catalog/builtin/extension_types.hpp"

#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"
#include "common/base_type/ltree_query.hpp"
#include "common/base_type/vector.hpp"

namespace ouzel::catalog {

namespace {

/// The type, which is of variable length, and its array. Their input and output functions are those of text and of
/// arrays, so that clients that ask for them find some.
ExtensionType makeType(Oid oid, Oid array, std::string_view name, std::string_view arrayName,
                       std::string_view extension, char category, Oid collation = invalidOid, char storage = 'x') {
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
   type.typmodIn = 2913;
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
   return {type, arrayType, extension};
}

} // namespace

std::span<const ExtensionType> extensionTypes() {
   static const ExtensionType types[] = {
       makeType(oid::vector, oid::vectorArray, "vector", "_vector", "vector", 'U', invalidOid, 'e'),
       makeType(oid::hstore, oid::hstoreArray, "hstore", "_hstore", "hstore", 'U'),
       makeType(oid::citext, oid::citextArray, "citext", "_citext", "citext", 'S', defaultCollation),
       makeType(oid::ltree, oid::ltreeArray, "ltree", "_ltree", "ltree", 'U'),
       makeType(oid::lquery, oid::lqueryArray, "lquery", "_lquery", "ltree", 'U'),
       makeType(oid::ltxtquery, oid::ltxtqueryArray, "ltxtquery", "_ltxtquery", "ltree", 'U'),
       makeType(oid::cube, oid::cubeArray, "cube", "_cube", "cube", 'U', invalidOid, 'p'),
   };
   return types;
}

const ExtensionType* extensionType(Oid type) {
   for (const ExtensionType& one : extensionTypes())
      if (one.type.oid == type || one.array.oid == type) return &one;
   return nullptr;
}

} // namespace ouzel::catalog
