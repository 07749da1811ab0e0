#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/extension_types.hpp"
#include "catalog/builtin/extensions.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_extension, and what there is to make extensions of.

namespace ouzel::catalog {

namespace {

void pgExtension(const SystemContext& context, RowBuilder& row) {
   for (const BuiltinExtension& builtin : builtinExtensions) {
      row.oid(builtin.oid).text(builtin.name).oid(bootstrapRole).oid(pgCatalogSchema).boolean(false);
      row.text(findExtensionInfo(builtin.name)->version).nulls(2).emit();
   }
   for (const ExtensionPtr& extension : context.snapshot.extensions()) {
      const ExtensionInfo* info = findExtensionInfo(extension->name);
      row.oid(extension->oid).text(extension->name).oid(extension->owner).oid(extension->schema);
      row.boolean(info && info->isRelocatable).text(extension->version).nulls(2).emit();
   }
}

/// The version of an extension that the database has; empty: it has none.
std::string installedVersion(const Snapshot& snapshot, const ExtensionInfo& info) {
   if (findBuiltinExtension(info.name)) return std::string(info.version);
   const ExtensionPtr extension = snapshot.findExtension(info.name);
   return extension ? extension->version : std::string();
}

void pgAvailableExtensions(const SystemContext& context, RowBuilder& row) {
   for (const ExtensionInfo& info : extensionInfos())
      row.text(info.name)
          .text(info.version)
          .textOrNull(installedVersion(context.snapshot, info))
          .text(info.comment)
          .emit();
}

void pgAvailableExtensionVersions(const SystemContext& context, RowBuilder& row) {
   for (const ExtensionInfo& info : extensionInfos()) {
      row.text(info.name).text(info.version).boolean(installedVersion(context.snapshot, info) == info.version);
      row.boolean(true).boolean(info.isTrusted).boolean(info.isRelocatable).textOrNull(std::string(info.schema));
      row.null().text(info.comment).emit();
   }
}

constexpr NamedProducer tables[] = {{"pg_extension", pgExtension},
                                    {"pg_available_extensions", pgAvailableExtensions},
                                    {"pg_available_extension_versions", pgAvailableExtensionVersions}};

} // namespace

void forEachExtensionUse(const Snapshot& snapshot, const ExtensionUse& use) {
   const auto classOf = [](ObjectKind kind) {
      switch (kind) {
      case ObjectKind::Function: return class_oid::pgProc;
      case ObjectKind::Operator: return class_oid::pgOperator;
      case ObjectKind::Cast: return class_oid::pgCast;
      case ObjectKind::ForeignWrapper: return class_oid::pgForeignDataWrapper;
      case ObjectKind::TextSearchConfiguration:
      case ObjectKind::TextSearchDictionary:
      case ObjectKind::TextSearchParser:
      case ObjectKind::TextSearchTemplate: return textSearchClass(kind);
      default: return class_oid::pgClass;
      }
   };
   use(class_oid::pgLanguage, language_oid::plpgsql, class_oid::pgExtension, plpgsqlExtension, 'e');
   use(class_oid::pgForeignDataWrapper, s3Wrapper, class_oid::pgExtension, s3Extension,
       'e');                                         // so pg_dump leaves it out
   constexpr Oid handlers[] = {13560, 13561, 13562}; // plpgsql_call_handler() and what belongs to it
   for (const Oid handler : handlers) {
      use(class_oid::pgProc, handler, class_oid::pgExtension, plpgsqlExtension, 'e');
      use(class_oid::pgLanguage, language_oid::plpgsql, class_oid::pgProc, handler, 'n');
   }
   for (const ExtensionPtr& extension : snapshot.extensions()) {
      use(class_oid::pgExtension, extension->oid, class_oid::pgNamespace, extension->schema, 'n');
      for (const ExtensionType& made : extensionTypes())
         if (made.extension == extension->name)
            use(class_oid::pgType, made.type.oid, class_oid::pgExtension, extension->oid, 'e');
      for (const ExtensionClass& made : extensionClasses()) {
         if (made.extension != extension->name) continue;
         for (const auto& [classOid, object] : {std::pair{pgOpclass, made.oid}, std::pair{pgOpfamily, made.family()}}) {
            use(classOid, object, class_oid::pgNamespace, extension->schema, 'n');
            use(classOid, object, class_oid::pgExtension, extension->oid, 'e');
         }
         use(pgOpclass, made.oid, pgOpfamily, made.family(), 'a');
         if (extensionType(made.input)) use(pgOpclass, made.oid, class_oid::pgType, made.input, 'n');
      }
      for (const Extension::Member& member : extension->members) {
         const RelationPtr relation = member.kind == ObjectKind::Relation ? snapshot.relation(member.oid) : nullptr;
         const bool isType = relation && isUserType(*relation);
         use(isType ? class_oid::pgType : classOf(member.kind), isType ? relation->rowType : member.oid,
             class_oid::pgExtension, extension->oid, 'e');
      }
   }
}

std::span<const NamedProducer> extensionProducers() {
   return tables;
}

} // namespace ouzel::catalog
