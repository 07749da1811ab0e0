#include <algorithm>
#include <map>

#include "sql/deparse/writer.hpp"

// The names of sources and their columns. Two sources that the same text sees have different names.

namespace ouzel::sql::deparse {

namespace {

constexpr size_t nameMax = 63;

/// `name`, or name_1, name_2, ...: the first one that is not taken.
std::string uniqueName(const std::string& name, std::map<std::string, int>& taken) {
   const auto [entry, isNew] = taken.try_emplace(name, 0);
   if (isNew) return name;
   for (;;) {
      const std::string suffix = "_" + std::to_string(++entry->second);
      std::string candidate = name.substr(0, nameMax - suffix.size()) + suffix;
      if (taken.try_emplace(candidate, 0).second) return candidate;
   }
}

/// Names in use where a column gets one: by USING of the whole query, of the joins around, and by the other columns.
std::string uniqueColumn(const std::string& name, const Source& source, const std::vector<std::string>& global) {
   const auto isTaken = [&](const std::string& candidate) {
      const auto has = [&](const std::vector<std::string>& names) {
         return std::find(names.begin(), names.end(), candidate) != names.end();
      };
      return has(source.shownColumns) || has(source.takenNames) || has(global);
   };
   std::string candidate = name;
   for (int number = 1; isTaken(candidate); ++number) {
      const std::string suffix = "_" + std::to_string(number);
      candidate = name.substr(0, nameMax - suffix.size()) + suffix;
   }
   return candidate;
}

/// Whether a column that USING merges is known by its own name only, which then has to be the only one of the query.
bool hasMergedName(const JoinTree& tree) {
   if (!tree.isJoin()) return false;
   const Source& join = *tree.source;
   for (size_t i = 0; i < tree.usingColumns.size(); ++i)
      if (join.alias.empty() && !join.joined[i]) return true;
   return hasMergedName(*tree.left) || hasMergedName(*tree.right);
}

/// Both sides of a join have the names of USING, whatever the names of their columns are now.
void nameUsing(JoinTree& tree, std::vector<std::string> taken, bool isGlobal, std::vector<std::string>& global) {
   if (!tree.isJoin()) return;
   Source& join = *tree.source;
   Source &left = *tree.left->source, &right = *tree.right->source;
   const auto push = [&](size_t i) {
      const std::string& name = join.shownColumns[i];
      if (join.fromLeft[i] >= 0) left.shownColumns[static_cast<size_t>(join.fromLeft[i])] = name;
      if (join.fromRight[i] >= 0) right.shownColumns[static_cast<size_t>(join.fromRight[i])] = name;
   };
   if (join.alias.empty())
      for (size_t i = 0; i < join.columns.size(); ++i)
         if (!join.shownColumns[i].empty()) push(i);
   for (size_t i = 0; i < tree.usingColumns.size(); ++i) {
      if (join.shownColumns[i].empty()) {
         const std::string& wanted = i < join.columnAliases.size() ? join.columnAliases[i] : tree.usingColumns[i];
         std::string name = uniqueColumn(wanted, join, global);
         if (isGlobal) global.push_back(name);
         join.shownColumns[i] = std::move(name);
      }
      taken.push_back(join.shownColumns[i]);
      push(i);
   }
   left.takenNames = right.takenNames = taken;
   nameUsing(*tree.left, taken, isGlobal, global);
   nameUsing(*tree.right, taken, isGlobal, global);
}

void nameColumns(Source& source, const std::vector<std::string>& global) {
   bool isChanged = false;
   for (size_t i = 0; i < source.columns.size(); ++i) {
      if (source.shownColumns[i].empty()) source.shownColumns[i] = uniqueColumn(source.columnName(i), source, global);
      isChanged |= source.shownColumns[i] != source.columns[i].name;
   }
   switch (source.kind) {
   case SourceKind::Relation:
   case SourceKind::Row: source.showsColumns = isChanged; break;
   case SourceKind::Join:
   case SourceKind::XmlTable: break;
   case SourceKind::Function: source.showsColumns = true; break;
   default: source.showsColumns = isChanged || !source.columnAliases.empty();
   }
}

/// After its inputs: the names that they have are those of the join's columns.
void nameJoin(JoinTree& tree, const std::vector<std::string>& global) {
   if (!tree.isJoin()) return;
   nameJoin(*tree.left, global);
   nameJoin(*tree.right, global);
   Source& join = *tree.source;
   const bool isNamed = !join.alias.empty();
   bool isChanged = false;
   for (size_t i = 0; i < join.columns.size(); ++i) {
      const std::string& own = join.fromLeft[i] >= 0
                                   ? tree.left->source->shownColumns[static_cast<size_t>(join.fromLeft[i])]
                                   : tree.right->source->shownColumns[static_cast<size_t>(join.fromRight[i])];
      std::string& name = join.shownColumns[i];
      if (name.empty() && isNamed)
         name = uniqueColumn(i < join.columnAliases.size() ? join.columnAliases[i] : own, join, global);
      else if (name.empty())
         name = own;
      isChanged |= name != own;
   }
   join.showsColumns = isNamed && isChanged;
}

} // namespace

void Writer::enter(Query& query) {
   std::map<std::string, int> taken;
   for (const Query* outer : open_)
      for (const auto& source : outer->sources)
         if (!source->shownName.empty()) taken.try_emplace(source->shownName, 0);
   for (const auto& source : query.sources) {
      const bool isUnnamed = source->kind == SourceKind::Join && source->alias.empty();
      source->shownName =
          isUnnamed ? std::string() : uniqueName(source->alias.empty() ? source->name : source->alias, taken);
      source->shownColumns.assign(source->columns.size(), {});
      source->takenNames.clear();
   }
   bool isGlobal = false;
   std::vector<std::string> global; // names that only one column of the query may have
   for (const auto& tree : query.from)
      isGlobal |= hasMergedName(*tree);
   for (const auto& tree : query.from)
      nameUsing(*tree, {}, isGlobal, global);
   for (const auto& source : query.sources)
      if (source->kind != SourceKind::Join) nameColumns(*source, global);
   for (const auto& tree : query.from)
      nameJoin(*tree, global);
   open_.push_back(&query);
}

} // namespace ouzel::sql::deparse
