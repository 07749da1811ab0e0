#include "catalog/object/collation_text.hpp"

#include "common/log/sql_scanner.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::catalog {

namespace {

/// A name after COLLATE, in sql[begin, end).
struct Named {
   size_t begin = 0, end = 0;
   std::string schema, name; ///< no schema: empty
};

/// Walks over the names after COLLATE. Literals and comments do not count.
class Names {
public:
   explicit Names(std::string_view sql) : sql_(sql), scanner_(sql) { advance(); }

   std::optional<Named> next() {
      while (token_ != SqlScanner::Token::End) {
         const bool isCollate = token_ == SqlScanner::Token::Word && equalsLower(text(), "collate");
         advance();
         if (!isCollate) continue;
         Named named;
         named.begin = scanner_.begin;
         std::string part;
         while (readPart(part)) {
            named.schema = std::move(named.name);
            named.name = std::move(part);
            named.end = end_;
            if (text() != ".") break;
            advance();
         }
         if (!named.name.empty()) return named;
      }
      return std::nullopt;
   }

private:
   std::string_view text() const { return sql_.substr(scanner_.begin, scanner_.end - scanner_.begin); }
   void advance() { token_ = scanner_.next(); }
   bool readPart(std::string& part) {
      part.clear();
      if (token_ == SqlScanner::Token::Word) {
         part = lowerCase(text());
         end_ = scanner_.end;
         advance();
         return true;
      }
      if (!text().starts_with('"')) return false;
      do { // the scanner takes a doubled quote for the end of one text and the beginning of another
         if (!part.empty()) part.push_back('"');
         part += text().substr(1, text().size() - 2);
         end_ = scanner_.end;
         advance();
      } while (scanner_.begin == end_ && text().starts_with('"'));
      return true;
   }

   const std::string_view sql_;
   SqlScanner scanner_;
   SqlScanner::Token token_{};
   size_t end_ = 0;
};

bool mayNameOne(std::string_view sql) {
   for (size_t at = sql.find_first_of("cC"); at != std::string_view::npos; at = sql.find_first_of("cC", at + 1))
      if (equalsLower(sql.substr(at, 7), "collate")) return true;
   return false;
}

/// The text with what `textFor` says in the place of names; empty: the name stays.
std::string replaceNames(std::string_view sql, const std::function<std::string(const Named&)>& textFor) {
   if (!mayNameOne(sql)) return std::string(sql);
   std::string result;
   size_t copied = 0;
   Names names(sql);
   while (const auto named = names.next()) {
      const std::string text = textFor(*named);
      if (text.empty()) continue;
      result.append(sql.substr(copied, named->begin - copied)).append(text);
      copied = named->end;
   }
   return result.append(sql.substr(copied));
}

bool is(const Named& named, std::string_view schema, std::string_view name) {
   return named.name == name && (named.schema.empty() || named.schema == schema);
}

} // namespace

bool namesCollation(std::string_view sql, std::string_view schema, std::string_view name) {
   if (!mayNameOne(sql)) return false;
   Names names(sql);
   while (const auto named = names.next())
      if (is(*named, schema, name)) return true;
   return false;
}

std::string withCollationNamed(std::string_view sql, std::string_view schema, std::string_view name,
                               std::string_view renamed) {
   return replaceNames(
       sql, [&](const Named& named) { return is(named, schema, name) ? std::string(renamed) : std::string(); });
}

std::string withCollationsMoved(std::string_view sql, std::string_view schema, std::string_view newSchema) {
   return replaceNames(sql, [&](const Named& named) {
      return named.schema == schema ? quoteIdentifier(newSchema) + "." + quoteIdentifier(named.name) : std::string();
   });
}

namespace {

/// `relation` and what `change` takes are both const, or neither is.
template <typename AnyRelation, typename Change>
void walkTexts(AnyRelation& relation, const Change& change) {
   change(relation.definition);
   for (auto& constraint : relation.constraints)
      change(constraint.expression);
   for (auto& column : relation.columns)
      change(column.defaultExpr);
   if (relation.index) {
      change(relation.index->predicate);
      for (auto& expression : relation.index->expressions)
         change(expression);
   }
   if (relation.partitionKey)
      for (auto& expression : relation.partitionKey->expressions)
         change(expression);
   for (auto& policy : relation.policies) {
      change(policy.usingExpr);
      change(policy.checkExpr);
   }
   for (auto& rule : relation.rules) {
      change(rule.condition);
      for (auto& action : rule.actions)
         change(action);
   }
   for (auto& trigger : relation.triggers)
      change(trigger.condition);
}

} // namespace

void forEachText(Relation& relation, const std::function<void(std::string&)>& change) {
   walkTexts(relation, change);
}

void forEachText(const Relation& relation, const std::function<void(const std::string&)>& visit) {
   walkTexts(relation, visit);
}

bool usesCollation(const Relation& relation, const Collation& collation, std::string_view schema) {
   for (const Column& column : relation.columns)
      if (!column.isDropped && column.type.collation == collation.oid) return true;
   if (relation.partitionKey)
      for (const Oid used : relation.partitionKey->collations)
         if (used == collation.oid) return true;
   bool isNamed = false;
   forEachText(relation,
               [&](const std::string& text) { isNamed = isNamed || namesCollation(text, schema, collation.name); });
   return isNamed;
}

} // namespace ouzel::catalog
