#include "engine/trigger/row_shape.hpp"

#include <algorithm>

#include "common/type/row.hpp"

namespace ouzel::engine {

namespace {

std::vector<const catalog::Column*> liveColumns(const catalog::Relation& table) {
   std::vector<const catalog::Column*> live;
   for (const catalog::Column& column : table.columns)
      if (!column.isDropped) live.push_back(&column);
   return live;
}

} // namespace

RowShape::RowShape(const catalog::Relation& from, const catalog::Relation& to) : to_(to) {
   if (from.oid == to.oid) return;
   const auto given = liveColumns(from), wanted = liveColumns(to);
   bool isSame = given.size() == wanted.size();
   std::vector<int> sources;
   for (size_t i = 0; i < wanted.size(); ++i) {
      const auto found = std::find_if(given.begin(), given.end(),
                                      [&](const catalog::Column* column) { return column->name == wanted[i]->name; });
      sources.push_back(found == given.end() ? -1 : static_cast<int>(found - given.begin()));
      isSame = isSame && sources.back() == static_cast<int>(i);
   }
   if (!isSame) sources_ = std::move(sources);
}

std::string RowShape::convert(std::string_view row) const {
   if (isSame()) return std::string(row);
   std::vector<Value> given;
   const RowView view(row);
   for (RowView::Cursor field(view); field.next();)
      given.push_back(valueOfField(*field));
   std::vector<Value> values;
   std::vector<RowField> fields;
   size_t next = 0;
   for (const catalog::Column* column : liveColumns(to_)) {
      const int source = sources_[next++];
      fields.push_back({column->name, column->type, false});
      values.push_back(source >= 0 ? given.at(static_cast<size_t>(source))
                                   : Value::null(rowFieldPhysical(column->type.oid)));
   }
   return makeRow(oid::record, fields, values);
}

} // namespace ouzel::engine
