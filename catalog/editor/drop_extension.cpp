#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/extension_types.hpp"
#include "catalog/editor/drop_plan.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"

// What falls with an extension, and that nothing of it falls alone.

namespace ouzel::catalog {

void DropPlan::add(const ExtensionPtr& extension, bool isCascaded, const std::string& reason) {
   for (const FallenExtension& fallen : extensions_)
      if (fallen.extension == extension) return;
   extensions_.push_back({extension, isCascaded, reason});
   for (const Extension::Member& member : extension->members)
      switch (member.kind) {
      case ObjectKind::Relation: addTarget(editor_.snapshot().relation(member.oid)); break;
      case ObjectKind::Function: addTarget(editor_.snapshot().function(member.oid)); break;
      case ObjectKind::Operator: addTarget(editor_.snapshot().op(member.oid)); break;
      case ObjectKind::Cast: addTarget(editor_.snapshot().cast(member.oid)); break;
      case ObjectKind::TextSearchConfiguration:
      case ObjectKind::TextSearchDictionary:
      case ObjectKind::TextSearchParser:
      case ObjectKind::TextSearchTemplate: addTarget(editor_.snapshot().textSearch(member.kind, member.oid)); break;
      case ObjectKind::ForeignWrapper: add(editor_.snapshot().wrapper(member.oid), false, {}); break;
      default: throwInternal("an extension has a member of another kind");
      }
   for (const ExtensionType& made : extensionTypes())
      if (made.extension == extension->name)
         addColumnsOfType({made.type.oid, made.array.oid}, invalidOid, "type " + std::string(made.type.name));
   for (const RelationPtr& relation : editor_.snapshot().relations())
      if (relation->index && !has(relation->oid))
         for (const Oid used : relation->index->classes)
            if (const ExtensionClass* made = extensionClass(used); made && made->extension == extension->name)
               addIndex(relation, "operator class " + std::string(made->name) + " for access method " +
                                      std::string(made->method));
}

void DropPlan::requireNoMembers() const {
   const std::vector<ExtensionPtr> all = editor_.snapshot().extensions();
   if (all.size() == extensions_.size()) return;
   const auto require = [&](ObjectKind kind, const auto& object) {
      for (const ExtensionPtr& extension : all) {
         if (!extension->has({kind, object.oid})) continue;
         const bool falls = std::any_of(extensions_.begin(), extensions_.end(),
                                        [&](const FallenExtension& fallen) { return fallen.extension == extension; });
         if (falls) continue;
         const std::string owner = describe(*extension);
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop " + describe(object) + " because " + owner + " requires it")
             .hint("You can drop " + owner + " instead.");
      }
   };
   for (const Fallen& fallen : fallen_)
      require(ObjectKind::Relation, *fallen.relation);
   for (const FallenTextSearch& fallen : textSearch_)
      require(fallen.object->kind, *fallen.object);
   for (const FallenFunction& fallen : functions_)
      require(ObjectKind::Function, *fallen.function);
   for (const FallenOperator& fallen : operators_)
      require(ObjectKind::Operator, *fallen.op);
   for (const FallenCast& fallen : casts_)
      require(ObjectKind::Cast, *fallen.cast);
   for (const FallenForeign& fallen : foreign_)
      if (fallen.wrapper) require(ObjectKind::ForeignWrapper, *fallen.wrapper);
}

} // namespace ouzel::catalog
