#pragma once
#include <optional>
#include <vector>

#include "optimizer/query/query.hpp"

// Gives every expression node its representation: decides which numerics run as scaled integers, and adds Convert
// nodes.

namespace ouzel::optimizer {

/// Bounds of all values of a column or expression, in units of the representation (unscaled integers). Only for
/// integers and scaled numerics. Bounds may be wider than the actual values, never narrower.
struct Bounds {
   int128 min = 0, max = 0;
};

/// Keeps the representation and bounds of columns that lowered operators make, and lowers expressions over these
/// columns. One per plan.
class ExprLowering {
public:
   explicit ExprLowering(Query& query) : query_(query) {}

   /// Chooses representations bottom-up. Returns bounds if the result is an integer or scaled numeric with known
   /// bounds.
   std::optional<Bounds> lower(ExprPtr& expr);
   /// Lowers the expression and converts its result to `target`.
   std::optional<Bounds> lowerTo(ExprPtr& expr, Representation target);
   /// Lowers the expression and converts its result to the generic representation of its type.
   void lowerToGeneric(ExprPtr& expr);
   /// Lowers both expressions and converts them to one representation in which they can be compared.
   void lowerComparable(ExprPtr& lhs, ExprPtr& rhs);

   /// Sets the representation and bounds of a column. Call it before an expression that reads the column is lowered.
   void setColumn(ColumnId column, Representation repr, std::optional<Bounds> bounds);
   std::optional<Bounds> bounds(ColumnId column) const;
   /// True if a decision relied on bounds of stored data, which are narrower than those of the types.
   bool usedBounds() const { return usedBounds_; }
   void noteBoundsUsed() { usedBounds_ = true; }

   /// The representation that most kernels take: Decimal for numeric, else the stored representation.
   static Representation genericRepresentation(const SqlType& type);
   /// Wraps the expression in a Convert, or converts a constant; no effect if the representation is `target` already.
   static void convert(ExprPtr& expr, Representation target);
   /// Makes an I64 the value of its lower 32 bits: with a sign, an int4, or without, an OID.
   static void takeBits(ExprPtr& expr, bool isSigned);
   /// A representation that holds all values of both representations, for values of one column (CASE, set operations).
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

/// Bounds that the type and its representation imply (numeric(p, s): 10^p - 1).
std::optional<Bounds> boundsOfType(Representation repr, const SqlType& type);

/// Lowers an expression that is in no query, over columns in the representations that `columns` has.
void lowerAlone(ExprPtr& expr, sql::ColumnTable& columns);

} // namespace ouzel::optimizer
