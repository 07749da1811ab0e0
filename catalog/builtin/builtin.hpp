#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/value/sql_type.hpp"

// PostgreSQL 15's built-in types, functions, operators, casts and aggregates as data, with the lookups that binding
// needs. scripts/generate_builtins.py generates the rows; functions that only Ouzel has are in data/ouzel_proc.inc. The
// first use parses the rows. From then on they are read-only, and any thread may read them without a lock; pointers,
// spans and string views live as long as the process. A function's row does not mean that a kernel exists: the executor
// raises 0A000 for a function without a kernel.

namespace ouzel::catalog {

class TextTable;

/// First OID of user objects. Built-in objects that only Ouzel has are 9000..9999.
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
   Oid element;   ///< of an array, or of a type such as name and point: see isArray()
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
   /// All arguments including OUT and TABLE columns; empty if there are only input arguments.
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
   Oid sortOperator; ///< of min and max: their result is the first row in the order of this operator
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
   std::string_view ctype; ///< LC_CTYPE; empty: of ICU
   Oid owner = bootstrapRole;
};

/// Strategy number of an operator in a btree operator family.
enum class BtreeStrategy : uint8_t { Less = 1, LessEqual = 2, Equal = 3, GreaterEqual = 4, Greater = 5 };

struct BtreeMember {
   BtreeStrategy strategy;
   Oid family;
   Oid left, right; ///< input types for which the family declares the operator
};

/// All built-in rows. Obtain through builtins().
class Builtins {
public:
   /// By OID; null if there is no built-in object with the OID.
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

   /// All overloads of a name, in OID order.
   std::span<const FunctionInfo* const> functions(std::string_view name) const;
   std::span<const OperatorInfo* const> operators(std::string_view name) const;
   /// The operator with exactly these types; left invalidOid for prefix.
   const OperatorInfo* findOperator(std::string_view name, Oid left, Oid right) const;
   /// The function with exactly these argument types.
   const FunctionInfo* findFunction(std::string_view name, std::span<const Oid> argTypes) const;
   /// The pg_cast row. Casts of domains and arrays and I/O conversions have no rows; the binder has rules for them.
   const CastInfo* cast(Oid source, Oid target) const;

   /// The operator's entry in a btree family, preferably in the default family of its left type (text's `=` is in
   /// text_ops and text_pattern_ops). Empty if the operator is in no btree family.
   std::optional<BtreeMember> btreeStrategy(Oid operatorOid) const;
   /// The operator's hash family; invalidOid if it is in no hash family.
   Oid hashFamily(Oid operatorOid) const;
   /// True if the operator is the equality of a btree or hash family.
   bool isEqualityOperator(Oid operatorOid) const;
   /// The btree (or hash) family that orders (or hashes) a type by default. A domain uses the family of its base type;
   /// arrays, enums, ranges and composite types use those of anyarray, anyenum, anyrange and record. invalidOid if
   /// there is none (json, point).
   Oid defaultBtreeFamily(Oid type) const;
   Oid defaultHashFamily(Oid type) const;
   /// Operator of a btree family for two input types; null if the family has none.
   const OperatorInfo* btreeOperator(Oid family, Oid left, Oid right, BtreeStrategy strategy) const;
   /// The type's `<`, `=`, `>`, ... that ORDER BY, DISTINCT and GROUP BY use; null if the type has no order.
   const OperatorInfo* comparisonOperator(Oid type, BtreeStrategy strategy) const;
   /// The type's equality, from its default btree family or else from its default hash family.
   const OperatorInfo* equalityOperator(Oid type) const;
   /// Input type of the default operator class: varchar -> text, int4[] -> anyarray, a domain -> that of its base type.
   Oid comparisonInputType(Oid type) const;

   std::span<const TypeInfo> types() const { return types_; }
   std::span<const FunctionInfo> functions() const { return functions_; }
   std::span<const OperatorInfo> operators() const { return operators_; }
   std::span<const CastInfo> casts() const { return casts_; }
   std::span<const AggregateInfo> aggregates() const { return aggregates_; }
   std::span<const CollationInfo> collations() const { return collations_; }

   /// The rows of a catalog as text: "pg_type", "pg_proc", ..., "system_relation", "system_column". Null if the build
   /// does not contain the catalog.
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
   std::vector<OperatorClass> btreeClasses_, hashClasses_;  ///< the default classes, by input type
   // Memory that the spans and string views of the rows refer to.
   std::vector<std::unique_ptr<Oid[]>> oidLists_;
   std::vector<std::unique_ptr<std::string_view[]>> nameLists_;
   std::vector<std::unique_ptr<std::string>> texts_;
};

/// The one instance; the first call parses the data (a few milliseconds).
const Builtins& builtins();

} // namespace ouzel::catalog
