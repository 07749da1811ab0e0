#include "common/base_type/vector.hpp"

#include <algorithm>
#include <cmath>

#include "common/type/array.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/extension/comparisons.hpp"
#include "executor/function/extension/vector_distance.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The extension vector: distances of embeddings, their arithmetic and casts, as pgvector has them.

namespace ouzel::executor {

namespace {

FloatsView floatsOf(const StringView& vector) {
   return FloatsView({vector.data(), vector.size()});
}

/// Throws 22000 for vectors of different dimensions. Returns their number.
size_t requireAlike(const StringView& a, const StringView& b) {
   const uint32_t left = floatsOf(a).size(), right = floatsOf(b).size();
   if (left != right)
      throw SqlError(sqlstate::dataException,
                     "different vector dimensions " + std::to_string(left) + " and " + std::to_string(right));
   return left;
}

// ---- distances ----

double l2Distance(const StringView& a, const StringView& b) {
   const size_t count = requireAlike(a, b);
   return std::sqrt(static_cast<double>(squaredDistance(a.data(), b.data(), count)));
}
double l2SquaredDistance(const StringView& a, const StringView& b) {
   const size_t count = requireAlike(a, b);
   return static_cast<double>(squaredDistance(a.data(), b.data(), count));
}
double innerProductOf(const StringView& a, const StringView& b) {
   const size_t count = requireAlike(a, b);
   return static_cast<double>(innerProduct(a.data(), b.data(), count));
}
double negativeInnerProduct(const StringView& a, const StringView& b) {
   return -innerProductOf(a, b);
}
double l1Distance(const StringView& a, const StringView& b) {
   const size_t count = requireAlike(a, b);
   return static_cast<double>(absoluteDistance(a.data(), b.data(), count));
}
double cosineDistance(const StringView& a, const StringView& b) {
   const CosineSums sums = cosineSums(a.data(), b.data(), requireAlike(a, b));
   const double cosine =
       static_cast<double>(sums.product) / std::sqrt(static_cast<double>(sums.left) * static_cast<double>(sums.right));
   return 1 - std::clamp(cosine, -1.0, 1.0); // NaN, where a vector has no length, stays
}
double sphericalDistance(const StringView& a, const StringView& b) {
   return std::acos(std::clamp(innerProductOf(a, b), -1.0, 1.0)) / M_PI;
}

// ---- of one vector ----

int32_t dimensions(const StringView& vector) {
   return static_cast<int32_t>(floatsOf(vector).size());
}
double norm(const StringView& vector) {
   double sum = 0;
   const FloatsView floats = floatsOf(vector);
   for (uint32_t i = 0; i < floats.size(); ++i)
      sum += static_cast<double>(floats[i]) * static_cast<double>(floats[i]);
   return std::sqrt(sum);
}

/// A vector of so many floats that make(i) gives. Throws 22003 for what is not finite.
template <typename Make>
StringView made(size_t count, KernelEnv& env, Make&& make) {
   requireDimensions(count);
   std::string bytes;
   bytes.reserve(count * sizeof(float));
   for (size_t i = 0; i < count; ++i) {
      const float value = make(i);
      if (std::isinf(value)) throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: overflow");
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
   }
   return env.copy(bytes);
}

StringView normalize(const StringView& vector, KernelEnv& env) {
   const FloatsView floats = floatsOf(vector);
   const double length = norm(vector);
   return made(floats.size(), env, [&](size_t i) {
      return length > 0 ? static_cast<float>(static_cast<double>(floats[i]) / length) : 0.0f;
   });
}
StringView subvector(const StringView& vector, int32_t start, int32_t count, KernelEnv& env) {
   const FloatsView floats = floatsOf(vector);
   if (count < 1) requireDimensions(0);
   const int64_t size = floats.size();
   const int64_t begin = std::max<int64_t>(start, 1), end = std::min<int64_t>(int64_t{start} + count, size + 1);
   if (begin > size || end <= begin) requireDimensions(0);
   return made(static_cast<size_t>(end - begin), env,
               [&](size_t i) { return floats[static_cast<size_t>(begin - 1) + i]; });
}

// ---- arithmetic ----

template <typename Operation>
StringView combined(const StringView& a, const StringView& b, KernelEnv& env, Operation operation) {
   const size_t count = requireAlike(a, b);
   const FloatsView left = floatsOf(a), right = floatsOf(b);
   return made(count, env, [&](size_t i) { return operation(left[i], right[i]); });
}
StringView add(const StringView& a, const StringView& b, KernelEnv& env) {
   return combined(a, b, env, [](float x, float y) { return x + y; });
}
StringView subtract(const StringView& a, const StringView& b, KernelEnv& env) {
   return combined(a, b, env, [](float x, float y) { return x - y; });
}
StringView multiply(const StringView& a, const StringView& b, KernelEnv& env) {
   return combined(a, b, env, [](float x, float y) {
      const float product = x * y;
      if (product == 0 && x != 0 && y != 0)
         throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: underflow");
      return product;
   });
}
StringView concatenate(const StringView& a, const StringView& b, KernelEnv& env) {
   const FloatsView left = floatsOf(a), right = floatsOf(b);
   return made(size_t{left.size()} + right.size(), env,
               [&](size_t i) { return i < left.size() ? left[i] : right[i - left.size()]; });
}

// ---- comparisons: by the first dimension that differs, then by their number ----

int32_t compare(const StringView& a, const StringView& b) {
   const FloatsView left = floatsOf(a), right = floatsOf(b);
   for (uint32_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (left[i] < right[i]) return -1;
      if (left[i] > right[i]) return 1;
   }
   return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}
using Ordered = Comparisons<compare>;

// ---- casts ----

/// The elements of an array of numbers, of which T says how they lie.
template <typename T>
StringView ofArray(const StringView& bytes, int32_t typmod, bool, KernelEnv& env) {
   const ArrayView array(bytes.view());
   if (array.dimensionCount() > 1) throw SqlError(sqlstate::dataException, "array must be 1-D");
   std::vector<float> values;
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "array must not contain nulls");
      values.push_back(static_cast<float>(element.as<T>()));
      requireFinite(values.back());
   }
   requireDimensions(values.size());
   requireTypmod(static_cast<uint32_t>(values.size()), typmod);
   return made(values.size(), env, [&](size_t i) { return values[i]; });
}

StringView toArray(const StringView& vector, int32_t, bool, KernelEnv& env) {
   const FloatsView floats = floatsOf(vector);
   ArrayBuilder array(env.strings, oid::float4);
   for (uint32_t i = 0; i < floats.size(); ++i) {
      const float value = floats[i];
      array.add(&value);
   }
   return array.finish();
}

// ---- avg: the number of vectors, and the sum of each dimension ----

std::vector<double> stateOf(const StringView& bytes) {
   std::vector<double> state;
   const ArrayView array(bytes.view());
   for (ArrayView::Cursor element(array); element.next();)
      state.push_back(element.as<double>());
   return state;
}
StringView stored(const std::vector<double>& state, KernelEnv& env) {
   ArrayBuilder array(env.strings, oid::float8);
   for (const double value : state)
      array.add(&value);
   return array.finish();
}
[[noreturn]] void throwDimensions(size_t expected, size_t found) {
   throw SqlError(sqlstate::dataException,
                  "expected " + std::to_string(expected) + " dimensions, not " + std::to_string(found));
}

StringView accumulate(const StringView& before, const StringView& vector, KernelEnv& env) {
   std::vector<double> state = stateOf(before);
   const FloatsView floats = floatsOf(vector);
   if (state.size() == 1) state.resize(floats.size() + 1);
   if (state.size() != floats.size() + 1) throwDimensions(state.size() - 1, floats.size());
   state[0] += 1;
   for (uint32_t i = 0; i < floats.size(); ++i)
      state[i + 1] += static_cast<double>(floats[i]);
   return stored(state, env);
}
StringView unite(const StringView& a, const StringView& b, KernelEnv& env) {
   std::vector<double> left = stateOf(a);
   const std::vector<double> right = stateOf(b);
   if (left[0] == 0) return stored(right, env);
   if (right[0] == 0) return stored(left, env);
   if (left.size() != right.size()) throwDimensions(left.size() - 1, right.size() - 1);
   for (size_t i = 0; i < left.size(); ++i)
      left[i] += right[i];
   return stored(left, env);
}
/// NULL: there was no vector. Strict, so that a state that is NULL is no case.
void average(const KernelCall& call, ResultVector& result) {
   auto* out = result.values<StringView>();
   KernelEnv env{result.strings(), call.context, call};
   forEachRow(call.rows, [&](uint32_t row) {
      const std::vector<double> state = stateOf(call.args[0].value<StringView>(row));
      if (state[0] == 0)
         result.setNull(row);
      else
         out[row] = made(state.size() - 1, env, [&](size_t i) { return static_cast<float>(state[i + 1] / state[0]); });
   });
}

} // namespace

void registerVector() {
   addKernel<l2Distance>("vector/l2_distance");
   addKernel<l2SquaredDistance>("vector/vector_l2_squared_distance");
   addKernel<innerProductOf>("vector/inner_product");
   addKernel<negativeInnerProduct>("vector/vector_negative_inner_product");
   addKernel<cosineDistance>("vector/cosine_distance");
   addKernel<l1Distance>("vector/l1_distance");
   addKernel<sphericalDistance>("vector/vector_spherical_distance");
   addKernel<dimensions>("vector/vector_dims", totalKernel);
   addKernel<norm>("vector/vector_norm", totalKernel);
   addKernel<normalize>("vector/l2_normalize");
   addKernel<subvector>("vector/subvector");
   addKernel<add>("vector/vector_add");
   addKernel<subtract>("vector/vector_sub");
   addKernel<multiply>("vector/vector_mul");
   addKernel<concatenate>("vector/vector_concat");
   addKernel<compare>("vector/vector_cmp", totalKernel);
   addKernel<Ordered::isLess>("vector/vector_lt", totalKernel);
   addKernel<Ordered::isAtMost>("vector/vector_le", totalKernel);
   addKernel<Ordered::isEqual>("vector/vector_eq", totalKernel);
   addKernel<Ordered::isDifferent>("vector/vector_ne", totalKernel);
   addKernel<Ordered::isAtLeast>("vector/vector_ge", totalKernel);
   addKernel<Ordered::isGreater>("vector/vector_gt", totalKernel);
   addKernel<ofArray<int32_t>>("vector/int4_array_to_vector");
   addKernel<ofArray<float>>("vector/float4_array_to_vector");
   addKernel<ofArray<double>>("vector/float8_array_to_vector");
   addKernel<toArray>("vector/vector_to_float4");
   addKernel<accumulate>("vector/vector_accum");
   addKernel<unite>("vector/vector_combine");
   registerKernel("vector/vector_avg", "s", {average, true, false});
}

} // namespace ouzel::executor
