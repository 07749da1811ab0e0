#pragma once
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "optimizer/query/extended_statistics.hpp"
#include "optimizer/query/query.hpp"

// Estimates from the objects of CREATE STATISTICS: how many combinations columns and expressions of one table have, and
// which share of the rows satisfies several equalities.

namespace ouzel::optimizer {

/// Knows which columns of a query are columns and expressions of tables with extended statistics. One per query.
class ExtendedEstimates {
public:
   bool isEmpty() const { return tables_.empty(); }
   bool knows(const op::Get& get) const { return !get.columns.empty() && known_.contains(get.columns[0].column); }
   /// REQUIRES: !knows(get).
   void addTable(const op::Get& get, std::shared_ptr<const ExtendedStatistics> statistics);
   /// A column that an operator computes.
   void addComputed(ColumnId column, const Expr& expr);

   /// The number of groups that some of the keys form together in `rows` rows, which are then marked as taken. Empty:
   /// no statistics tell more of the keys than single columns do.
   std::optional<double> groups(const std::vector<const Expr*>& keys, std::vector<bool>& isTaken, double rows) const;
   /// The number of different values of an expression; empty: unknown, or it is a column.
   std::optional<double> distinct(const Expr& expr) const;
   /// The share of rows for which those of the conjuncts are true that are then marked as taken; 1 if it takes none.
   /// `alone`: the share for one of them.
   double conjunction(const std::vector<const Expr*>& conjuncts, std::vector<bool>& isTaken,
                      const std::function<double(const Expr&)>& alone) const;
   /// The share of rows in which an expression has a constant's value; empty: unknown, or it is a column.
   std::optional<double> equality(const Expr& expr, const Expr& constant) const;
   /// Whether conjunction() would take all of the conjuncts.
   bool coversAll(const std::vector<const Expr*>& conjuncts) const;

private:
   struct Table {
      std::shared_ptr<const ExtendedStatistics> statistics;
      std::unordered_map<ColumnId, int16_t> attributes;
   };
   /// A column or expression of a table. Expressions are numbered within each object of statistics.
   struct Dimension {
      size_t table;
      int16_t attribute;             ///< 0: an expression
      std::vector<int16_t> byObject; ///< of an expression: its number in each object, 0 if it is not in it
      SqlType type;
      int16_t in(size_t object) const { return attribute ? attribute : byObject[object]; }
   };
   /// "dimension = constant", "dimension IN (constants)", "dimension IS NULL".
   struct Clause {
      size_t conjunct;
      Dimension dimension;
      std::vector<std::string> keys;
      bool isNull = false;
   };

   std::optional<Dimension> dimensionOf(const Expr& expr) const;
   std::optional<Clause> clauseOf(const Expr& conjunct) const;
   /// The clauses of conjuncts that are not taken, by table.
   std::vector<std::vector<Clause>> clausesOf(const std::vector<const Expr*>& conjuncts,
                                              const std::vector<bool>& isTaken) const;
   double fromCommonValues(std::vector<Clause>& clauses, const std::vector<const Expr*>& conjuncts,
                           std::vector<bool>& isTaken, const std::function<double(const Expr&)>& alone) const;
   double fromDependencies(const std::vector<Clause>& clauses, const std::vector<const Expr*>& conjuncts,
                           std::vector<bool>& isTaken, const std::function<double(const Expr&)>& alone) const;

   std::vector<Table> tables_;
   std::unordered_map<ColumnId, Dimension> known_;
};

} // namespace ouzel::optimizer
