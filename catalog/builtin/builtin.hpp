#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/value/sql_type.hpp"

// PostgreSQL 15's built-in types, functions, operators, casts and aggregates as data, with the lookups that binding
// needs. The rows are generated (scripts/generate_builtins.py); functions of our own are in data/ouzel_proc.inc.
// Everything is parsed once, on first use, and read-only afterwards, so any thread may read it without a lock;
// pointers, spans and string views live as long as the process. A row here promises no kernel: the executor says 0A000.

namespace ouzel::catalog {

class TextTable;

/// First OID of user objects. Ours among the built-in ones are 9000..9999.
inline constexpr Oid firstUserOid = 16384;
inline constexpr Oid pgCatalogSchema = 11, publicSchema = 2200, bootstrapRole = 10;

enum class TypeKind : char {
   Base = 'b',
   Composite = 'c',
   Domain = 'd',
   Enum = 'e',
   Multirange = 'm',
   Pseudo = 'p',
   Range = 'r'
};

struct TypeInfo {
   Oid oid;
   std::string_view name;
   Oid schema;
   int16_t length; ///< bytes; -1 varlena, -2 cstring
   bool byValue;
   TypeKind kind;
   char category; ///< 'N' numeric, 'S' string, 'D' date/time, 'B' boolean, 'P' pseudo, 'A' array, ...
   bool isPreferred;
   char delimiter, alignment, storage;
   Oid relation;  ///< of a composite type
   Oid subscript; ///< subscripting handler
   Oid element;   ///< of an array (or name, point: see isArray())
   Oid array;
   Oid input, output, receive, send, typmodIn, typmodOut;
   bool notNull;
   Oid baseType; ///< of a domain
   int32_t typmod;
   Oid collation;

   /// A true array type ("_int4", also int2vector and oidvector), unlike fixed-length types that can be subscripted
   /// (name, point).
   bool isArray() const { return subscript == 6179; }
   bool isPseudo() const { return kind == TypeKind::Pseudo; }
};

enum class FunctionKind : char { Function = 'f', Aggregate = 'a', Window = 'w', Procedure = 'p' };
enum class Volatility : char { Immutable = 'i', Stable = 's', Volatile = 'v' };

struct FunctionInfo {
   Oid oid;
   std::string_view name;
   Oid schema;
   FunctionKind kind;
   bool isStrict;
   bool returnsSet;
   Volatility volatility;
   Oid returnType;
   std::span<const Oid> argTypes; ///< input arguments, the variadic one as its array type
   /// All arguments with OUT and TABLE columns; empty when argTypes says everything.
   std::span<const Oid> allArgTypes;
   std::string_view argModes;                  ///< i, o, b, v, t: one character for each of allArgTypes
   std::span<const std::string_view> argNames; ///< for each of allArgTypes (or argTypes); may be empty
   std::span<const std::string_view> defaults; ///< SQL expressions of the last arguments
   Oid variadicElement;                        ///< element type of the variadic argument, `any` for VARIADIC "any", 0
   std::string_view source;                    ///< prosrc: the kernel's name
   Oid language;                               ///< 12 internal, 13 c, 14 sql
   Oid support;                                ///< planner support function
   float cost, rows;

   uint32_t argCount() const { return static_cast<uint32_t>(argTypes.size()); }
   bool isVariadic() const { return variadicElement != invalidOid; }
};

struct OperatorInfo {
   Oid oid;
   std::string_view name;
   Oid schema;
   Oid left; ///< invalidOid: a prefix operator
   Oid right;
   Oid result;
   Oid function;
   Oid commutator, negator;
   bool canMerge, canHash;
   Oid restrictEstimator, joinEstimator;

   bool isPrefix() const { return left == invalidOid; }
};

enum class CastContext : char { Explicit = 'e', Assignment = 'a', Implicit = 'i' };
enum class CastMethod : char { Function = 'f', Binary = 'b', InOut = 'i' };

struct CastInfo {
   Oid source, target;
   Oid function; ///< invalidOid unless method is Function; may take (value, typmod, isExplicit)
   CastContext context;
   CastMethod method;
};

enum class AggregateKind : char { Normal = 'n', OrderedSet = 'o', Hypothetical = 'h' };

struct AggregateInfo {
   Oid function; ///< the pg_proc row
   AggregateKind kind;
   int16_t directArgs;
   Oid transition, final, combine;
   Oid sortOperator; ///< min and max: the operator whose first row they are
   Oid transitionType;
   std::optional<std::string_view> initial;
};

struct CollationInfo {
   Oid oid;
   std::string_view name;
   Oid schema;
   char provider; ///< 'd' default, 'c' libc, 'i' ICU
   bool isDeterministic;
   std::string_view icuLocale;
};

/// What an operator means to a btree: the order of its operator family.
enum class BtreeStrategy : uint8_t { Less = 1, LessEqual = 2, Equal = 3, GreaterEqual = 4, Greater = 5 };

struct BtreeMember {
   BtreeStrategy strategy;
   Oid family;
   Oid left, right; ///< input types the family declares it for
};

/// All built-in rows. Obtain through builtins().
class Builtins {
public:
   /// By OID; null when there is none. Only OIDs below firstUserOid are here.
   const TypeInfo* type(Oid oid) const;
   bool isArray(Oid type) const;
   const FunctionInfo* function(Oid oid) const;
   const OperatorInfo* operatorByOid(Oid oid) const;
   const CollationInfo* collation(Oid oid) const;
   const AggregateInfo* aggregate(Oid function) const;

   /// By the name in pg_type ("int4", "_int4", "bpchar").
   const TypeInfo* findType(std::string_view name, Oid schema = pgCatalogSchema) const;
   /// By an SQL name or pg_type's ("integer", "double precision", "timestamp with time zone", "int4").
   const TypeInfo* findTypeBySqlName(std::string_view name) const;
   const CollationInfo* findCollation(std::string_view name) const;

   /// All overloads of a name, in OID order.
   std::span<const FunctionInfo* const> functions(std::string_view name) const;
   std::span<const OperatorInfo* const> operators(std::string_view name) const;
   /// The operator with exactly these types; left invalidOid for prefix.
   const OperatorInfo* findOperator(std::string_view name, Oid left, Oid right) const;
   /// The function with exactly these argument types.
   const FunctionInfo* findFunction(std::string_view name, std::span<const Oid> argTypes) const;
   /// The pg_cast row; binary-coercible domains, arrays and I/O conversions are the binder's rules, not rows.
   const CastInfo* cast(Oid source, Oid target) const;

   /// The operator's place in a btree family, preferring the family that is the default of its left type (for text
   /// `=` is in text_ops and text_pattern_ops). Nothing if it is in no btree family.
   std::optional<BtreeMember> btreeStrategy(Oid operatorOid) const;
   /// The operator's hash family, invalidOid if it is in none.
   Oid hashFamily(Oid operatorOid) const;
   /// True if a btree or hash family calls it equality.
   bool isEqualityOperator(Oid operatorOid) const;
   /// The btree (or hash) family that orders (or hashes) a type by default, through its base type for domains and
   /// through anyarray, anyenum, anyrange, record for those; invalidOid if it has none (json, point).
   Oid defaultBtreeFamily(Oid type) const;
   Oid defaultHashFamily(Oid type) const;
   /// Operator of a btree family for two input types; null if the family has none.
   const OperatorInfo* btreeOperator(Oid family, Oid left, Oid right, BtreeStrategy strategy) const;
   /// The type's own `<`, `=`, `>` ... as ORDER BY, DISTINCT and GROUP BY use them; null: the type cannot be ordered.
   const OperatorInfo* comparisonOperator(Oid type, BtreeStrategy strategy) const;
   /// The type's equality: its btree family's, else its hash family's.
   const OperatorInfo* equalityOperator(Oid type) const;
   /// Input type its default operator class declares: varchar -> text, int4[] -> anyarray, a domain -> its base's.
   Oid comparisonInputType(Oid type) const;

   std::span<const TypeInfo> types() const { return types_; }
   std::span<const FunctionInfo> functions() const { return functions_; }
   std::span<const OperatorInfo> operators() const { return operators_; }
   std::span<const CastInfo> casts() const { return casts_; }
   std::span<const AggregateInfo> aggregates() const { return aggregates_; }
   std::span<const CollationInfo> collations() const { return collations_; }

   /// The rows of a catalog as text: "pg_type", "pg_proc", ..., "system_relation", "system_column". Null if not kept.
   const TextTable* rows(std::string_view catalog) const;

   Builtins(const Builtins&) = delete;
   Builtins& operator=(const Builtins&) = delete;
   ~Builtins();

private:
   friend const Builtins& builtins();
   struct Loader;
   struct FamilyMember {
      Oid family, left, right, operatorOid;
      uint8_t strategy;
   };
   struct OperatorClass {
      Oid family, input;
   };
   Builtins();
   std::optional<OperatorClass> defaultClass(const std::vector<OperatorClass>& classes, Oid type) const;

   // PROPERTIES, all sorted by OID (casts by source and target)
   std::vector<TypeInfo> types_;
   std::vector<FunctionInfo> functions_;
   std::vector<OperatorInfo> operators_;
   std::vector<CastInfo> casts_;
   std::vector<AggregateInfo> aggregates_;
   std::vector<CollationInfo> collations_;
   // Sorted by name, then OID.
   std::vector<const TypeInfo*> typesByName_;
   std::vector<const FunctionInfo*> functionsByName_;
   std::vector<const OperatorInfo*> operatorsByName_;
   std::vector<FamilyMember> btreeMembers_, hashMembers_;   ///< by operator
   std::vector<FamilyMember> btreeByFamily_, hashByFamily_; ///< by family, left, right, strategy
   std::vector<OperatorClass> btreeClasses_, hashClasses_;  ///< the default ones, by input type
   // What the spans above point into.
   std::vector<std::unique_ptr<Oid[]>> oidLists_;
   std::vector<std::unique_ptr<std::string_view[]>> nameLists_;
   std::vector<std::unique_ptr<std::string>> texts_;
};

/// The one instance; the first call parses the data (a few milliseconds).
const Builtins& builtins();

} // namespace ouzel::catalog
