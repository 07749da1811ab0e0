#pragma once
#include <functional>
#include <optional>
#include <string>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/state/bound_rel.hpp"
#include "sql/bind/state/variable_names.hpp"
#include "sql/program/program.hpp"

namespace ouzel::sql::program {

/// Why a program is not compiled that reads FOUND where it has no value.
inline constexpr const char* usesFound = "it uses FOUND";

/// Binds the texts of a program that becomes a part of the statement which calls it: names are values of variables, as
/// a derived class has them. Keeps the first reason why the program has to be run instead.
class TextBinder : public VariableNames {
public:
   // VariableNames
   FoundVariable find(std::span<const std::string> names) const override;
   ExprPtr positional(uint32_t number) const override;

   /// Binds texts in `work`, which says whether all went well. If not, and where a text has an error, `state` is as
   /// before and the result is false; errors of another kind are thrown. REQUIRES: the body is being bound (InBody).
   bool inBody(const std::function<bool()>& work);

protected:
   /// `why`: gets the reason, "it has a loop".
   TextBinder(BindState& state, const Program& program, std::string& why);
   ~TextBinder() override = default;

   /// The value of a variable that is no record, and not FOUND.
   virtual ExprPtr read(VariableId id) = 0;
   /// Whether a text that is bound now may know values of variables.
   bool knowsValues() const { return knowsValues_; }
   /// It has read a value that it knows.
   void noteKnownValue() { hasReadKnown_ = true; }

   std::nullopt_t fail(std::string why) {
      if (why_.empty()) why_ = std::move(why);
      return std::nullopt;
   }
   bool failed() const { return !why_.empty(); }
   /// Errors of what is evaluated from here on happen in the statement, or in a line of `phase`.
   void comeTo(const Statement& statement) { comeTo(statement.line, "at " + std::string(statementName(statement))); }
   void comeTo(uint32_t line, std::string_view phase);
   /// While it lives, one statement after the other is come to; then it is the one around them again.
   class Coming {
   public:
      explicit Coming(TextBinder& binder) : binder_(binder), outer_(binder.origin_) {}
      ~Coming() { binder_.origin_ = outer_; }
      Coming(const Coming&) = delete;

   private:
      TextBinder& binder_;
      const std::shared_ptr<Origin> outer_;
   };
   /// Gives the nodes of an expression the place in the program where they are.
   void giveOrigin(ExprPtr& value) const;
   /// Only to what has none: a cast of a value that has its own.
   void giveOriginToCast(ExprPtr& value) const;
   const std::shared_ptr<Origin>& origin() const { return origin_; }
   /// What a name means where the text that is bound stands.
   FoundName lookUp(std::span<const std::string> names) const;
   /// Whether the variable is one that takes any value of a type.
   bool isPlain(VariableId id);
   /// A query without effects.
   BoundRel bind(const SqlText& text);
   /// The value of a query's column in its first row, or in its only one.
   ExprPtr valueOf(BoundRel& query, size_t column, bool isFirst);
   /// The value of an expression, cast to the type; null `type`: as it is. Null after a failure.
   ExprPtr evaluate(const SqlText& text, const SqlType* type);
   /// A value as one of the type, cast as PL/pgSQL does what it assigns (sql/bind/statement/statement.cpp).
   ExprPtr casted(ExprPtr value, const SqlType& type);

   BindState& state_;
   const Program& program_;
   bool hasFound_ = false; ///< FOUND has a value

private:
   /// A constant that fails does so where the text is planned. In the plan of the whole statement it would fail even if
   /// the program never came to the text.
   void refuseFailing(BoundRel& query);
   ExprPtr checked(ExprPtr cast);

   std::string& why_;
   NameId scope_ = noName;
   std::shared_ptr<Origin> origin_;
   bool knowsValues_ = true, hasReadKnown_ = false;
};

/// What contexts call the values of DECLARE, and the cast of a result.
inline constexpr std::string_view initialization = "during statement block local variable initialization",
                                  returnCast = "while casting return value to function's return type";

/// Whether it, or a subquery in it, calls a volatile function.
bool isVolatileQuery(const Rel& rel);
/// The query itself if it has one row at most; else its first row.
RelPtr firstRow(const BindState& state, RelPtr rel);
/// Whether a query is a list of expressions.
bool isOnlyMaps(const Rel& rel);

} // namespace ouzel::sql::program
