#include "engine/trigger/changed_objects.hpp"

#include <algorithm>
#include <functional>

#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/comments.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "catalog/pg_catalog/object_identity.hpp"

// What a command has done, found by comparing objects before and after it.

namespace ouzel::engine {

using catalog::Change;
using catalog::ObjectKind;
using catalog::Relation;
namespace class_oid = catalog::class_oid;

namespace {

struct Address {
   Oid classOid = invalidOid, object = invalidOid;
   int32_t attribute = 0;
};

/// The address of an object that event triggers hear of; no class: they do not hear of it.
Address addressOf(const catalog::CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Schema: return {class_oid::pgNamespace, static_cast<const catalog::Schema&>(object).oid};
   case ObjectKind::Relation: {
      const auto& relation = static_cast<const Relation&>(object);
      if (catalog::isUserType(relation)) return {class_oid::pgType, relation.rowType};
      return {class_oid::pgClass, relation.oid};
   }
   case ObjectKind::Comment: {
      const catalog::ObjectKey& key = static_cast<const catalog::Comment&>(object).object;
      return {key.b, key.c, key.d};
   }
   case ObjectKind::Server: return {class_oid::pgForeignServer, static_cast<const catalog::ForeignServer&>(object).oid};
   case ObjectKind::ForeignWrapper:
      return {class_oid::pgForeignDataWrapper, static_cast<const catalog::ForeignWrapper&>(object).oid};
   case ObjectKind::Statistics: return {class_oid::pgStatisticExt, static_cast<const catalog::Statistics&>(object).oid};
   case ObjectKind::Collation: return {class_oid::pgCollation, static_cast<const catalog::Collation&>(object).oid};
   case ObjectKind::Function: return {class_oid::pgProc, static_cast<const catalog::Function&>(object).oid};
   case ObjectKind::Operator: return {class_oid::pgOperator, static_cast<const catalog::Operator&>(object).oid};
   case ObjectKind::Cast: return {class_oid::pgCast, static_cast<const catalog::Cast&>(object).oid};
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate:
      return {catalog::textSearchClass(object.kind), static_cast<const catalog::TextSearchObject&>(object).oid};
   default: return {};
   }
}

std::string inCapitals(std::string text) {
   std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
   return text;
}

/// Calls `visit` with the class and OID of each part of a relation that has an OID of its own.
template <typename Visit>
void forEachPart(const Relation& relation, const Visit& visit) {
   for (const catalog::Trigger& trigger : relation.triggers)
      visit(class_oid::pgTrigger, trigger.oid);
   for (const catalog::Policy& policy : relation.policies)
      visit(class_oid::pgPolicy, policy.oid);
   for (const catalog::Rule& rule : relation.rules)
      visit(class_oid::pgRewrite, rule.oid);
   for (const catalog::Constraint& constraint : relation.constraints)
      visit(class_oid::pgConstraint, constraint.oid);
}

std::vector<std::pair<Oid, Oid>> partsOf(const Relation& relation) {
   std::vector<std::pair<Oid, Oid>> parts;
   forEachPart(relation, [&](Oid classOid, Oid part) { parts.emplace_back(classOid, part); });
   return parts;
}

class ChangedObjects {
public:
   ChangedObjects(SessionCore& core, std::string_view tag)
      : path_(core.searchPath()), names_{core.transaction.catalog(), path_}, tag_(tag) {}

   void note(const Change& change) {
      if (!change.after) return;
      if (change.key.kind == ObjectKind::Comment) {
         if (tag_ == "COMMENT") add(addressOf(*change.after), "COMMENT");
         return;
      }
      if (change.key.kind == ObjectKind::Server && tag_.ends_with("USER MAPPING")) return noteMapping(change);
      if (change.key.kind == ObjectKind::Database && tag_.ends_with(" PUBLICATION")) return notePublications(change);
      if (change.key.kind == ObjectKind::Database && tag_.ends_with(" LANGUAGE")) return noteLanguages(change);
      const Address address = addressOf(*change.after);
      if (address.classOid == invalidOid) return;
      const auto identity = identify(address);
      const bool isDomain = change.key.kind == ObjectKind::Relation &&
                            static_cast<const Relation&>(*change.after).relationKind == catalog::RelationKind::Domain;
      const std::string noun = isDomain ? "domain" : identity.type;
      const std::string made = tagFor("CREATE ", noun);
      const bool isCommands = tag_ == made || tag_ == tagFor("ALTER ", noun);
      if (!change.before)
         add(address, tag_ == "CREATE TABLE AS" || tag_ == "SELECT INTO" ? std::string(tag_) : made);
      else if (isCommands || tag_ == "REFRESH MATERIALIZED VIEW" || tag_ == "ALTER TABLE")
         if (isCommands || identity.type == "materialized view") add(address, std::string(tag_));
      if (change.key.kind == ObjectKind::Relation && change.before)
         noteParts(static_cast<const Relation&>(*change.before), static_cast<const Relation&>(*change.after));
   }
   std::vector<EventState::Changed> take() {
      std::ranges::stable_sort(found_, {}, &EventState::Changed::object);
      return std::move(found_);
   }

private:
   catalog::ObjectIdentity identify(const Address& address) const {
      return catalog::identifyObject(names_, address.classOid, address.object, address.attribute);
   }
   static std::string tagFor(const char* verb, const std::string& type) {
      return verb + inCapitals(type == "statistics object"      ? "statistics"
                               : type == "composite type"       ? "type"
                               : type == "foreign-data wrapper" ? "foreign data wrapper"
                                                                : type);
   }
   void add(const Address& address, std::string tag) {
      const auto identity = identify(address);
      found_.push_back({address.classOid, address.object, address.attribute, std::move(tag), identity.type,
                        identity.schema, identity.identity});
   }
   /// The user mapping that a command has made or changed.
   void noteMapping(const Change& change) {
      if (!change.before) return;
      const auto& before = static_cast<const catalog::ForeignServer&>(*change.before);
      for (const auto& mapping : static_cast<const catalog::ForeignServer&>(*change.after).mappings) {
         const auto* old = before.mappingOf(mapping.role);
         if (!old || old->options != mapping.options) add({class_oid::pgUserMapping, mapping.oid}, std::string(tag_));
      }
   }
   void noteLanguages(const Change& change) {
      if (!change.before) return;
      const auto& before = static_cast<const catalog::Database&>(*change.before).languages;
      const auto own = [](const catalog::Language& l) {
         return std::tuple(l.name, l.owner, l.isTrusted, l.inlineHandler, l.validator);
      };
      for (const auto& now : static_cast<const catalog::Database&>(*change.after).languages) {
         const auto old = std::ranges::find(before, now.oid, &catalog::Language::oid);
         if (old == before.end() || own(*old) != own(now)) add({class_oid::pgLanguage, now.oid}, std::string(tag_));
      }
   }
   /// The publications that a command has made or changed, and the tables and schemas that it has added to them.
   void notePublications(const Change& change) {
      if (!change.before) return;
      const auto& before = static_cast<const catalog::Database&>(*change.before).publications;
      for (const auto& now : static_cast<const catalog::Database&>(*change.after).publications) {
         const auto old = std::ranges::find(before, now.oid, &catalog::Publication::oid);
         if (old == before.end()) {
            add({class_oid::pgPublication, now.oid}, std::string(tag_));
            continue;
         }
         if (isChanged(*old, now)) add({class_oid::pgPublication, now.oid}, std::string(tag_));
         for (const auto& table : now.tables)
            if (std::ranges::find(old->tables, table.oid, &catalog::PublicationTable::oid) == old->tables.end())
               add({class_oid::pgPublicationRel, table.oid}, std::string(tag_));
         for (const auto& schema : now.schemas)
            if (std::ranges::find(old->schemas, schema.oid, &catalog::PublicationSchema::oid) == old->schemas.end())
               add({class_oid::pgPublicationNamespace, schema.oid}, std::string(tag_));
      }
   }
   static bool isChanged(const catalog::Publication& before, const catalog::Publication& after) {
      const auto own = [](const catalog::Publication& p) {
         return std::tuple(p.name, p.owner, p.insert, p.update, p.del, p.truncate, p.viaRoot);
      };
      return own(before) != own(after);
   }
   /// Triggers, policies and rules of a relation that stays are made and changed by commands of their own.
   void noteParts(const Relation& before, const Relation& after) {
      if (!tag_.ends_with("TRIGGER") && !tag_.ends_with("POLICY") && !tag_.ends_with("RULE")) return;
      const auto known = partsOf(before);
      for (const auto& part : partsOf(after)) {
         const bool isNew = std::ranges::find(known, part) == known.end();
         if (part.first == class_oid::pgConstraint) continue;
         if (isNew || (tag_.starts_with("ALTER ") && isChanged(before, after, part.second)))
            add({part.first, part.second}, std::string(tag_));
      }
   }
   static bool isChanged(const Relation& before, const Relation& after, Oid part) {
      const auto differs = [part](const auto& from, const auto& to, const auto& same) {
         for (const auto& one : from)
            for (const auto& other : to)
               if (one.oid == part && other.oid == part) return !same(one, other);
         return false;
      };
      return differs(before.triggers, after.triggers,
                     [](const auto& a, const auto& b) { return a.name == b.name && a.enabled == b.enabled; }) ||
             differs(before.policies, after.policies,
                     [](const auto& a, const auto& b) {
                        return a.name == b.name && a.roles == b.roles && a.usingExpr == b.usingExpr &&
                               a.checkExpr == b.checkExpr;
                     }) ||
             differs(before.rules, after.rules, [](const auto& a, const auto& b) { return a.name == b.name; });
   }

   const catalog::SearchPath path_;
   const catalog::NameContext names_;
   const std::string_view tag_;
   std::vector<EventState::Changed> found_;
};

std::optional<std::string> unquoted(const std::optional<std::string>& name) {
   if (!name || !name->starts_with('"')) return name;
   std::string text;
   for (size_t i = 1; i + 1 < name->size(); ++i) {
      if ((*name)[i] == '"') ++i;
      text += (*name)[i];
   }
   return text;
}

class DroppedObjects {
public:
   DroppedObjects(SessionCore& core, const catalog::Snapshot& before, std::string_view tag, std::span<const Oid> named)
      : path_(core.searchPath()), names_{before, path_}, tag_(tag), named_(named) {}

   void note(const Change& change) {
      if (!change.before || change.key.kind == ObjectKind::Comment) return;
      if (!change.after) return noteFallen(*change.before);
      if (change.key.kind == ObjectKind::Database)
         noteLost(static_cast<const catalog::Database&>(*change.before),
                  static_cast<const catalog::Database&>(*change.after));
      if (change.key.kind == ObjectKind::Relation)
         noteLost(static_cast<const Relation&>(*change.before), static_cast<const Relation&>(*change.after));
      if (change.key.kind == ObjectKind::Server)
         noteLost(static_cast<const catalog::ForeignServer&>(*change.before),
                  static_cast<const catalog::ForeignServer&>(*change.after));
   }
   std::vector<EventState::Dropped> take() { return std::move(found_); }

private:
   /// The languages and publications that have fallen, and what other publications have lost.
   void noteLost(const catalog::Database& before, const catalog::Database& after) {
      isTemporary_ = false;
      for (const auto& language : before.languages)
         if (std::ranges::find(after.languages, language.oid, &catalog::Language::oid) == after.languages.end())
            add({class_oid::pgLanguage, language.oid}, true, false);
      const auto partsOf = [](const catalog::Publication& publication) {
         std::vector<Address> parts;
         for (const auto& table : publication.tables)
            parts.push_back({class_oid::pgPublicationRel, table.oid});
         for (const auto& schema : publication.schemas)
            parts.push_back({class_oid::pgPublicationNamespace, schema.oid});
         return parts;
      };
      for (const auto& publication : before.publications) {
         const auto now = std::ranges::find(after.publications, publication.oid, &catalog::Publication::oid);
         const bool isFallen = now == after.publications.end();
         if (isFallen) add({class_oid::pgPublication, publication.oid}, true, false);
         const std::vector<Address> left = isFallen ? std::vector<Address>() : partsOf(*now);
         for (const Address& part : partsOf(publication))
            if (std::ranges::find(left, part.object, &Address::object) == left.end())
               add(part, !isFallen && tag_ == "ALTER PUBLICATION", false);
      }
   }
   void noteFallen(const catalog::CatalogObject& object) {
      const Address address = addressOf(object);
      if (address.classOid == invalidOid) return;
      const bool isRelation = object.kind == ObjectKind::Relation;
      const auto* relation = isRelation ? &static_cast<const Relation&>(object) : nullptr;
      const bool isShell = relation && relation->relationKind == catalog::RelationKind::Shell;
      if (isShell && !tag_.starts_with("DROP")) return; // what the command has made is the type now
      const Oid oid = relation ? relation->oid : address.object;
      const bool isNamed = named_.empty() || std::ranges::find(named_, oid) != named_.end();
      isTemporary_ = relation && relation->persistence == catalog::Persistence::Temporary;
      const bool isPart = relation && relation->index && !isNamed;
      add(address, isNamed, !isNamed && !isPart);
      if (object.kind == ObjectKind::Server)
         for (const auto& mapping : static_cast<const catalog::ForeignServer&>(object).mappings)
            add({class_oid::pgUserMapping, mapping.oid}, false, true);
      if (!relation) return;
      if (relation->rowType != invalidOid && address.classOid == class_oid::pgClass)
         add({class_oid::pgType, relation->rowType}, false, false);
      if (relation->rowTypeArray != invalidOid && relation->rowType != invalidOid)
         add({class_oid::pgType, relation->rowTypeArray}, false, false);
      for (const catalog::Column& column : relation->columns)
         if (!column.isDropped && column.hasDefault()) add({class_oid::pgAttrdef, column.defaultOid}, false, false);
      const bool isView = relation->relationKind == catalog::RelationKind::View ||
                          relation->relationKind == catalog::RelationKind::MaterializedView;
      if (isView) add({class_oid::pgRewrite, catalog::viewRuleOf(relation->oid)}, false, true);
      forEachPart(*relation, [&](Oid classOid, Oid part) {
         add({classOid, part}, false, classOid == class_oid::pgRewrite);
      });
   }
   /// What a relation that stays has lost.
   void noteLost(const Relation& before, const Relation& after) {
      isTemporary_ = before.persistence == catalog::Persistence::Temporary;
      for (const catalog::Column& column : before.columns)
         for (const catalog::Column& now : after.columns)
            if (now.attribute == column.attribute && now.isDropped && !column.isDropped)
               add({class_oid::pgClass, before.oid, column.attribute}, true, false);
      const auto left = partsOf(after);
      for (const auto& part : partsOf(before))
         if (std::ranges::find(left, part) == left.end())
            add({part.first, part.second}, named_.empty(), !named_.empty());
   }
   void noteLost(const catalog::ForeignServer& before, const catalog::ForeignServer& after) {
      for (const auto& mapping : before.mappings)
         if (!after.mappingOf(mapping.role)) add({class_oid::pgUserMapping, mapping.oid}, true, false);
   }
   void add(const Address& address, bool isNamed, bool isCascaded) {
      const auto identity = catalog::identifyObject(names_, address.classOid, address.object, address.attribute);
      if (!identity.description) return;
      auto schema = unquoted(identity.schema);
      const bool isOfRelation = address.classOid == class_oid::pgTrigger || address.classOid == class_oid::pgPolicy ||
                                address.classOid == class_oid::pgAttrdef;
      if (isOfRelation && !identity.names.empty()) schema = identity.names[0];
      auto name = address.attribute == 0 ? unquoted(identity.name) : std::nullopt;
      found_.push_back({address.classOid, address.object, address.attribute, isNamed, isCascaded, isTemporary_,
                        identity.type, std::move(schema), std::move(name), identity.identity, identity.names,
                        identity.args});
   }

   const catalog::SearchPath path_;
   const catalog::NameContext names_;
   const std::string_view tag_;
   const std::span<const Oid> named_;
   bool isTemporary_ = false;
   std::vector<EventState::Dropped> found_;
};

} // namespace

std::vector<EventState::Changed> changedObjects(SessionCore& core, std::span<const Change> changes,
                                                std::string_view tag) {
   ChangedObjects objects(core, tag);
   for (const Change& change : changes)
      objects.note(change);
   return objects.take();
}

std::vector<EventState::Dropped> droppedObjects(SessionCore& core, const catalog::Snapshot& before,
                                                std::span<const Change> changes, std::string_view tag,
                                                std::span<const Oid> named) {
   DroppedObjects objects(core, before, tag, named);
   for (const Change& change : changes)
      objects.note(change);
   return objects.take();
}

} // namespace ouzel::engine
