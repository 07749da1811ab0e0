#include "executor/kernel/array_order.hpp"

#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonb.hpp"
#include "common/text/ascii.hpp"
#include "common/type/blanks.hpp"
#include "common/type/order_key.hpp"
#include "common/value/range_types.hpp"

namespace ouzel::executor {

int compareArrays(const ArrayView& a, const ArrayView& b) {
   const ValueOrder order = elementOrder(a.elementType(), a.physical());
   if (a.size() > 0 && b.size() > 0 && a.physical() != b.physical()) throwInternal("arrays of two types are compared");
   ArrayView::Cursor x(a), y(b);
   while (true) {
      const bool hasX = x.next(), hasY = y.next();
      if (!hasX || !hasY) break;
      if (x.isNull() && y.isNull()) continue;
      if (x.isNull() || y.isNull()) return x.isNull() ? 1 : -1;
      if (const int found = order(x.value(), y.value()); found != 0) return found;
   }
   const auto three = [](auto l, auto r) { return l < r ? -1 : l > r ? 1 : 0; };
   if (const int found = three(a.size(), b.size()); found != 0) return found;
   if (const int found = three(a.dimensionCount(), b.dimensionCount()); found != 0) return found;
   for (uint32_t d = 0; d < a.dimensionCount(); ++d) {
      const ArrayDimension l = a.dimension(d), r = b.dimension(d);
      if (const int found = three(l.length, r.length); found != 0) return found;
      if (const int found = three(l.lower, r.lower); found != 0) return found;
   }
   return 0;
}

int compareArrayBytes(const StringView& a, const StringView& b) {
   return compareArrays(ArrayView(a.view()), ArrayView(b.view()));
}

int compareBpchar(const StringView& a, const StringView& b) {
   return compareWithoutBlanks(a.view(), b.view());
}

int compareJsonb(const StringView& a, const StringView& b) {
   return json::compare(json::JsonbView(a.view()), json::JsonbView(b.view()));
}

int compareCaseless(const StringView& a, const StringView& b) {
   return lowerCase(a.view()).compare(lowerCase(b.view()));
}

int compareCubeBytes(const StringView& a, const StringView& b) {
   return compareCubes(CubeView(a.view()), CubeView(b.view()));
}

int compareTsQueries(const StringView& a, const StringView& b) {
   return tsQueryKey(a.view()).compare(tsQueryKey(b.view()));
}

int compareRows(const StringView& a, const StringView& b) {
   std::string left, right;
   appendRowKey(left, a.view());
   appendRowKey(right, b.view());
   return left.compare(right);
}

namespace {

template <StringOrder order>
int orderAt(const void* a, const void* b) {
   return order(*static_cast<const StringView*>(a), *static_cast<const StringView*>(b));
}

} // namespace

ValueOrder elementOrder(Oid type, PhysicalType physical) {
   if (isRowValue(type)) return orderAt<compareRows>;
   if (findRangeType(type)) return orderAt<compareRanges>;
   if (findMultirangeType(type)) return orderAt<compareMultiranges>;
   if (type == oid::citext) return orderAt<compareCaseless>;
   if (type == oid::cube) return orderAt<compareCubeBytes>;
   if (type == oid::tsquery) return orderAt<compareTsQueries>;
   return type == oid::jsonb ? orderAt<compareJsonb> : valueOrder(physical);
}

StringOrder keyedOrder(const SqlType& type) {
   if (!hasOrderKey(type)) return nullptr;
   if (type.oid == oid::jsonb) return compareJsonb;
   if (type.oid == oid::citext) return compareCaseless;
   if (type.oid == oid::cube) return compareCubeBytes;
   if (type.oid == oid::tsquery) return compareTsQueries;
   if (isRowValue(type.oid)) return compareRows;
   if (findRangeType(type.oid)) return compareRanges;
   if (findMultirangeType(type.oid)) return compareMultiranges;
   return keepsBlanks(type) ? compareBpchar : compareArrayBytes;
}

} // namespace ouzel::executor
