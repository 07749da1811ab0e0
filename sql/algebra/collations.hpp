#pragma once
#include <string>
#include <vector>

#include "sql/algebra/expr.hpp"

// Collations that are not byte order. The executor knows byte order alone, so a value that is compared under another
// collation is replaced by its collation key: a text whose bytes have the order of the collation. The key is computed
// once for each row, however often a sort or a join compares it.

namespace ouzel::sql {

/// A collation with a locale of ICU.
struct IcuCollation {
   Oid oid = invalidOid;
   std::string locale;
   /// Values that compare as equal are equal only if their bytes are, which decide the order among them.
   bool isDeterministic = true;
   bool comparesBytes = false; ///< the locale is for lower() and its kin alone
};

/// The collations with locales that the columns and expressions of one plan have.
class CollationTable {
public:
   /// Does nothing if the collation is there.
   void add(IcuCollation collation);
   /// Null: the collation has no locale.
   const IcuCollation* find(Oid collation) const;
   /// Null: values of the type are compared as values without a collation are.
   const IcuCollation* comparing(const SqlType& type) const;

private:
   std::vector<IcuCollation> collations_; ///< a plan has few
};

/// The key of a text, or the array of the keys of a text[]: equal exactly if the values are. Trailing blanks of bpchar
/// do not count.
ExprPtr makeCollationKey(ExprPtr value, const IcuCollation& collation);
/// A key from which makeKeyedText() gives the text back. Values that a nondeterministic collation has as equal have
/// different keys.
ExprPtr makeReadableKey(ExprPtr value, const IcuCollation& collation);
ExprPtr makeKeyedText(ExprPtr key, const SqlType& type);
/// True for what makeCollationKey() and makeReadableKey() return.
bool isCollationKey(const Expr& expr);
/// True for what makeKeyedText() returns.
bool isKeyedText(const Expr& expr);

} // namespace ouzel::sql
