#include "catalog/object/initial_databases.hpp"

#include "catalog/object/comments.hpp"

namespace ouzel::catalog {

Acl initialAclOf(Oid database) {
   if (database != template1Database && database != template0Database) return std::nullopt;
   const uint32_t all = privilege::create | privilege::createTemp | privilege::connect;
   return {{{invalidOid, bootstrapRole, privilege::connect, 0}, {bootstrapRole, bootstrapRole, all, 0}}};
}

std::vector<Change> initialDatabases() {
   struct Initial {
      Oid oid;
      const char* name;
      bool isTemplate, allowsConnections;
      const char* comment;
   };
   std::vector<Change> changes;
   const auto add = [&](ObjectPtr object) { changes.push_back({keyOf(*object), nullptr, object}); };
   for (const Initial& initial :
        {Initial{template1Database, "template1", true, true, "default template for new databases"},
         Initial{template0Database, "template0", true, false, "unmodifiable empty database"},
         Initial{postgresDatabase, "postgres", false, true, "default administrative connection database"}}) {
      auto database = std::make_shared<Database>();
      database->oid = initial.oid;
      database->name = initial.name;
      database->isTemplate = initial.isTemplate;
      database->allowsConnections = initial.allowsConnections;
      database->acl = initialAclOf(initial.oid);
      add(database);
      for (const SchemaPtr& schema : initialSchemas(initial.oid))
         add(schema);
      auto comment = std::make_shared<Comment>();
      comment->object = {ObjectKind::Comment, invalidOid, class_oid::pgDatabase, initial.oid, 0};
      comment->text = initial.comment;
      add(comment);
   }
   return changes;
}

} // namespace ouzel::catalog
