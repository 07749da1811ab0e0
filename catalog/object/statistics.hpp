#pragma once
#include "catalog/object/objects.hpp"

// The objects of CREATE STATISTICS, and what ANALYZE has found of their columns and expressions.

namespace ouzel::catalog {

/// What ANALYZE has found for one object of CREATE STATISTICS. A dimension is an attribute number, or -1, -2, ... for
/// the first, second, ... expression.
struct StatisticsData {
   struct DistinctCount {
      std::vector<int16_t> dimensions;
      double count = 0;
   };
   /// In the share `degree` of rows the values of `from` say that of `to`.
   struct FunctionalDependency {
      std::vector<int16_t> from;
      int16_t to = 0;
      double degree = 0;
   };
   /// A value as its type prints it, and its order key (appendValueKey()).
   struct Datum {
      std::string text, key;
      bool isNull = false;
   };
   /// A combination of values, one for each dimension, and its share of rows: as counted, and as it would be if the
   /// dimensions were independent.
   struct CommonValues {
      std::vector<Datum> values;
      double frequency = 0, baseFrequency = 0;
   };
   /// Of one expression what ANALYZE finds of a column.
   struct ExpressionValues {
      double nullFraction = 0;
      int32_t averageWidth = 0;
      double distinct = 0; ///< as pg_stats.n_distinct: negative numbers are shares of the rows
      std::vector<Datum> commonValues;
      std::vector<double> commonFrequencies;
      std::vector<std::string> histogram;
      std::optional<double> correlation;
   };

   bool isInherited = false; ///< of the rows of heirs as well
   std::vector<DistinctCount> distinctCounts;
   std::vector<FunctionalDependency> dependencies;
   std::vector<CommonValues> commonValues;
   std::vector<ExpressionValues> expressions;
};

/// CREATE STATISTICS.
struct Statistics : CatalogObject {
   Oid database = invalidOid, oid = invalidOid, schema = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   Oid table = invalidOid;
   std::string kinds;                    ///< as pg_statistic_ext.stxkind: d, f, m, e
   std::vector<int16_t> columns;         ///< attnums, ascending
   std::vector<std::string> expressions; ///< SQL as definitions print it: in parentheses, or a function call
   std::vector<int16_t> columnsRead;     ///< attnums that the expressions read
   int32_t target = -1;                  ///< of SET STATISTICS; -1: the default
   std::vector<StatisticsData> data;     ///< at most one of each isInherited
   Statistics() : CatalogObject(ObjectKind::Statistics) {}

   bool has(char letter) const { return kinds.find(letter) != std::string::npos; }
   size_t dimensionCount() const { return columns.size() + expressions.size(); }
   /// The number of dimension `i`: columns come first.
   int16_t dimension(size_t i) const {
      return i < columns.size() ? columns[i] : static_cast<int16_t>(-1 - static_cast<int>(i - columns.size()));
   }
   bool reads(int16_t attribute) const {
      return std::find(columns.begin(), columns.end(), attribute) != columns.end() ||
             std::find(columnsRead.begin(), columnsRead.end(), attribute) != columnsRead.end();
   }
};

/// "(a + b)", or "lower(a)": an expression of a definition without the parentheses around it.
std::string_view withoutParentheses(std::string_view expression);

} // namespace ouzel::catalog
