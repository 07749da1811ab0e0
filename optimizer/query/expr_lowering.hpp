#pragma once
#include <optional>
#include <vector>

#include "optimizer/query/query.hpp"

// Gives every expression node its representation: which numerics run as scaled integers, where Convert nodes go.

namespace ouzel::optimizer {

/// What all values lie between, in units of the representation (unscaled integers). Only for integers and scaled
/// numerics. Wider than the truth is fine.
struct Bounds {
   int128 min = 0, max = 0;
};

/// Knows the representation and bounds of columns that lower operators make, and lowers expressions over them.
/// One per plan being lowered.
class ExprLowering {
public:
   explicit ExprLowering(Query& query) : query_(query) {}

   /// Choose representations bottom-up. Returns bounds when the result is an integer or scaled numeric.
   std::optional<Bounds> lower(ExprPtr& expr);
   /// The same, and convert the result.
   std::optional<Bounds> lowerTo(ExprPtr& expr, Representation target);
   /// The same, with the representation that stored values of the type and most kernels have (Decimal for numeric).
   void lowerToGeneric(ExprPtr& expr);
   /// Lower both and give them one representation in which they compare.
   void lowerComparable(ExprPtr& lhs, ExprPtr& rhs);

   /// What a column is made as. Must be told before it is read.
   void setColumn(ColumnId column, Representation repr, std::optional<Bounds> bounds);
   std::optional<Bounds> bounds(ColumnId column) const;
   /// Bounds of stored data were used for more than types say.
   bool usedBounds() const { return usedBounds_; }
   void noteBoundsUsed() { usedBounds_ = true; }

   static Representation genericRepresentation(const SqlType& type);
   /// Wrap in Convert (or convert the constant); nothing when it is already so.
   static void convert(ExprPtr& expr, Representation target);
   /// One representation for values that end up in one column (CASE branches, set operations); nothing is lost.
   static Representation common(Representation a, Representation b, const SqlType& type);

private:
   std::optional<Bounds> lowerCall(Expr& expr);
   bool lowerSum(Expr& call, std::optional<Bounds>& result);
   bool lowerProduct(Expr& call, std::optional<Bounds>& result);
   std::optional<Bounds> lowerAlternatives(Expr& expr);
   std::optional<Bounds> lowerInList(Expr& expr);
   void makeComparable(std::vector<ExprPtr*> exprs, const std::vector<std::optional<Bounds>>& bounds);

   Query& query_;
   std::vector<std::optional<Bounds>> bounds_; ///< by column id
   bool usedBounds_ = false;
};

/// Bounds that a representation itself implies (numeric(p, s): 10^p - 1).
std::optional<Bounds> boundsOfType(Representation repr, const SqlType& type);

} // namespace ouzel::optimizer
