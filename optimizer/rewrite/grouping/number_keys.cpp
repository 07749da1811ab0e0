#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/grouping/inner_joins.hpp"
#include "optimizer/rewrite/rules.hpp"

// A query that groups millions of sales by the brand and the category of their items hashes and compares both texts for
// each sale. Few items have them. So the items' pairs of texts are numbered, and the sales are grouped by the number:
//
//    GroupBy brand, category, year            GroupBy number, brand, category, year
//      Join sale.item = item.id         ->      Join sale.item = item.id
//        sale                                     sale
//        item                                     Window dense_rank() over (order by brand, category) as number
//                                                   item
//
// The number determines the texts. The aggregation finds that out and compares the number alone, see the executor's
// determined_keys.hpp; the texts are stored once for each group. Windows above are partitioned by the number, too.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// Fewer rows are not worth another operator.
constexpr double rowsMin = 50'000;
/// So few combinations of texts are grouped by their codes in dictionaries (the executor's KeyMemo).
constexpr double codedMax = 256;
/// To number a row by `texts` columns costs as much as what the number saves for so many texts. Instead of one text the
/// number saves little.
constexpr double costOfNumber(size_t texts) {
   return texts == 1 ? 60 : 6 + 4 * static_cast<double>(texts);
}
constexpr Oid collationC = 950, collationPosix = 951;

/// Whether the key is a column whose equal values are equal bytes, and longer than a number.
bool isText(const Expr& key) {
   const SqlType& type = key.type;
   return columnOf(key) != noColumn && (type.oid == oid::text || type.oid == oid::varchar) &&
          (type.collation == defaultCollation || type.collation == collationC || type.collation == collationPosix);
}

/// Columns of a relation: a number that two rows have in common if and only if they agree in the texts.
struct Numbered {
   ColumnId number;
   std::vector<ColumnId> texts;
};

class NumberKeys {
public:
   NumberKeys(op::GroupBy& group, RelPtr& input, Query& query) : group_(group), input_(input), query_(query) {}

   /// What the groups have then.
   std::vector<Numbered> run() {
      std::vector<Numbered> made;
      if (!group_.groupingSets.empty() || !group_.groupingCalls.empty() || group_.keys.empty()) return made;
      if (input_->kind != RelKind::Join || !joins_.collect(input_)) return made;
      const double rows = estimator_.rows(*input_);
      std::vector<std::pair<RelPtr*, std::vector<ColumnId>>> wanted;
      bool haveMany = query_.context.settings.seed != 0;
      for (RelPtr* relation : joins_.relations) {
         std::vector<ColumnId> texts = textsOf(**relation);
         if (texts.empty() || !pays(rows, estimator_.rows(**relation), texts.size())) continue;
         haveMany = haveMany || combinations(**relation, texts) > codedMax;
         wanted.emplace_back(relation, std::move(texts));
      }
      if (!haveMany) return made;
      for (const auto& [relation, texts] : wanted) {
         Numbered& numbered = made.emplace_back();
         for (const ComputedColumn& key : group_.keys)
            if (std::ranges::find(texts, columnOf(*key.expr)) != texts.end()) numbered.texts.push_back(key.column);
         group_.keys.push_back(number(*relation, texts));
         numbered.number = group_.keys.back().column;
      }
      return made;
   }

private:
   /// The keys that are texts of the relation; empty if a number of it is a key, too: that may determine them as it is.
   std::vector<ColumnId> textsOf(const Rel& relation) const {
      const ColumnSet columns(outputColumns(relation));
      std::vector<ColumnId> texts;
      for (const ComputedColumn& key : group_.keys) {
         const ColumnId column = columnOf(*key.expr);
         if (column == noColumn || !columns.contains(column)) continue;
         if (!isText(*key.expr)) return {};
         texts.push_back(column);
      }
      return texts;
   }

   double combinations(const Rel& relation, const std::vector<ColumnId>& texts) {
      std::vector<ExprPtr> columns;
      std::vector<const Expr*> keys;
      for (const ColumnId text : texts)
         keys.push_back(columns.emplace_back(query_.ref(text)).get());
      return estimator_.groups(estimator_.estimate(relation), keys);
   }

   bool pays(double rows, double relationRows, size_t texts) const {
      if (query_.context.settings.seed != 0) return true;
      return rows >= rowsMin && rows * static_cast<double>(texts) >= costOfNumber(texts) * relationRows;
   }

   /// Numbers the relation's rows by the texts. The key by the number.
   ComputedColumn number(RelPtr& relation, const std::vector<ColumnId>& texts) {
      op::Window window;
      for (const ColumnId text : texts) {
         ExprPtr key = query_.ref(text);
         key->type.collation = collationC; // any order will do, and that of bytes is the fastest
         window.spec.orderBy.push_back({std::move(key)});
      }
      WindowCall call;
      call.function = catalog::builtins().findFunction("dense_rank", {});
      call.type = int8Type;
      call.column = query_.newColumn("number", int8Type, false);
      const ColumnId number = call.column;
      window.calls.push_back(std::move(call));
      relation = makeRel(RelKind::Window, std::move(window), std::move(relation));
      return {query_.newColumn("number", int8Type, false), query_.ref(number)};
   }

   op::GroupBy& group_;
   RelPtr& input_;
   Query& query_;
   Estimator estimator_{query_};
   InnerJoins joins_;
};

/// Partitions by the numbers whose texts are all among the columns.
void partitionByNumbers(std::vector<ExprPtr>& columns, std::span<const Numbered> all, const Query& query) {
   for (const Numbered& numbered : all) {
      const auto isText = [&](const ExprPtr& expr) {
         return std::ranges::find(numbered.texts, columnOf(*expr)) != numbered.texts.end();
      };
      const auto isColumn = [&](ColumnId text) {
         return std::ranges::any_of(columns, [&](const ExprPtr& expr) { return columnOf(*expr) == text; });
      };
      if (!std::ranges::all_of(numbered.texts, isColumn)) continue;
      std::erase_if(columns, isText);
      columns.push_back(query.ref(numbered.number));
   }
}

std::vector<Numbered> numberBelow(RelPtr& rel, Query& query) {
   checkStack();
   std::vector<Numbered> below;
   forEachChild(*rel, [&](RelPtr& child) { below = numberBelow(child, query); });
   switch (rel->kind) {
   case RelKind::GroupBy: return NumberKeys(rel->as<op::GroupBy>(), rel->inputs[0], query).run();
   case RelKind::Window: partitionByNumbers(rel->as<op::Window>().spec.partitionBy, below, query); return below;
   case RelKind::Select:
   case RelKind::Map: return below;
   default: return {};
   }
}

} // namespace

void numberKeys(RelPtr& root, Query& query) {
   numberBelow(root, query);
}

} // namespace ouzel::optimizer
