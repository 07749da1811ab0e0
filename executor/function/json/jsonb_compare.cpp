#include "common/hash/hash.hpp"
#include "common/json/jsonb.hpp"
#include "common/json/path_access.hpp"
#include "common/type/array.hpp"
#include "common/type/order_key.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Comparison and containment of jsonb: = <> < <= > >= @> <@ ? ?| ?&.

namespace ouzel::executor {

namespace {

using json::JsonbView;

int order(const StringView& a, const StringView& b) {
   return json::compare(JsonbView(a.view()), JsonbView(b.view()));
}
bool isEqual(const StringView& a, const StringView& b) {
   return a == b || json::equal(JsonbView(a.view()), JsonbView(b.view()));
}
bool isNotEqual(const StringView& a, const StringView& b) {
   return !isEqual(a, b);
}
bool isLess(const StringView& a, const StringView& b) {
   return order(a, b) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return order(a, b) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return order(a, b) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return order(a, b) >= 0;
}

bool contains(const StringView& a, const StringView& b) {
   return json::contains(JsonbView(a.view()), JsonbView(b.view()));
}
bool isContained(const StringView& a, const StringView& b) {
   return contains(b, a);
}

bool exists(const StringView& value, const StringView& text) {
   return json::hasKey(JsonbView(value.view()), text.view());
}

template <bool all>
bool existsSome(const StringView& value, const StringView& texts) {
   const JsonbView view(value.view());
   const ArrayView array(texts.view());
   for (ArrayView::Cursor text(array); text.next();)
      if (!text.isNull() && json::hasKey(view, text.as<StringView>().view()) != all) return !all;
   return all;
}

/// Equal values have equal hashes; they are not PostgreSQL's.
uint64_t hashOf(const StringView& value) {
   std::string key;
   appendJsonbKey(key, value.view());
   return hashBytes(key.data(), key.size());
}
int32_t hash(const StringView& value) {
   return static_cast<int32_t>(hashOf(value));
}
int64_t hashExtended(const StringView& value, int64_t seed) {
   return static_cast<int64_t>(hashOf(value) + static_cast<uint64_t>(seed) * 0x9E3779B97F4A7C15);
}

} // namespace

void registerJsonbCompare() {
   addKernel<isEqual>("jsonb_eq");
   addKernel<isNotEqual>("jsonb_ne");
   addKernel<isLess>("jsonb_lt");
   addKernel<isLessOrEqual>("jsonb_le");
   addKernel<isGreater>("jsonb_gt");
   addKernel<isGreaterOrEqual>("jsonb_ge");
   addKernel<order>("jsonb_cmp");
   addKernel<hash>("jsonb_hash");
   addKernel<hashExtended>("jsonb_hash_extended");
   addKernel<contains>("jsonb_contains");
   addKernel<isContained>("jsonb_contained");
   addKernel<exists>("jsonb_exists");
   addKernel<existsSome<false>>("jsonb_exists_any");
   addKernel<existsSome<true>>("jsonb_exists_all");
}

} // namespace ouzel::executor
