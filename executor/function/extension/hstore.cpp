#include <algorithm>

#include "executor/function/array_builder.hpp"
#include "executor/function/extension/hstore_parts.hpp"
#include "executor/function/extension_families.hpp"

// The extension hstore: questions to maps, and maps made of maps. hstore_conversions.cpp has what makes maps of other
// values and other values of maps.

namespace ouzel::executor {

namespace {

/// The value of a key; nothing for NULL and where there is no such key.
std::optional<std::string_view> lookUp(const HstoreView& map, std::string_view key) {
   const auto found = map.find(key);
   return found ? map.value(*found) : std::nullopt;
}

/// The pairs that keep(pair) wants.
template <typename Keep>
StringView filtered(const StringView& map, KernelEnv& env, Keep&& keep) {
   std::vector<HstorePair> pairs = mapOf(map).pairs();
   std::erase_if(pairs, [&](const HstorePair& pair) { return !keep(pair); });
   return env.copy(storeHstore(pairs));
}

// ---- keys and values ----

std::optional<StringView> fetch(const StringView& map, const StringView& key, KernelEnv& env) {
   const auto value = lookUp(mapOf(map), key.view());
   return value ? std::optional(env.copy(*value)) : std::nullopt;
}

/// An array of the keys' shape.
StringView fetchAll(const StringView& bytes, const StringView& keys, KernelEnv& env) {
   const HstoreView map = mapOf(bytes);
   const TextElements wanted(keys);
   ArrayBuilder array(env.strings, oid::text);
   for (const auto& key : wanted.texts) {
      const auto value = key ? lookUp(map, *key) : std::nullopt;
      value ? array.addText(*value) : array.addNull();
   }
   return wanted.texts.empty() ? array.finish() : array.finish(wanted.dimensions);
}

bool has(const StringView& map, const StringView& key) {
   return mapOf(map).find(key.view()).has_value();
}
bool hasValue(const StringView& map, const StringView& key) {
   return lookUp(mapOf(map), key.view()).has_value();
}
bool hasAny(const StringView& bytes, const StringView& keys) {
   const HstoreView map = mapOf(bytes);
   const TextElements wanted(keys);
   return std::any_of(wanted.texts.begin(), wanted.texts.end(),
                      [&](const auto& key) { return key && map.find(*key).has_value(); });
}
bool hasAll(const StringView& bytes, const StringView& keys) {
   const HstoreView map = mapOf(bytes);
   const TextElements wanted(keys);
   return std::all_of(wanted.texts.begin(), wanted.texts.end(),
                      [&](const auto& key) { return !key || map.find(*key).has_value(); });
}

StringView keys(const StringView& bytes, KernelEnv& env) {
   const HstoreView map = mapOf(bytes);
   ArrayBuilder array(env.strings, oid::text);
   for (uint32_t i = 0; i < map.size(); ++i)
      array.addText(map.key(i));
   return array.finish();
}
StringView values(const StringView& bytes, KernelEnv& env) {
   const HstoreView map = mapOf(bytes);
   ArrayBuilder array(env.strings, oid::text);
   for (uint32_t i = 0; i < map.size(); ++i) {
      const auto value = map.value(i);
      value ? array.addText(*value) : array.addNull();
   }
   return array.finish();
}

// ---- maps made of maps ----

StringView slice(const StringView& bytes, const StringView& keys, KernelEnv& env) {
   const HstoreView map = mapOf(bytes);
   const TextElements wanted(keys);
   std::vector<HstorePair> pairs;
   for (const HstorePair& pair : wanted.keys())
      if (const auto found = map.find(pair.key)) pairs.push_back(map.pair(*found));
   return env.copy(storeHstore(pairs));
}

StringView without(const StringView& map, const StringView& key, KernelEnv& env) {
   return filtered(map, env, [&](const HstorePair& pair) { return pair.key != key.view(); });
}
StringView withoutAll(const StringView& map, const StringView& keys, KernelEnv& env) {
   const TextElements elements(keys);
   const auto unwanted = elements.keys();
   return filtered(map, env, [&](const HstorePair& pair) {
      return !std::binary_search(unwanted.begin(), unwanted.end(), pair, precedes);
   });
}
/// Without the pairs that the other map has too, with the same value.
StringView subtract(const StringView& map, const StringView& other, KernelEnv& env) {
   const HstoreView unwanted = mapOf(other);
   return filtered(map, env, [&](const HstorePair& pair) {
      const auto found = unwanted.find(pair.key);
      return !found || unwanted.value(*found) != pair.value;
   });
}

/// All pairs; of equal keys that of `preferred`. Both are in the order of a map.
StringView united(const std::vector<HstorePair>& preferred, const std::vector<HstorePair>& others, KernelEnv& env) {
   std::vector<HstorePair> pairs;
   pairs.reserve(preferred.size() + others.size());
   std::set_union(preferred.begin(), preferred.end(), others.begin(), others.end(), std::back_inserter(pairs),
                  precedes);
   return env.copy(storeHstore(pairs));
}
StringView concatenate(const StringView& a, const StringView& b, KernelEnv& env) {
   return united(mapOf(b).pairs(), mapOf(a).pairs(), env);
}

/// A map with a value at a key. NULL for the map: it has no pairs.
StringView assign(std::optional<StringView> map, std::optional<StringView> key, std::optional<StringView> value,
                  KernelEnv& env) {
   if (!key) throw SqlError(sqlstate::nullValueNotAllowed, "hstore subscript in assignment must not be null");
   HstorePair pair{key->view(), {}};
   if (value) pair.value = value->view();
   return united({pair}, map ? mapOf(*map).pairs() : std::vector<HstorePair>(), env);
}

// ---- comparisons ----

bool includes(const StringView& whole, const StringView& part) {
   const HstoreView all = mapOf(whole), wanted = mapOf(part);
   for (uint32_t i = 0; i < wanted.size(); ++i) {
      const auto found = all.find(wanted.key(i));
      if (!found || all.value(*found) != wanted.value(i)) return false;
   }
   return true;
}
bool isIncluded(const StringView& part, const StringView& whole) {
   return includes(whole, part);
}

int32_t compare(const StringView& a, const StringView& b) {
   const int order = a.compare(b);
   return order < 0 ? -1 : order > 0 ? 1 : 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return a.compare(b) < 0;
}
bool isAtMost(const StringView& a, const StringView& b) {
   return a.compare(b) <= 0;
}
bool isEqual(const StringView& a, const StringView& b) {
   return a == b;
}
bool isDifferent(const StringView& a, const StringView& b) {
   return !(a == b);
}
bool isAtLeast(const StringView& a, const StringView& b) {
   return a.compare(b) >= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return a.compare(b) > 0;
}

} // namespace

void registerHstore() {
   addKernel<fetch>("hstore/hstore_fetchval");
   addKernel<fetchAll>("hstore/hstore_slice_to_array");
   addKernel<has>("hstore/hstore_exists");
   addKernel<hasValue>("hstore/hstore_defined");
   addKernel<hasAny>("hstore/hstore_exists_any");
   addKernel<hasAll>("hstore/hstore_exists_all");
   addKernel<keys>("hstore/hstore_akeys");
   addKernel<values>("hstore/hstore_avals");
   addKernel<slice>("hstore/hstore_slice_to_hstore");
   addKernel<without>("hstore/hstore_delete");
   addKernel<withoutAll>("hstore/hstore_delete_array");
   addKernel<subtract>("hstore/hstore_delete_hstore");
   addKernel<concatenate>("hstore/hstore_concat");
   addKernel<assign>("ouzel_hstore_assign");
   addKernel<includes>("hstore/hstore_contains");
   addKernel<isIncluded>("hstore/hstore_contained");
   addKernel<compare>("hstore/hstore_cmp", totalKernel);
   addKernel<isLess>("hstore/hstore_lt", totalKernel);
   addKernel<isAtMost>("hstore/hstore_le", totalKernel);
   addKernel<isEqual>("hstore/hstore_eq", totalKernel);
   addKernel<isDifferent>("hstore/hstore_ne", totalKernel);
   addKernel<isAtLeast>("hstore/hstore_ge", totalKernel);
   addKernel<isGreater>("hstore/hstore_gt", totalKernel);
}

} // namespace ouzel::executor
