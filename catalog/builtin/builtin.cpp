#include "catalog/builtin/builtin.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "catalog/builtin/data.hpp"
#include "catalog/builtin/extension_operators.hpp"
#include "catalog/builtin/extension_types.hpp"
#include "catalog/builtin/text_table.hpp"
#include "common/error/check.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/form_oids.hpp"

namespace ouzel::catalog {

namespace {

constexpr Oid btreeMethod = 403, hashMethod = 405;

int64_t number(TextTable::Field field) {
   int64_t value = 0;
   CHECK(field);
   const auto [end, error] = std::from_chars(field->data(), field->data() + field->size(), value);
   CHECK(error == std::errc());
   CHECK(end == field->data() + field->size());
   return value;
}
float real(TextTable::Field field) {
   float value = 0;
   CHECK(field);
   std::from_chars(field->data(), field->data() + field->size(), value);
   return value;
}

/// Reads the fields of one row in the order of `columns`, positions that are looked up once per table.
class Row {
public:
   Row(const TextTable& table, const std::vector<uint32_t>& columns) : table_(table), columns_(columns) {}
   void moveTo(uint32_t row) { row_ = row; }
   TextTable::Field field(size_t i) const { return table_.at(row_, columns_[i]); }
   Oid oid(size_t i) const { return static_cast<Oid>(number(field(i))); }
   int64_t integer(size_t i) const { return number(field(i)); }
   float floating(size_t i) const { return real(field(i)); }
   bool boolean(size_t i) const { return *field(i) == "t"; }
   char letter(size_t i) const { return (*field(i))[0]; }
   std::string_view text(size_t i) const { return field(i).value_or(std::string_view()); }

private:
   const TextTable& table_;
   const std::vector<uint32_t>& columns_;
   uint32_t row_ = 0;
};

std::vector<uint32_t> columnsOf(const TextTable& table, std::initializer_list<std::string_view> names) {
   std::vector<uint32_t> columns;
   for (const std::string_view name : names)
      columns.push_back(table.column(name));
   return columns;
}

/// Elements of "1 2 3", "{1,2}" or "{a,\"\",b}". Built-in rows have no other forms of lists.
std::vector<std::string_view> listElements(std::string_view list, char separator) {
   std::vector<std::string_view> elements;
   if (list.size() >= 2 && list.front() == '{') list = list.substr(1, list.size() - 2);
   while (!list.empty()) {
      const size_t end = std::min(list.find(separator), list.size());
      std::string_view element = list.substr(0, end);
      if (element.size() >= 2 && element.front() == '"') element = element.substr(1, element.size() - 2);
      elements.push_back(element);
      if (end == list.size()) break;
      list.remove_prefix(end + 1);
   }
   return elements;
}

template <typename T>
const T* findByOid(const std::vector<T>& rows, Oid oid, Oid T::*key) {
   const auto found = std::lower_bound(rows.begin(), rows.end(), oid, [&](const T& r, Oid o) { return r.*key < o; });
   return found != rows.end() && (*found).*key == oid ? &*found : nullptr;
}

template <typename T>
std::vector<const T*> sortedByName(const std::vector<T>& rows) {
   std::vector<const T*> sorted;
   sorted.reserve(rows.size());
   for (const T& row : rows)
      sorted.push_back(&row);
   std::sort(sorted.begin(), sorted.end(),
             [](const T* a, const T* b) { return std::tie(a->name, a->oid) < std::tie(b->name, b->oid); });
   return sorted;
}

template <typename T>
std::span<const T* const> named(const std::vector<const T*>& sorted, std::string_view name) {
   const auto first = std::lower_bound(sorted.begin(), sorted.end(), name,
                                       [](const T* row, std::string_view n) { return row->name < n; });
   auto last = first;
   while (last != sorted.end() && (*last)->name == name)
      ++last;
   return {first, last};
}

// SQL names of types that differ from the names in pg_type.
struct TypeAlias {
   std::string_view sqlName, name;
};
constexpr TypeAlias typeAliases[] = {
    {"bigint", "int8"},
    {"bit varying", "varbit"},
    {"boolean", "bool"},
    {"\"char\"", "char"},
    {"char", "bpchar"},
    {"character", "bpchar"},
    {"character varying", "varchar"},
    {"dec", "numeric"},
    {"decimal", "numeric"},
    {"double precision", "float8"},
    {"float", "float8"},
    {"int", "int4"},
    {"integer", "int4"},
    {"national character", "bpchar"},
    {"national character varying", "varchar"},
    {"nchar", "bpchar"},
    {"real", "float4"},
    {"smallint", "int2"},
    {"time with time zone", "timetz"},
    {"time without time zone", "time"},
    {"timestamp with time zone", "timestamptz"},
    {"timestamp without time zone", "timestamp"},
};

/// The parsed table of a catalog, which the first call parses and keeps. Catalogs that binding does not need stay text
/// until a system view reads them.
const TextTable* parsedTable(std::string_view catalog) {
   static Mutex latch;
   static std::map<std::string_view, std::unique_ptr<TextTable>, std::less<>> tables GUARDED_BY(latch);
   const MutexLock guard(latch);
   const auto found = tables.find(catalog);
   if (found != tables.end()) return found->second.get();
   const std::string_view text = builtinText(catalog);
   if (text.empty()) return nullptr;
   // The key must outlive the caller's string, so it is the catalog's static name.
   return tables.emplace(builtinName(catalog), std::make_unique<TextTable>(text)).first->second.get();
}

} // namespace

struct Builtins::Loader {
   Builtins& out;

   std::span<const Oid> oids(std::string_view list, char separator) {
      const std::vector<std::string_view> elements = listElements(list, separator);
      if (elements.empty()) return {};
      auto values = std::make_unique<Oid[]>(elements.size());
      for (size_t i = 0; i < elements.size(); ++i)
         values[i] = static_cast<Oid>(number(elements[i]));
      out.oidLists_.push_back(std::move(values));
      return {out.oidLists_.back().get(), elements.size()};
   }

   std::span<const std::string_view> names(const std::vector<std::string_view>& elements) {
      if (elements.empty()) return {};
      auto values = std::make_unique<std::string_view[]>(elements.size());
      std::copy(elements.begin(), elements.end(), values.get());
      out.nameLists_.push_back(std::move(values));
      return {out.nameLists_.back().get(), elements.size()};
   }

   /// Splits "0, 'NFC'::text" at ", ", which no built-in default contains.
   std::span<const std::string_view> expressions(std::string_view list) {
      std::vector<std::string_view> elements;
      while (!list.empty()) {
         const size_t end = std::min(list.find(", "), list.size());
         elements.push_back(list.substr(0, end));
         if (end == list.size()) break;
         list.remove_prefix(end + 2);
      }
      return names(elements);
   }

   void types();
   void functions();
   void ouzelFunctions();
   void operators();
   void casts();
   void aggregates();
   void collations();
   void families();
   void index();
};

void Builtins::Loader::types() {
   const TextTable& table = *parsedTable("pg_type");
   const auto columns = columnsOf(table, {"oid",          "typname",     "typnamespace",   "typlen",    "typbyval",
                                          "typtype",      "typcategory", "typispreferred", "typdelim",  "typrelid",
                                          "typsubscript", "typelem",     "typarray",       "typinput",  "typoutput",
                                          "typreceive",   "typsend",     "typmodin",       "typmodout", "typnotnull",
                                          "typbasetype",  "typtypmod",   "typcollation",   "typalign",  "typstorage"});
   Row row(table, columns);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      out.types_.push_back({.oid = row.oid(0),
                            .name = row.text(1),
                            .schema = row.oid(2),
                            .length = static_cast<int16_t>(row.integer(3)),
                            .byValue = row.boolean(4),
                            .kind = static_cast<TypeKind>(row.letter(5)),
                            .category = row.letter(6),
                            .isPreferred = row.boolean(7),
                            .delimiter = row.letter(8),
                            .alignment = row.letter(23),
                            .storage = row.letter(24),
                            .relation = row.oid(9),
                            .subscript = row.oid(10),
                            .element = row.oid(11),
                            .array = row.oid(12),
                            .input = row.oid(13),
                            .output = row.oid(14),
                            .receive = row.oid(15),
                            .send = row.oid(16),
                            .typmodIn = row.oid(17),
                            .typmodOut = row.oid(18),
                            .notNull = row.boolean(19),
                            .baseType = row.oid(20),
                            .typmod = static_cast<int32_t>(row.integer(21)),
                            .collation = row.oid(22)});
   }
   for (const ExtensionType& made : extensionTypes())
      for (const TypeInfo& type : {made.type, made.array})
         out.types_.push_back(type);
}

void Builtins::Loader::functions() {
   const TextTable& table = *parsedTable("pg_proc");
   const auto columns =
       columnsOf(table, {"oid", "proname", "pronamespace", "prokind", "proisstrict", "proretset", "provolatile",
                         "prorettype", "proargtypes", "proallargtypes", "proargmodes", "proargnames", "proargdefaults",
                         "provariadic", "prosrc", "prolang", "procost", "prorows", "prosupport"});
   Row row(table, columns);
   out.functions_.reserve(table.rowCount() + 64);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      std::string_view modes;
      if (const auto elements = listElements(row.text(10), ','); !elements.empty()) {
         auto text = std::make_unique<std::string>();
         for (const std::string_view element : elements)
            text->append(element);
         out.texts_.push_back(std::move(text));
         modes = *out.texts_.back();
      }
      out.functions_.push_back({.oid = row.oid(0),
                                .name = row.text(1),
                                .schema = row.oid(2),
                                .kind = static_cast<FunctionKind>(row.letter(3)),
                                .isStrict = row.boolean(4),
                                .returnsSet = row.boolean(5),
                                .volatility = static_cast<Volatility>(row.letter(6)),
                                .returnType = row.oid(7),
                                .argTypes = oids(row.text(8), ' '),
                                .allArgTypes = oids(row.text(9), ','),
                                .argModes = modes,
                                .argNames = names(listElements(row.text(11), ',')),
                                .defaults = expressions(row.text(12)),
                                .variadicElement = row.oid(13),
                                .source = row.text(14),
                                .language = row.oid(15),
                                .support = row.oid(18),
                                .cost = row.floating(16),
                                .rows = row.floating(17)});
   }
}

void Builtins::Loader::ouzelFunctions() {
   const TextTable& table = *parsedTable("ouzel_proc");
   const auto columns = columnsOf(table, {"oid", "name", "kind", "strict", "volatility", "returnsset", "returntype",
                                          "argtypes", "variadic", "defaults", "source"});
   Row row(table, columns);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      const bool returnsSet = row.boolean(5);
      out.functions_.push_back({.oid = row.oid(0),
                                .name = row.text(1),
                                .schema = pgCatalogSchema,
                                .kind = static_cast<FunctionKind>(row.letter(2)),
                                .isStrict = row.boolean(3),
                                .returnsSet = returnsSet,
                                .volatility = static_cast<Volatility>(row.letter(4)),
                                .returnType = row.oid(6),
                                .argTypes = oids(row.text(7), ' '),
                                .allArgTypes = {},
                                .argModes = {},
                                .argNames = {},
                                .defaults = expressions(row.text(9)),
                                .variadicElement = row.oid(8),
                                .source = row.text(10),
                                .language = 12,
                                .support = invalidOid,
                                .cost = 1,
                                .rows = returnsSet ? 1000.0f : 0.0f});
   }
}

void Builtins::Loader::operators() {
   const TextTable& table = *parsedTable("pg_operator");
   const auto columns =
       columnsOf(table, {"oid", "oprname", "oprnamespace", "oprleft", "oprright", "oprresult", "oprcode", "oprcom",
                         "oprnegate", "oprcanmerge", "oprcanhash", "oprrest", "oprjoin"});
   Row row(table, columns);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      out.operators_.push_back({.oid = row.oid(0),
                                .name = row.text(1),
                                .schema = row.oid(2),
                                .left = row.oid(3),
                                .right = row.oid(4),
                                .result = row.oid(5),
                                .function = row.oid(6),
                                .commutator = row.oid(7),
                                .negator = row.oid(8),
                                .canMerge = row.boolean(9),
                                .canHash = row.boolean(10),
                                .restrictEstimator = row.oid(11),
                                .joinEstimator = row.oid(12)});
   }
   for (const ExtensionOperator& made : extensionOperators())
      out.operators_.push_back(made.info);
}

void Builtins::Loader::casts() {
   const TextTable& table = *parsedTable("pg_cast");
   const auto columns = columnsOf(table, {"castsource", "casttarget", "castfunc", "castcontext", "castmethod"});
   Row row(table, columns);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      out.casts_.push_back({row.oid(0), row.oid(1), row.oid(2), static_cast<CastContext>(row.letter(3)),
                            static_cast<CastMethod>(row.letter(4))});
   }
   std::sort(out.casts_.begin(), out.casts_.end(), [](const CastInfo& a, const CastInfo& b) {
      return std::tie(a.source, a.target) < std::tie(b.source, b.target);
   });
}

void Builtins::Loader::aggregates() {
   const TextTable& table = *parsedTable("pg_aggregate");
   const auto columns = columnsOf(table, {"aggfnoid", "aggkind", "aggnumdirectargs", "aggtransfn", "aggfinalfn",
                                          "aggcombinefn", "aggsortop", "aggtranstype", "agginitval"});
   Row row(table, columns);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      out.aggregates_.push_back({.function = row.oid(0),
                                 .kind = static_cast<AggregateKind>(row.letter(1)),
                                 .directArgs = static_cast<int16_t>(row.integer(2)),
                                 .transition = row.oid(3),
                                 .final = row.oid(4),
                                 .combine = row.oid(5),
                                 .sortOperator = row.oid(6),
                                 .transitionType = row.oid(7),
                                 .initial = row.field(8)});
   }
}

void Builtins::Loader::collations() {
   const TextTable& table = *parsedTable("pg_collation");
   const auto columns = columnsOf(table, {"oid", "collname", "collnamespace", "collprovider", "collisdeterministic",
                                          "colliculocale", "collctype"});
   Row row(table, columns);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.moveTo(r);
      out.collations_.push_back({.oid = row.oid(0),
                                 .name = row.text(1),
                                 .schema = row.oid(2),
                                 .provider = row.letter(3),
                                 .isDeterministic = row.boolean(4),
                                 .icuLocale = row.text(5),
                                 .ctype = row.text(6)});
   }
}

void Builtins::Loader::families() {
   const TextTable& members = *parsedTable("pg_amop");
   const auto memberColumns = columnsOf(members, {"amopfamily", "amoplefttype", "amoprighttype", "amopstrategy",
                                                  "amoppurpose", "amopopr", "amopmethod"});
   Row member(members, memberColumns);
   for (uint32_t r = 0; r < members.rowCount(); ++r) {
      member.moveTo(r);
      const Oid method = member.oid(6);
      if (member.letter(4) != 's' || (method != btreeMethod && method != hashMethod)) continue;
      (method == btreeMethod ? out.btreeMembers_ : out.hashMembers_)
          .push_back(
              {member.oid(0), member.oid(1), member.oid(2), member.oid(5), static_cast<uint8_t>(member.integer(3))});
   }
   const TextTable& classes = *parsedTable("pg_opclass");
   const auto classColumns = columnsOf(classes, {"opcmethod", "opcfamily", "opcintype", "opcdefault"});
   Row row(classes, classColumns);
   for (uint32_t r = 0; r < classes.rowCount(); ++r) {
      row.moveTo(r);
      const Oid method = row.oid(0);
      if (!row.boolean(3) || (method != btreeMethod && method != hashMethod)) continue;
      (method == btreeMethod ? out.btreeClasses_ : out.hashClasses_).push_back({row.oid(1), row.oid(2)});
   }
   for (const ExtensionFamily& made : extensionFamilies()) {
      out.btreeClasses_.push_back({made.btree, made.type});
      if (made.hash != invalidOid) out.hashClasses_.push_back({made.hash, made.type});
      for (const ExtensionOperator& one : extensionOperators()) {
         if (one.info.left != made.type || one.strategy == 0) continue;
         out.btreeMembers_.push_back({made.btree, made.type, made.type, one.info.oid, one.strategy});
         if (one.strategy == static_cast<uint8_t>(BtreeStrategy::Equal) && made.hash != invalidOid)
            out.hashMembers_.push_back({made.hash, made.type, made.type, one.info.oid, 1});
      }
   }
}

void Builtins::Loader::index() {
   const auto byOid = [](const auto& a, const auto& b) { return a.oid < b.oid; };
   const auto byFunction = [](const auto& a, const auto& b) { return a.function < b.function; };
   std::sort(out.types_.begin(), out.types_.end(), byOid);
   std::sort(out.functions_.begin(), out.functions_.end(), byOid);
   std::sort(out.operators_.begin(), out.operators_.end(), byOid);
   std::sort(out.collations_.begin(), out.collations_.end(), byOid);
   std::sort(out.aggregates_.begin(), out.aggregates_.end(), byFunction);
   out.typesByName_ = sortedByName(out.types_);
   out.functionsByName_ = sortedByName(out.functions_);
   out.operatorsByName_ = sortedByName(out.operators_);
   std::erase_if(out.operatorsByName_, [](const OperatorInfo* op) { return op->schema == extensionTypeSchema; });

   const auto byOperator = [](const FamilyMember& a, const FamilyMember& b) {
      return std::tie(a.operatorOid, a.family) < std::tie(b.operatorOid, b.family);
   };
   const auto byFamily = [](const FamilyMember& a, const FamilyMember& b) {
      return std::tie(a.family, a.left, a.right, a.strategy) < std::tie(b.family, b.left, b.right, b.strategy);
   };
   const auto byInput = [](const OperatorClass& a, const OperatorClass& b) { return a.input < b.input; };
   out.btreeByFamily_ = out.btreeMembers_;
   out.hashByFamily_ = out.hashMembers_;
   std::sort(out.btreeMembers_.begin(), out.btreeMembers_.end(), byOperator);
   std::sort(out.hashMembers_.begin(), out.hashMembers_.end(), byOperator);
   std::sort(out.btreeByFamily_.begin(), out.btreeByFamily_.end(), byFamily);
   std::sort(out.hashByFamily_.begin(), out.hashByFamily_.end(), byFamily);
   std::sort(out.btreeClasses_.begin(), out.btreeClasses_.end(), byInput);
   std::sort(out.hashClasses_.begin(), out.hashClasses_.end(), byInput);
}

Builtins::Builtins() {
   Loader loader{*this};
   loader.types();
   loader.functions();
   loader.ouzelFunctions();
   loader.operators();
   loader.casts();
   loader.aggregates();
   loader.collations();
   loader.families();
   loader.index();
}
Builtins::~Builtins() = default;

const Builtins& builtins() {
   static const Builtins instance;
   return instance;
}

const TypeInfo* Builtins::type(Oid oid) const {
   return findByOid(types_, oid, &TypeInfo::oid);
}

bool Builtins::isArray(Oid oid) const {
   if ((oid & userArrayBit) != 0) return true;
   const TypeInfo* info = type(oid);
   return info && info->isArray();
}
const FunctionInfo* Builtins::function(Oid oid) const {
   return findByOid(functions_, oid, &FunctionInfo::oid);
}
const OperatorInfo* Builtins::operatorByOid(Oid oid) const {
   return findByOid(operators_, oid, &OperatorInfo::oid);
}
const CollationInfo* Builtins::collation(Oid oid) const {
   return findByOid(collations_, oid, &CollationInfo::oid);
}
const AggregateInfo* Builtins::aggregate(Oid function) const {
   return findByOid(aggregates_, function, &AggregateInfo::function);
}

const TypeInfo* Builtins::findType(std::string_view name, Oid schema) const {
   for (const TypeInfo* type : named(typesByName_, name))
      if (type->schema == schema) return type;
   return nullptr;
}

const TypeInfo* Builtins::findTypeBySqlName(std::string_view name) const {
   for (const TypeAlias& alias : typeAliases)
      if (alias.sqlName == name) return findType(alias.name);
   return findType(name);
}

std::span<const FunctionInfo* const> Builtins::functions(std::string_view name) const {
   return named(functionsByName_, name);
}
std::span<const OperatorInfo* const> Builtins::operators(std::string_view name) const {
   return named(operatorsByName_, name);
}

const OperatorInfo* Builtins::findOperator(std::string_view name, Oid left, Oid right) const {
   for (const OperatorInfo* op : operators(name))
      if (op->left == left && op->right == right) return op;
   return nullptr;
}

const FunctionInfo* Builtins::findFunction(std::string_view name, std::span<const Oid> argTypes) const {
   for (const FunctionInfo* function : functions(name))
      if (std::equal(argTypes.begin(), argTypes.end(), function->argTypes.begin(), function->argTypes.end()))
         return function;
   return nullptr;
}

const CastInfo* Builtins::cast(Oid source, Oid target) const {
   const auto found = std::lower_bound(
       casts_.begin(), casts_.end(), std::pair(source, target),
       [](const CastInfo& row, const std::pair<Oid, Oid>& key) { return std::pair(row.source, row.target) < key; });
   return found != casts_.end() && found->source == source && found->target == target ? &*found : nullptr;
}

std::optional<BtreeMember> Builtins::btreeStrategy(Oid operatorOid) const {
   const auto first = std::lower_bound(btreeMembers_.begin(), btreeMembers_.end(), operatorOid,
                                       [](const FamilyMember& member, Oid oid) { return member.operatorOid < oid; });
   const FamilyMember* best = nullptr;
   for (auto it = first; it != btreeMembers_.end() && it->operatorOid == operatorOid; ++it)
      if (best == nullptr || it->family == defaultBtreeFamily(it->left)) best = &*it;
   if (best == nullptr) return std::nullopt;
   return BtreeMember{static_cast<BtreeStrategy>(best->strategy), best->family, best->left, best->right};
}

Oid Builtins::hashFamily(Oid operatorOid) const {
   const auto first = std::lower_bound(hashMembers_.begin(), hashMembers_.end(), operatorOid,
                                       [](const FamilyMember& member, Oid oid) { return member.operatorOid < oid; });
   Oid family = invalidOid;
   for (auto it = first; it != hashMembers_.end() && it->operatorOid == operatorOid; ++it)
      if (family == invalidOid || it->family == defaultHashFamily(it->left)) family = it->family;
   return family;
}

bool Builtins::isEqualityOperator(Oid operatorOid) const {
   if (hashFamily(operatorOid) != invalidOid) return true;
   const auto member = btreeStrategy(operatorOid);
   return member && member->strategy == BtreeStrategy::Equal;
}

std::optional<Builtins::OperatorClass> Builtins::defaultClass(const std::vector<OperatorClass>& classes,
                                                              Oid typeOid) const {
   const auto exact = [&](Oid input) -> const OperatorClass* {
      const auto found = std::lower_bound(classes.begin(), classes.end(), input,
                                          [](const OperatorClass& c, Oid oid) { return c.input < oid; });
      return found != classes.end() && found->input == input ? &*found : nullptr;
   };
   for (int depth = 0; depth < 16; ++depth) {
      if (const OperatorClass* found = exact(typeOid)) return *found;
      const TypeInfo* info = type(typeOid);
      if (info == nullptr && typeOid < firstUserOid) return std::nullopt;
      Oid stand = invalidOid;
      if (info == nullptr)
         stand = (typeOid & userArrayBit) != 0 ? oid::anyarray
                 : isEnumType(typeOid)         ? oid::anyenum
                 : isUserRange(typeOid)        ? oid::anyrange
                 : isUserMultirange(typeOid)   ? 4537 // anymultirange
                                               : oid::record;
      else if (info->kind == TypeKind::Domain)
         stand = info->baseType;
      else if (info->isArray())
         stand = oid::anyarray;
      else if (info->kind == TypeKind::Enum)
         stand = oid::anyenum;
      else if (info->kind == TypeKind::Range)
         stand = oid::anyrange;
      else if (info->kind == TypeKind::Multirange)
         stand = 4537; // anymultirange
      else if (info->kind == TypeKind::Composite)
         stand = oid::record;
      else if (typeOid == oid::varchar)
         stand = oid::text; // binary-coercible, as GetDefaultOpClass would find
      else if (typeOid == oid::cidr)
         stand = oid::inet;
      else if (const CastInfo* toOid = cast(typeOid, oid::oid);
               toOid != nullptr && toOid->method == CastMethod::Binary && toOid->context == CastContext::Implicit)
         stand = oid::oid; // regclass, regtype, ...
      else
         return std::nullopt;
      typeOid = stand;
   }
   return std::nullopt;
}

Oid Builtins::defaultBtreeFamily(Oid type) const {
   const auto found = defaultClass(btreeClasses_, type);
   return found ? found->family : invalidOid;
}
Oid Builtins::defaultHashFamily(Oid type) const {
   const auto found = defaultClass(hashClasses_, type);
   return found ? found->family : invalidOid;
}
Oid Builtins::comparisonInputType(Oid type) const {
   auto found = defaultClass(btreeClasses_, type);
   if (!found) found = defaultClass(hashClasses_, type);
   return found ? found->input : invalidOid;
}

const OperatorInfo* Builtins::btreeOperator(Oid family, Oid left, Oid right, BtreeStrategy strategy) const {
   const auto key = std::make_tuple(family, left, right, static_cast<uint8_t>(strategy));
   const auto found =
       std::lower_bound(btreeByFamily_.begin(), btreeByFamily_.end(), key, [](const FamilyMember& m, const auto& k) {
          return std::tie(m.family, m.left, m.right, m.strategy) < k;
       });
   if (found == btreeByFamily_.end() || std::tie(found->family, found->left, found->right, found->strategy) != key)
      return nullptr;
   return operatorByOid(found->operatorOid);
}

const OperatorInfo* Builtins::comparisonOperator(Oid type, BtreeStrategy strategy) const {
   const auto found = defaultClass(btreeClasses_, type);
   return found ? btreeOperator(found->family, found->input, found->input, strategy) : nullptr;
}

const OperatorInfo* Builtins::equalityOperator(Oid type) const {
   if (const OperatorInfo* op = comparisonOperator(type, BtreeStrategy::Equal)) return op;
   const auto found = defaultClass(hashClasses_, type);
   if (!found) return nullptr;
   for (const FamilyMember& member : hashByFamily_)
      if (member.family == found->family && member.left == found->input && member.right == found->input)
         return operatorByOid(member.operatorOid);
   return nullptr;
}

const TextTable* Builtins::rows(std::string_view catalog) const {
   return parsedTable(catalog);
}

} // namespace ouzel::catalog
