#include <algorithm>
#include <vector>

#include "common/text/ascii.hpp"
#include "common/type/array.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The extension intarray: arrays of integers as lists and as sets. They may not have NULLs.

namespace ouzel::executor {

namespace {

/// The elements of an array, and its shape.
struct Integers {
   std::vector<int32_t> values;
   std::vector<ArrayDimension> dimensions;

   explicit Integers(const StringView& bytes) {
      const ArrayView array(bytes.view());
      for (ArrayView::Cursor element(array); element.next();) {
         if (element.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "array must not contain nulls");
         values.push_back(element.as<int32_t>());
      }
      dimensions = array.dimensions();
   }
   /// The distinct elements, ascending.
   Integers&& asSet() && {
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      return std::move(*this);
   }
};

/// An array of one dimension, counted from 1.
StringView list(const std::vector<int32_t>& values, KernelEnv& env) {
   ArrayBuilder array(env.strings, oid::int4);
   for (const int32_t value : values)
      array.add(&value);
   return array.finish();
}

/// An array of the shape that the elements had.
StringView shaped(const Integers& integers, KernelEnv& env) {
   ArrayBuilder array(env.strings, oid::int4);
   for (const int32_t value : integers.values)
      array.add(&value);
   return integers.values.empty() ? array.finish() : array.finish(integers.dimensions);
}

/// An array of one dimension that begins where the elements' did.
StringView resized(const Integers& integers, KernelEnv& env) {
   ArrayBuilder array(env.strings, oid::int4);
   for (const int32_t value : integers.values)
      array.add(&value);
   return array.finish(integers.dimensions.empty() ? 1 : integers.dimensions[0].lower);
}

// ---- predicates ----

bool includes(const StringView& whole, const StringView& part) {
   const Integers all = Integers(whole).asSet(), wanted = Integers(part).asSet();
   return std::includes(all.values.begin(), all.values.end(), wanted.values.begin(), wanted.values.end());
}
bool isIncluded(const StringView& part, const StringView& whole) {
   return includes(whole, part);
}
bool overlaps(const StringView& a, const StringView& b) {
   const Integers left = Integers(a).asSet(), right = Integers(b).asSet();
   for (auto l = left.values.begin(), r = right.values.begin(); l != left.values.end() && r != right.values.end();) {
      if (*l == *r) return true;
      *l < *r ? ++l : ++r;
   }
   return false;
}
/// Whether the arrays have the same elements, each as often, in any order.
bool isSame(const StringView& a, const StringView& b) {
   Integers left(a), right(b);
   std::sort(left.values.begin(), left.values.end());
   std::sort(right.values.begin(), right.values.end());
   return left.values == right.values;
}
bool isDifferent(const StringView& a, const StringView& b) {
   return !isSame(a, b);
}

// ---- sets ----

StringView unite(const StringView& a, const StringView& b, KernelEnv& env) {
   Integers all(a);
   const Integers more(b);
   all.values.insert(all.values.end(), more.values.begin(), more.values.end());
   return list(std::move(all).asSet().values, env);
}
StringView intersect(const StringView& a, const StringView& b, KernelEnv& env) {
   const Integers left = Integers(a).asSet(), right = Integers(b).asSet();
   std::vector<int32_t> common;
   std::set_intersection(left.values.begin(), left.values.end(), right.values.begin(), right.values.end(),
                         std::back_inserter(common));
   return list(common, env);
}
StringView subtract(const StringView& a, const StringView& b, KernelEnv& env) {
   const Integers left = Integers(a).asSet(), right = Integers(b).asSet();
   std::vector<int32_t> rest;
   std::set_difference(left.values.begin(), left.values.end(), right.values.begin(), right.values.end(),
                       std::back_inserter(rest));
   return list(rest, env);
}
StringView uniteElement(const StringView& a, int32_t element, KernelEnv& env) {
   Integers all(a);
   all.values.push_back(element);
   return list(std::move(all).asSet().values, env);
}
StringView setOf(int32_t element, KernelEnv& env) {
   return list({element}, env);
}

// ---- lists ----

int32_t count(const StringView& array) {
   return static_cast<int32_t>(ArrayView(array.view()).size()); // NULLs count
}
StringView ascending(const StringView& array, KernelEnv& env) {
   Integers sorted(array);
   std::sort(sorted.values.begin(), sorted.values.end());
   return shaped(sorted, env);
}
StringView descending(const StringView& array, KernelEnv& env) {
   Integers sorted(array);
   std::sort(sorted.values.rbegin(), sorted.values.rend());
   return shaped(sorted, env);
}
StringView sortBy(const StringView& array, const StringView& direction, KernelEnv& env) {
   const std::string word = lowerCase(direction.view());
   if (word == "desc") return descending(array, env);
   if (word == "asc" || Integers(array).values.size() < 2) return ascending(array, env);
   throw SqlError(sqlstate::invalidParameterValue, "second parameter must be \"ASC\" or \"DESC\"");
}
/// Without elements that equal the one before.
StringView withoutRepeats(const StringView& array, KernelEnv& env) {
   Integers rest(array);
   const size_t before = rest.values.size();
   rest.values.erase(std::unique(rest.values.begin(), rest.values.end()), rest.values.end());
   return rest.values.size() == before ? shaped(rest, env) : resized(rest, env);
}
/// Where the element is, counted from 1; 0: nowhere.
int32_t positionOf(const StringView& array, int32_t element) {
   const Integers all(array);
   const auto found = std::find(all.values.begin(), all.values.end(), element);
   return found == all.values.end() ? 0 : static_cast<int32_t>(found - all.values.begin()) + 1;
}

/// `start` counts from 1, or from the end if it is negative. `length` 0: all, negative: but so many at the end.
StringView part(const StringView& array, int32_t start, int32_t length, KernelEnv& env) {
   const Integers all(array);
   const auto size = static_cast<int64_t>(all.values.size());
   int64_t first = start > 0 ? int64_t{start} - 1 : start;
   if (first < 0) first += size;
   int64_t end = length < 0 ? size + length : length == 0 ? size : first + length;
   end = std::min(end, size);
   first = std::max<int64_t>(first, 0);
   if (first >= end || end <= 0) return list({}, env);
   return list({all.values.begin() + first, all.values.begin() + end}, env);
}
StringView rest(const StringView& array, int32_t start, KernelEnv& env) {
   return part(array, start, 0, env);
}

StringView append(const StringView& array, int32_t element, KernelEnv& env) {
   Integers all(array);
   all.values.push_back(element);
   return list(all.values, env);
}
StringView concatenate(const StringView& a, const StringView& b, KernelEnv& env) {
   Integers all(a);
   const Integers more(b);
   all.values.insert(all.values.end(), more.values.begin(), more.values.end());
   return list(all.values, env);
}
StringView without(const StringView& array, int32_t element, KernelEnv& env) {
   Integers all(array);
   return std::erase(all.values, element) == 0 ? shaped(all, env) : resized(all, env);
}

} // namespace

void registerIntarray() {
   addKernel<includes>("_int/_int_contains");
   addKernel<isIncluded>("_int/_int_contained");
   addKernel<overlaps>("_int/_int_overlap");
   addKernel<isSame>("_int/_int_same");
   addKernel<isDifferent>("_int/_int_different");
   addKernel<unite>("_int/_int_union");
   addKernel<intersect>("_int/_int_inter");
   addKernel<setOf>("_int/intset");
   addKernel<count>("_int/icount");
   addKernel<sortBy>("_int/sort");
   addKernel<ascending>("_int/sort_asc");
   addKernel<descending>("_int/sort_desc");
   addKernel<withoutRepeats>("_int/uniq");
   addKernel<positionOf>("_int/idx");
   addKernel<part>("_int/subarray");
   addKernel<rest>("_int/subarray");
   addKernel<append>("_int/intarray_push_elem");
   addKernel<concatenate>("_int/intarray_push_array");
   addKernel<without>("_int/intarray_del_elem");
   addKernel<uniteElement>("_int/intset_union_elem");
   addKernel<subtract>("_int/intset_subtract");
}

} // namespace ouzel::executor
