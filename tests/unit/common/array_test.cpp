#include "common/type/array.hpp"

#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"

using namespace ouzel;

CATCH_TEST_CASE("arrays keep elements, nulls and bounds") {
   const Value elements[] = {Value::integer(PhysicalType::I32, 7), Value::null(PhysicalType::I32),
                             Value::integer(PhysicalType::I32, -1)};
   const ArrayValue read = readArray(makeArray(oid::int4, elements, 0));
   CATCH_CHECK(read.elementType == oid::int4);
   CATCH_CHECK(read.dimensions == std::vector<ArrayDimension>{{3, 0}});
   CATCH_REQUIRE(read.elements.size() == 3);
   for (int i = 0; i < 3; ++i)
      CATCH_CHECK(read.elements[i].identical(elements[i]));
}

CATCH_TEST_CASE("arrays of strings, of two dimensions, and empty ones") {
   ArrayValue array{oid::text, PhysicalType::String, {{2, 1}, {2, 1}}, {}};
   for (const char* text : {"", "a", "longer than twelve bytes", "d"})
      array.elements.push_back(Value::string(text));
   const std::string bytes = makeArray(array);
   CATCH_CHECK(arraySize(bytes) == 4);
   const ArrayValue read = readArray(bytes);
   CATCH_CHECK(read.dimensions == array.dimensions);
   for (int i = 0; i < 4; ++i)
      CATCH_CHECK(read.elements[i].bytes == array.elements[i].bytes);
   CATCH_CHECK(arraySize(makeArray(oid::text, {})) == 0);
   CATCH_CHECK(readArray(makeArray(oid::text, {})).dimensions.empty());
   CATCH_CHECK_THROWS_AS(readArray(std::string_view(bytes).substr(0, bytes.size() - 1)), SqlError);
}
