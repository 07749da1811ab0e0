#include "catalog/object/language/language.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/object/codec.hpp"
#include "catalog/object/function.hpp"
#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

struct Fixture {
   Oid next = firstUserOid;
   Catalog catalog{Snapshot::bootstrap()};
   OidSource oids = [this] { return next++; };
   CatalogEditor editor{catalog.newest(), oids};

   Oid language(const std::string& name) {
      Database database = *editor.snapshot().database(editor.snapshot().database());
      Language draft;
      draft.oid = oids();
      draft.name = name;
      draft.isTrusted = true;
      draft.validator = plpgsqlValidator;
      draft.acl = std::vector<AclItem>{{invalidOid, bootstrapRole, privilege::usage, 0}};
      database.languages.push_back(draft);
      editor.replaceDatabase(std::move(database));
      return draft.oid;
   }
   Oid function(Oid language) {
      FunctionDefinition draft;
      draft.schema = publicSchema;
      draft.name = "f";
      draft.language = language_oid::plpgsql;
      draft.declaredLanguage = language;
      draft.returnType = {oid::int4, -1, invalidOid};
      return editor.createFunction(std::move(draft));
   }
   Oid relation(const std::string& name, RelationKind kind) {
      Relation draft;
      draft.schema = publicSchema;
      draft.name = name;
      draft.relationKind = kind;
      return editor.createRelation(std::move(draft));
   }
};

} // namespace

CATCH_TEST_CASE("languages and the functions in them outlive the bytes of a catalog") {
   Fixture f;
   const Oid language = f.language("l"), function = f.function(language);
   const Oid shell = f.relation("s", RelationKind::Shell);
   const Snapshot read = decodeSnapshot(encodeSnapshot(f.editor.snapshot())).inDatabase(f.editor.snapshot().database());
   const Language* found = findUserLanguage(read, "l");
   CATCH_REQUIRE(found);
   CATCH_CHECK((found->oid == language && found->isTrusted && found->inlineHandler == invalidOid));
   CATCH_CHECK((found->validator == plpgsqlValidator && found->acl->size() == 1));
   CATCH_CHECK(userLanguage(read, language) == found);
   CATCH_CHECK(!userLanguage(read, language_oid::plpgsql));
   CATCH_CHECK(read.function(function)->shownLanguage() == language);
   CATCH_CHECK((nameOfLanguage(read, language) == "l" && nameOfLanguage(read, language_oid::sql) == "sql"));
   CATCH_CHECK(read.relation(shell)->relationKind == RelationKind::Shell);
   CATCH_CHECK((read.relation(shell)->rowType != invalidOid && read.relation(shell)->rowTypeArray == invalidOid));
}

CATCH_TEST_CASE("a language that is dropped takes its functions with it, or stays") {
   Fixture f;
   const Oid language = f.language("l"), function = f.function(language);
   CATCH_CHECK_THROWS_AS(f.editor.dropTogether({.languages = {language}}, DropBehavior::Restrict), SqlError);
   CATCH_CHECK(userLanguage(f.editor.snapshot(), language));
   const Dropped dropped = f.editor.dropTogether({.languages = {language}}, DropBehavior::Cascade);
   CATCH_CHECK(dropped.notice().first == "drop cascades to function public.f()");
   CATCH_CHECK(!userLanguage(f.editor.snapshot(), language));
   CATCH_CHECK(!f.editor.snapshot().function(function));
}

CATCH_TEST_CASE("what is made in place of a shell type has its OID, and its comment") {
   Fixture f;
   const auto typeOf = [&](Oid relation) { return f.editor.snapshot().relation(relation)->rowType; };
   const Oid first = typeOf(f.relation("s", RelationKind::Shell));
   CATCH_CHECK(f.editor.snapshot().relationOfType(first)->rowTypeArray == invalidOid);
   f.editor.setComment(class_oid::pgType, first, 0, "kept");
   CATCH_CHECK_THROWS_AS(f.relation("s", RelationKind::Shell), SqlError);
   CATCH_CHECK_THROWS_AS(f.relation("s", RelationKind::Sequence), SqlError);
   const Oid table = f.relation("s", RelationKind::Table);
   CATCH_CHECK(typeOf(table) == first);
   CATCH_CHECK(f.editor.snapshot().comment(class_oid::pgType, first) == "kept");

   const Oid second = typeOf(f.relation("e", RelationKind::Shell));
   f.editor.setComment(class_oid::pgType, second, 0, "moved");
   const Oid type = typeOf(f.relation("e", RelationKind::Enum));
   CATCH_CHECK(type == (second | userEnumKind));
   CATCH_CHECK(f.editor.snapshot().comment(class_oid::pgType, type) == "moved");
   CATCH_CHECK(!f.editor.snapshot().comment(class_oid::pgType, second));
}
