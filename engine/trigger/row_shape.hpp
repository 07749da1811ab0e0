#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

namespace ouzel::engine {

/// How the rows of a table lie in another one of the same tree: columns go by their names. Rows are records of the live
/// columns.
class RowShape {
public:
   RowShape(const catalog::Relation& from, const catalog::Relation& to);
   bool isSame() const { return sources_.empty(); }
   std::string convert(std::string_view row) const;

private:
   const catalog::Relation& to_;
   std::vector<int>
       sources_; ///< by column of the record: place in the other one, -1: it has none; empty: they are alike
};

} // namespace ouzel::engine
