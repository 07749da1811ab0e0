#include "catalog/builtin/text_table.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_collation, and what depends on the collations of users.

namespace ouzel::catalog {

namespace {

void pgCollation(const SystemContext& context, RowBuilder& row) {
   const TextTable& builtin = *builtins().rows("pg_collation");
   constexpr std::string_view names[] = {
       "oid",          "collname",    "collnamespace", "collowner",     "collprovider", "collisdeterministic",
       "collencoding", "collcollate", "collctype",     "colliculocale", "collversion"};
   for (uint32_t r = 0; r < builtin.rowCount(); ++r) {
      for (const std::string_view name : names)
         row.parsed(builtin.at(r, builtin.column(name)));
      row.emit();
   }
   for (const CollationPtr& c : context.snapshot.collations()) {
      row.oid(c->oid).text(c->name).oid(c->schema).oid(c->owner).letter(c->provider).boolean(c->isDeterministic);
      row.int4(c->encoding);
      if (c->provider == 'i')
         row.null().null().text(c->icuLocale);
      else
         row.text(c->collate).text(c->ctype).null();
      row.nullable(c->version).emit();
   }
}

constexpr NamedProducer tables[] = {{"pg_collation", pgCollation}};

} // namespace

std::span<const NamedProducer> collationProducers() {
   return tables;
}

void forEachCollationUse(const Snapshot& snapshot, const CollationUse& use) {
   const std::vector<CollationPtr> collations = snapshot.collations();
   if (collations.empty()) return;
   for (const CollationPtr& c : collations) {
      use(class_oid::pgCollation, c->oid, 0, class_oid::pgNamespace, c->schema);
      const SchemaPtr schema = snapshot.schema(c->schema);
      const std::string schemaName = schema ? schema->name : std::string();
      const auto names = [&](const std::string& text) { return namesCollation(text, schemaName, c->name); };
      for (const RelationPtr& r : snapshot.relations()) {
         const bool isType = r->isOnlyType();
         for (const Column& column : r->columns) {
            if (!column.isDropped && column.type.collation == c->oid)
               use(isType ? class_oid::pgType : class_oid::pgClass, isType ? r->rowType : r->oid,
                   isType || r->index ? 0 : column.attribute, class_oid::pgCollation, c->oid);
            if (column.hasDefault() && names(column.defaultExpr))
               use(class_oid::pgAttrdef, column.defaultOid, 0, class_oid::pgCollation, c->oid);
         }
         if (names(r->definition)) use(class_oid::pgRewrite, viewRuleOf(r->oid), 0, class_oid::pgCollation, c->oid);
         for (const Constraint& constraint : r->constraints)
            if (names(constraint.expression))
               use(class_oid::pgConstraint, constraint.oid, 0, class_oid::pgCollation, c->oid);
      }
   }
}

} // namespace ouzel::catalog
