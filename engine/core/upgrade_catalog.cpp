#include "engine/core/upgrade_catalog.hpp"

#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/stored_expression.hpp"

namespace ouzel::engine {

namespace {

const std::string defaultPath[] = {"public"};

/// Binds the texts of one relation anew. The names in them were found by the search_path of a session that is long
/// gone; the default one is the best guess.
class RelationUpgrade {
public:
   RelationUpgrade(const catalog::Snapshot& catalog, const catalog::Relation& relation)
      : path_(catalog::SearchPath::resolve(catalog, defaultPath, {})), context_{.catalog = catalog,
                                                                                .searchPath = path_,
                                                                                .format = format_},
        upgraded_(relation) {}

   /// False: there is nothing to change.
   bool run() {
      bool isChanged = false;
      for (catalog::Column& column : upgraded_.columns)
         if (!column.isDropped && column.hasDefault() && !column.generated && column.defaultSequence == invalidOid)
            isChanged |= tryTo([&] { return upgradeDefault(column); });
      if (upgraded_.relationKind == catalog::RelationKind::View) isChanged |= tryTo([&] { return upgradeView(); });
      return isChanged;
   }
   catalog::Relation& upgraded() { return upgraded_; }

private:
   template <typename Upgrade>
   bool tryTo(const Upgrade& upgrade) const {
      try {
         return upgrade();
      } catch (const SqlError& error) {
         logLine(LogLevel::Warning,
                 "the dependencies of relation \"" + upgraded_.name + "\" stay unknown: " + error.what());
         return false;
      }
   }
   bool upgradeDefault(catalog::Column& column) {
      const auto script = sql::ParsedScript::parseExpression(column.defaultExpr);
      const auto bound = sql::bindExpression(*script.expression(), sql::ExpressionUse::ColumnDefault, nullptr,
                                             column.type, column.name, context_);
      std::vector<Oid> named = sql::relationsIn(*bound.expr, context_.catalog);
      if (named.empty() || named == column.relationsInDefault) return false;
      column.defaultExpr =
          sql::storedAgain(column.defaultExpr, sql::ExpressionUse::ColumnDefault, upgraded_, context_).text;
      column.relationsInDefault = std::move(named);
      return true;
   }
   bool upgradeView() {
      const auto script = sql::ParsedScript::parse(upgraded_.definition);
      sql::BindContext context = context_;
      context.source = &script.source();
      sql::BoundView view = sql::bindView(*script.statements().at(0).node, context, 0,
                                          static_cast<uint32_t>(script.source().text().size()));
      if (view.dependsOn == upgraded_.dependsOn) return false;
      upgraded_.definition = std::move(view.definition);
      upgraded_.dependsOn = std::move(view.dependsOn);
      return true;
   }

   const SessionFormat format_;
   const catalog::SearchPath path_;
   const sql::BindContext context_;
   catalog::Relation upgraded_;
};

} // namespace

catalog::Snapshot upgradeCatalog(const catalog::Snapshot& old) {
   const catalog::Snapshot catalog = old.inDatabase(catalog::postgresDatabase);
   std::vector<catalog::Change> changes;
   for (const catalog::RelationPtr& relation : catalog.relations()) {
      if (relation->isBuiltin()) continue;
      RelationUpgrade upgrade(catalog, *relation);
      if (!upgrade.run()) continue;
      changes.push_back(
          {keyOf(*relation), relation, std::make_shared<const catalog::Relation>(std::move(upgrade.upgraded()))});
   }
   return changes.empty() ? old : old.apply(changes);
}

} // namespace ouzel::engine
