#include "common/base_type/ltree.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "common/base_type/ltree_query.hpp"
#include "common/type/array.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The extension ltree: paths of labels, and the questions that lquery and ltxtquery put to them.

namespace ouzel::executor {

namespace {

// ---- parts of paths ----

[[noreturn]] void throwPositions() {
   throw SqlError(sqlstate::invalidParameterValue, "invalid positions");
}

/// The labels from `begin` on and before `end`.
StringView partBetween(const StringView& path, int64_t begin, int64_t end, KernelEnv& env) {
   const std::vector<std::string_view> labels = ltreeLabels(path.view());
   const auto size = static_cast<int64_t>(labels.size());
   if (begin < 0 || end < 0 || begin >= size || begin > end) throwPositions();
   end = std::min(end, size);
   if (begin == end) return env.copy({});
   const std::string_view first = labels[static_cast<size_t>(begin)], last = labels[static_cast<size_t>(end - 1)];
   return env.copy({first.data(), static_cast<size_t>(last.data() + last.size() - first.data())});
}
StringView subltree(const StringView& path, int32_t begin, int32_t end, KernelEnv& env) {
   return partBetween(path, begin, end, env);
}

/// Where subpath() begins: a negative offset counts from the end, and once more if it goes beyond the front.
int64_t beginOf(int64_t offset, int64_t size) {
   for (int i = 0; i < 2 && offset < 0; ++i)
      offset += size;
   return offset;
}
StringView subpath(const StringView& path, int32_t offset, int32_t length, KernelEnv& env) {
   const int64_t size = ltreeSize(path.view()), begin = beginOf(offset, size);
   const int64_t end = length < 0 ? size + length : begin + length;
   return partBetween(path, begin, static_cast<int32_t>(end), env); // PostgreSQL refuses an end beyond 32 bits
}
StringView rest(const StringView& path, int32_t offset, KernelEnv& env) {
   return partBetween(path, beginOf(offset, ltreeSize(path.view())), ltreeLabelsMax, env);
}

int32_t size(const StringView& path) {
   return static_cast<int32_t>(ltreeSize(path.view()));
}

/// Where the labels of `part` stand in the path, from the offset on; -1: nowhere.
int32_t positionFrom(const StringView& path, const StringView& part, int32_t offset) {
   const std::vector<std::string_view> labels = ltreeLabels(path.view()), wanted = ltreeLabels(part.view());
   if (wanted.empty()) return -1;
   const auto size = static_cast<int64_t>(labels.size());
   const int64_t begin = std::clamp<int64_t>(offset < 0 ? size + offset : offset, 0, size);
   const auto found = std::search(labels.begin() + begin, labels.end(), wanted.begin(), wanted.end());
   return found == labels.end() ? -1 : static_cast<int32_t>(found - labels.begin());
}
int32_t positionOf(const StringView& path, const StringView& part) {
   return positionFrom(path, part, 0);
}

// ---- paths made of others ----

StringView joined(std::string_view a, std::string_view b, KernelEnv& env) {
   if (a.empty() || b.empty()) return env.copy(a.empty() ? b : a);
   const uint32_t labels = ltreeSize(a) + ltreeSize(b);
   if (labels > ltreeLabelsMax)
      throw SqlError(sqlstate::programLimitExceeded, "number of ltree levels (" + std::to_string(labels) +
                                                         ") exceeds the maximum allowed (" +
                                                         std::to_string(ltreeLabelsMax) + ")");
   std::string path(a);
   path += '.';
   path += b;
   return env.copy(path);
}
StringView concatenate(const StringView& a, const StringView& b, KernelEnv& env) {
   return joined(a.view(), b.view(), env);
}
StringView appendText(const StringView& path, const StringView& text, KernelEnv& env) {
   checkLtree(text.view());
   return joined(path.view(), text.view(), env);
}
StringView prependText(const StringView& text, const StringView& path, KernelEnv& env) {
   checkLtree(text.view());
   return joined(text.view(), path.view(), env);
}

StringView toText(const StringView& path, KernelEnv& env) {
   return env.copy(path.view());
}
StringView ofText(const StringView& text, KernelEnv& env) {
   checkLtree(text.view());
   return env.copy(text.view());
}

// ---- comparisons ----

/// As ltree_cmp(): by the first bytes that differ, the lengths of labels, or the numbers of labels.
int32_t compare(const StringView& a, const StringView& b) {
   const std::vector<std::string_view> left = ltreeLabels(a.view()), right = ltreeLabels(b.view());
   for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      const std::string_view l = left[i], r = right[i];
      const auto [x, y] = std::mismatch(l.begin(), l.end(), r.begin(), r.end());
      if (x != l.end() && y != r.end()) return *x - *y; // labels are ASCII
      if (l.size() != r.size()) return static_cast<int32_t>(l.size()) - static_cast<int32_t>(r.size());
   }
   return static_cast<int32_t>(left.size()) - static_cast<int32_t>(right.size());
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

// ---- questions to paths ----

// What is asked, made of the bytes of the value that asks: Above and Below for ltree, Lquery and Ltxtquery.

/// Whether a path is the one that asks or above it.
struct Above {
   explicit Above(std::string_view text) : path(text) {}
   bool matches(std::string_view other) const {
      return path.starts_with(other) && (other.empty() || path.size() == other.size() || path[other.size()] == '.');
   }
   std::string_view path;
};
/// Whether a path is the one that asks or below it.
struct Below {
   explicit Below(std::string_view text) : path(text) {}
   bool matches(std::string_view other) const { return Above(other).matches(path); }
   std::string_view path;
};

/// The elements of an array of paths or queries.
std::vector<StringView> elementsOf(const StringView& bytes) {
   const ArrayView array({bytes.data(), bytes.size()});
   if (array.dimensionCount() > 1) throw SqlError(sqlstate::arraySubscriptError, "array must be one-dimensional");
   std::vector<StringView> elements;
   elements.reserve(array.size());
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "array must not contain nulls");
      elements.push_back(element.as<StringView>());
   }
   return elements;
}

/// Takes a question apart, once for rows that follow each other and ask the same.
template <typename Question>
class Asked {
public:
   const Question& of(const StringView& text) {
      if (!question_ || !(text == asked_)) {
         question_.reset();
         asked_ = text;
         question_ = std::make_unique<Question>(asked_.view());
      }
      return *question_;
   }

private:
   StringView asked_; ///< of a row of the batch
   std::unique_ptr<Question> question_;
};

// What the question is put to: a path, or the paths of an array, of which one has to match.

template <typename Question>
bool holdsFor(const Question& question, const StringView& path) {
   return question.matches(path.view());
}
template <typename Question>
bool holdsForOne(const Question& question, const StringView& array) {
   const std::vector<StringView> paths = elementsOf(array);
   return std::any_of(paths.begin(), paths.end(), [&](const StringView& path) { return holdsFor(question, path); });
}

constexpr bool pathFirst = false, questionFirst = true;

/// A kernel that puts the question of one argument to the other one.
template <typename Question, bool (*test)(const Question&, const StringView&), bool isSwapped>
void ask(const KernelCall& call, ResultVector& result) {
   const Vector &subjects = call.args[isSwapped ? 1 : 0], &questions = call.args[isSwapped ? 0 : 1];
   auto* out = result.values<uint8_t>();
   Asked<Question> asked;
   forEachRow(call.rows, [&](uint32_t row) {
      out[row] = test(asked.of(questions.value<StringView>(row)), subjects.value<StringView>(row));
   });
}

/// The same for an array of patterns, of which one has to match.
template <bool (*test)(const Lquery&, const StringView&), bool isSwapped>
void askAny(const KernelCall& call, ResultVector& result) {
   const Vector &subjects = call.args[isSwapped ? 1 : 0], &questions = call.args[isSwapped ? 0 : 1];
   auto* out = result.values<uint8_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      const std::vector<StringView> patterns = elementsOf(questions.value<StringView>(row));
      const StringView& subject = subjects.value<StringView>(row);
      out[row] = std::any_of(patterns.begin(), patterns.end(),
                             [&](const StringView& pattern) { return test(Lquery(pattern.view()), subject); });
   });
}

/// A kernel that gives the first path of an array that matches, or NULL.
template <typename Question>
void extract(const KernelCall& call, ResultVector& result) {
   auto* out = result.values<StringView>();
   Asked<Question> asked;
   forEachRow(call.rows, [&](uint32_t row) {
      const std::vector<StringView> paths = elementsOf(call.args[0].value<StringView>(row));
      const Question& question = asked.of(call.args[1].value<StringView>(row));
      const auto found =
          std::find_if(paths.begin(), paths.end(), [&](const StringView& path) { return holdsFor(question, path); });
      if (found == paths.end())
         result.setNull(row);
      else
         out[row] = result.strings().copyString(found->view());
   });
}

// ---- lca() ----

/// The longest path above all paths, none of which it is itself; nothing where there is no path or one without labels.
std::optional<std::string_view> commonAncestor(const std::vector<StringView>& paths) {
   if (paths.empty() || paths.front().empty()) return std::nullopt;
   const std::vector<std::string_view> first = ltreeLabels(paths.front().view());
   size_t size = first.size() - 1;
   for (const StringView& path : paths) {
      if (path.empty()) return std::nullopt;
      const std::vector<std::string_view> labels = ltreeLabels(path.view());
      size = std::min(size, labels.size() - 1);
      size = static_cast<size_t>(
          std::mismatch(first.begin(), first.begin() + static_cast<int64_t>(size), labels.begin()).first -
          first.begin());
   }
   if (size == 0) return std::string_view();
   const std::string_view last = first[size - 1];
   return std::string_view(first[0].data(), static_cast<size_t>(last.data() + last.size() - first[0].data()));
}

void ancestorOfAll(const KernelCall& call, ResultVector& result) {
   auto* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      std::vector<StringView> paths;
      for (const Vector& arg : call.args)
         paths.push_back(arg.value<StringView>(row));
      if (const auto ancestor = commonAncestor(paths))
         out[row] = result.strings().copyString(*ancestor);
      else
         result.setNull(row);
   });
}
std::optional<StringView> ancestorOfArray(const StringView& array, KernelEnv& env) {
   const std::vector<StringView> paths = elementsOf(array);
   const auto ancestor = commonAncestor(paths);
   return ancestor ? std::optional(env.copy(*ancestor)) : std::nullopt;
}

// ---- registration ----

void add(std::string_view name, ScalarKernel kernel) {
   registerKernel(name, "ss", {kernel, true, false});
}
template <typename Question>
void addQuestions(std::string_view one, std::string_view oneSwapped, std::string_view many,
                  std::string_view manySwapped) {
   add(one, ask<Question, holdsFor<Question>, pathFirst>);
   add(oneSwapped, ask<Question, holdsFor<Question>, questionFirst>);
   add(many, ask<Question, holdsForOne<Question>, pathFirst>);
   add(manySwapped, ask<Question, holdsForOne<Question>, questionFirst>);
}

} // namespace

void registerLtree() {
   addKernel<subltree>("ltree/subltree");
   addKernel<subpath>("ltree/subpath");
   addKernel<rest>("ltree/subpath");
   addKernel<size>("ltree/nlevel", totalKernel);
   addKernel<positionOf>("ltree/ltree_index", totalKernel);
   addKernel<positionFrom>("ltree/ltree_index", totalKernel);
   addKernel<concatenate>("ltree/ltree_addltree");
   addKernel<appendText>("ltree/ltree_addtext");
   addKernel<prependText>("ltree/ltree_textadd");
   addKernel<toText>("ltree/ltree2text");
   addKernel<ofText>("ltree/text2ltree");
   addKernel<compare>("ltree/ltree_cmp", totalKernel);
   addKernel<isLess>("ltree/ltree_lt", totalKernel);
   addKernel<isAtMost>("ltree/ltree_le", totalKernel);
   addKernel<isEqual>("ltree/ltree_eq", totalKernel);
   addKernel<isDifferent>("ltree/ltree_ne", totalKernel);
   addKernel<isAtLeast>("ltree/ltree_ge", totalKernel);
   addKernel<isGreater>("ltree/ltree_gt", totalKernel);
   // a @> b: the path on the right asks whether the left one is above it. a <@ b is the same the other way round.
   add("ltree/ltree_isparent", ask<Above, holdsFor<Above>, pathFirst>);
   add("ltree/_ltree_isparent", ask<Above, holdsForOne<Above>, pathFirst>);
   add("ltree/_ltree_r_isparent", ask<Above, holdsForOne<Above>, questionFirst>);
   add("ltree/ltree_risparent", ask<Below, holdsFor<Below>, pathFirst>);
   add("ltree/_ltree_risparent", ask<Below, holdsForOne<Below>, pathFirst>);
   add("ltree/_ltree_r_risparent", ask<Below, holdsForOne<Below>, questionFirst>);
   addQuestions<Lquery>("ltree/ltq_regex", "ltree/ltq_rregex", "ltree/_ltq_regex", "ltree/_ltq_rregex");
   addQuestions<Ltxtquery>("ltree/ltxtq_exec", "ltree/ltxtq_rexec", "ltree/_ltxtq_exec", "ltree/_ltxtq_rexec");
   add("ltree/lt_q_regex", askAny<holdsFor<Lquery>, pathFirst>);
   add("ltree/lt_q_rregex", askAny<holdsFor<Lquery>, questionFirst>);
   add("ltree/_lt_q_regex", askAny<holdsForOne<Lquery>, pathFirst>);
   add("ltree/_lt_q_rregex", askAny<holdsForOne<Lquery>, questionFirst>);
   add("ltree/_ltree_extract_isparent", extract<Above>);
   add("ltree/_ltree_extract_risparent", extract<Below>);
   add("ltree/_ltq_extract_regex", extract<Lquery>);
   add("ltree/_ltxtq_extract_exec", extract<Ltxtquery>);
   for (size_t count = 2; count <= 8; ++count)
      registerKernel("ltree/lca", std::string(count, 's'), {ancestorOfAll, true, false});
   addKernel<ancestorOfArray>("ltree/_lca");
}

} // namespace ouzel::executor
