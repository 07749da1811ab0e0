#include <algorithm>
#include <map>

#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/ordered_types.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "executor/expression/convert.hpp"
#include "executor/expression/node.hpp"
#include "sql/algebra/blanks.hpp"

// The compiler from Expr trees to a program's graph. It pushes negations down, converts operands to one representation,
// shares equal nodes, and assigns result buffers.

namespace ouzel::executor {

namespace {

using sql::CompareOp;
using sql::Expr;
using sql::ExprKind;
using sql::scalar::Compare;
using sql::scalar::InList;

bool isScaledNumeric(const SqlType& type, Representation repr) {
   return type.oid == oid::numeric && repr.physical != PhysicalType::Decimal;
}

/// Numbers that can be converted into each other: integers, scaled numerics, decimals.
bool isNumber(PhysicalType type) {
   return type == PhysicalType::I16 || type == PhysicalType::I32 || type == PhysicalType::I64 ||
          type == PhysicalType::I128 || type == PhysicalType::Decimal;
}

bool isTextLike(Oid type) {
   return type == oid::text || type == oid::varchar || type == oid::bpchar;
}

/// Nodes with equal fingerprints compute the same value. The fingerprint has every member except the node's place in
/// the graph.
std::string fingerprint(const Node& node) {
   std::string key;
   const auto put = [&key](const auto& value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
   put(node.op);
   put(node.type.oid);
   put(node.type.typmod);
   put(node.repr.physical);
   put(node.repr.scale);
   put(node.slot);
   put(node.compare);
   put(node.negated);
   put(node.explicitCast);
   put(node.function);
   put(node.kernel.kernel);
   for (const uint32_t arg : node.args)
      put(arg);
   if (node.op == Op::Constant) {
      put(node.valueValidity);
      if (isVariableSize(node.repr.physical)) {
         key.append(node.bytes);
      } else {
         put(node.value);
      }
   }
   if (node.set) key.append(node.set->fingerprint());
   return key;
}

class Compiler {
public:
   Compiler(ExpressionProgram::Code& code, const ColumnSlots& slots, const sql::ColumnTable& columns)
      : code_(code), slots_(slots), columns_(columns) {}

   void addRoot(const Expr& expr) { code_.roots.push_back(compile(expr)); }
   void addRoot(uint32_t node) { code_.roots.push_back(node); }
   uint32_t compile(const Expr& expr);
   uint32_t conjunction(std::span<const sql::ExprPtr> predicates);
   void finish();

private:
   /// The number of slots that a node reads, and the slot if there is only one.
   struct Reads {
      uint32_t count = 0; ///< 0, 1, or 2 for several
      uint32_t slot = 0;
   };

   Node& node(uint32_t index) { return *code_.nodes[index]; }
   static std::unique_ptr<Node> make(Op op, const SqlType& type, Representation repr, std::vector<uint32_t> args = {});
   static std::unique_ptr<Node> makeBoolean(Op op, std::vector<uint32_t> args) {
      return make(op, {oid::boolean, -1, 0}, {PhysicalType::Bool, 0}, std::move(args));
   }
   uint32_t add(std::unique_ptr<Node> node, bool isOwnTotal = true);

   uint32_t compileNode(const Expr& expr);
   uint32_t compileColumn(const Expr& expr);
   uint32_t constant(const SqlType& type, Representation repr, const Value& value);
   uint32_t compileNot(const Expr& arg);
   uint32_t compare(CompareOp op, uint32_t a, uint32_t b);
   uint32_t compareOrdered(CompareOp op, uint32_t a, uint32_t b);
   uint32_t compareQuotient(CompareOp op, uint32_t quotient, uint32_t bound);
   uint32_t orderKey(uint32_t value);
   uint32_t connective(Op op, std::vector<uint32_t> args);
   uint32_t compileInList(const Expr& expr, bool negated);
   uint32_t inValues(uint32_t lhs, std::span<const Expr* const> items, bool negated);
   uint32_t compileCall(const Expr& expr);
   uint32_t call(const Expr& expr, std::vector<uint32_t> args);
   uint32_t compileAnyArray(const Expr& expr);
   uint32_t convert(uint32_t arg, Representation repr) { return convert(arg, repr, node(arg).type); }
   uint32_t convert(uint32_t arg, Representation repr, SqlType type);
   void unify(uint32_t& a, uint32_t& b);
   uint32_t asDecimal(uint32_t arg);
   void assignBuffers(uint32_t index, bool isPinned, std::vector<uint32_t>& held);
   uint32_t takeBuffer(uint32_t valueSize, bool isPinned);

   ExpressionProgram::Code& code_;
   const ColumnSlots& slots_;
   const sql::ColumnTable& columns_;
   std::map<std::string, uint32_t> known_;
   std::vector<Reads> reads_;
   std::vector<uint32_t> freeBuffers_;
   std::vector<bool> assigned_;
   const Expr* compiled_ = nullptr; ///< the innermost expression that is being compiled
   bool isOfProgram_ = false;       ///< it, or one around it, has an origin
};

std::unique_ptr<Node> Compiler::make(Op op, const SqlType& type, Representation repr, std::vector<uint32_t> args) {
   auto result = std::make_unique<Node>();
   result->op = op;
   result->type = type;
   result->repr = repr;
   result->args = std::move(args);
   return result;
}

uint32_t Compiler::add(std::unique_ptr<Node> added, bool isOwnTotal) {
   Reads reads;
   if (added->op == Op::Column) reads = {1, added->slot};
   added->isTotal = isOwnTotal;
   if (!isOwnTotal && isOfProgram_) {
      added->isTraced = true;
      added->origin = compiled_->origin;
   }
   for (const uint32_t arg : added->args) {
      added->isTotal &= node(arg).isTotal;
      added->isVolatile |= node(arg).isVolatile;
      const Reads& below = reads_[arg];
      if (below.count == 0) continue;
      if (reads.count == 0) {
         reads = below;
      } else if (below.count > 1 || below.slot != reads.slot) {
         reads.count = 2;
      }
   }
   if (added->isVolatile) added->isTotal = false;
   added->isInvariant = reads.count == 0 && !added->isVolatile && added->op != Op::Constant;
   if (added->isTotal && reads.count == 1 && added->op != Op::Column && added->op != Op::Relabel)
      added->dictionarySlot = reads.slot;
   if (!added->isVolatile) { // volatile calls are not shared
      const auto [it, isNew] = known_.emplace(fingerprint(*added), static_cast<uint32_t>(code_.nodes.size()));
      if (!isNew) return it->second;
   }
   code_.nodes.push_back(std::move(added));
   reads_.push_back(reads);
   return static_cast<uint32_t>(code_.nodes.size() - 1);
}

uint32_t Compiler::compileColumn(const Expr& expr) {
   const std::optional<uint32_t> slot = slots_.find(columnOf(expr));
   if (!slot) throwInternal("expression reads a column that its input does not have");
   const Representation flowing = columns_[columnOf(expr)].repr;
   auto column = make(Op::Column, expr.type, flowing);
   column->slot = *slot;
   return convert(add(std::move(column)), expr.repr);
}

uint32_t Compiler::constant(const SqlType& type, Representation repr, const Value& value) {
   auto result = make(Op::Constant, type, repr);
   if (value.isNull) {
      result->valueValidity = 0;
   } else if (isVariableSize(repr.physical)) {
      result->bytes = value.bytes;
      const StringView view(result->bytes, StringView::Storage::Permanent);
      std::memcpy(result->value.data(), &view, sizeof view);
   } else {
      value.store(result->value.data());
   }
   return add(std::move(result));
}

/// Convert to `repr`. `type` is the type of the result: lowering turns casts to numeric(p, s) into conversions.
uint32_t Compiler::convert(uint32_t arg, Representation repr, SqlType type) {
   const Node& source = node(arg);
   if (source.repr == repr) return arg;
   if (source.op == Op::Constant && (source.valueValidity & 1) == 0)
      return constant(type, repr, Value::null(repr.physical));
   const bool isTotal = conversionIsTotal(source.repr, repr);
   auto result = make(Op::Convert, type, repr, {arg});
   result->argReprs = {source.repr};
   return add(std::move(result), isTotal);
}

uint32_t Compiler::asDecimal(uint32_t arg) {
   return isScaledNumeric(node(arg).type, node(arg).repr) ? convert(arg, {PhysicalType::Decimal, 0}) : arg;
}

/// Convert two operands of a comparison to one representation, if lowering has not done that.
void Compiler::unify(uint32_t& a, uint32_t& b) {
   const Representation ra = node(a).repr, rb = node(b).repr;
   if (ra == rb) return;
   const auto tryConstant = [this](uint32_t& operand, Representation target) {
      const Node& source = node(operand);
      if (source.op != Op::Constant) return false;
      const std::optional<Value> exact =
          convertExactly(Value::fromVector(source.constantVector(), 0), source.repr, target);
      if (exact) operand = constant(source.type, target, *exact);
      return exact.has_value();
   };
   const bool isNumeric = node(a).type.oid == oid::numeric || node(b).type.oid == oid::numeric;
   if (isNumeric) {
      if (rb.physical != PhysicalType::Decimal && tryConstant(a, rb)) return;
      if (ra.physical != PhysicalType::Decimal && tryConstant(b, ra)) return;
      a = convert(a, {PhysicalType::Decimal, 0});
      b = convert(b, {PhysicalType::Decimal, 0});
      return;
   }
   const Representation wider = physicalSize(ra.physical) >= physicalSize(rb.physical) ? ra : rb;
   a = convert(a, wider);
   b = convert(b, wider);
}

/// As the names of kernels end. REQUIRES: op does not compare NULLs.
std::string_view operatorName(CompareOp op) {
   static constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
   static_assert(static_cast<int>(CompareOp::Ge) == 5);
   return names[static_cast<size_t>(op)];
}

/// The kernel that compares two values of a type with order keys.
const KernelEntry& orderedComparison(CompareOp op, Oid type) {
   const char* family = type == oid::jsonb         ? "jsonb_"
                        : findRangeType(type)      ? "range_"
                        : findMultirangeType(type) ? "multirange_"
                        : type == oid::cube        ? "cube/cube_"
                        : type == oid::tsquery     ? "tsquery_"
                                                   : "array_";
   const std::string name = family + std::string(operatorName(op));
   const std::array<Representation, 2> strings{{{PhysicalType::String, 0}, {PhysicalType::String, 0}}};
   return *findKernel(name, strings);
}

/// Compare arrays or jsonb with a kernel: the order of their bytes means nothing.
uint32_t Compiler::compareOrdered(CompareOp op, uint32_t a, uint32_t b) {
   auto result = makeBoolean(Op::Call, {a, b});
   result->argTypes = {node(a).type, node(b).type};
   result->argReprs = {node(a).repr, node(b).repr};
   result->kernel = orderedComparison(op, node(a).type.oid);
   return add(std::move(result), true);
}

/// Bytes that are equal where the values are.
uint32_t Compiler::orderKey(uint32_t value) {
   auto result = make(Op::Call, {oid::bytea, -1, invalidOid}, {PhysicalType::String, 0}, {value});
   result->argTypes = {node(value).type};
   result->argReprs = {node(value).repr};
   result->kernel = *findKernel("ouzel_order_key", result->argReprs);
   return add(std::move(result), false);
}

/// A value that is the same for all rows.
bool isOneValue(const Node& node) {
   return node.op == Op::Constant || node.isInvariant;
}

bool isDecimalQuotient(const Node& node) {
   static constexpr std::array<Representation, 2> decimals{{{PhysicalType::Decimal, 0}, {PhysicalType::Decimal, 0}}};
   static const KernelEntry& division = *findKernel("numeric_div", decimals);
   return node.op == Op::Call && node.kernel.kernel == division.kernel;
}

/// Compare a quotient of decimals with one value: most quotients need not be computed.
uint32_t Compiler::compareQuotient(CompareOp op, uint32_t quotient, uint32_t bound) {
   const Node& division = node(quotient);
   auto result = makeBoolean(Op::Call, {division.args[0], division.args[1], bound});
   result->argTypes = {division.argTypes[0], division.argTypes[1], node(bound).type};
   result->argReprs = {division.argReprs[0], division.argReprs[1], node(bound).repr};
   result->kernel = *findKernel("ouzel_quotient_" + std::string(operatorName(op)), result->argReprs);
   return add(std::move(result), false);
}

uint32_t Compiler::compare(CompareOp op, uint32_t a, uint32_t b) {
   if (catalog::hasOrderKey(node(a).type.oid)) {
      if (op <= CompareOp::Ge) return compareOrdered(op, a, b);
      a = orderKey(a);
      b = orderKey(b);
   }
   unify(a, b);
   if (!isNullSafe(op) && isDecimalQuotient(node(a)) && isOneValue(node(b))) return compareQuotient(op, a, b);
   auto result = makeBoolean(Op::Compare, {a, b});
   result->compare = op;
   return add(std::move(result));
}

uint32_t Compiler::connective(Op op, std::vector<uint32_t> args) {
   std::vector<uint32_t> flat;
   for (const uint32_t arg : args) {
      if (node(arg).op == op) {
         flat.insert(flat.end(), node(arg).args.begin(), node(arg).args.end());
      } else {
         flat.push_back(arg);
      }
   }
   return flat.size() == 1 ? flat[0] : add(makeBoolean(op, std::move(flat)));
}

uint32_t Compiler::conjunction(std::span<const sql::ExprPtr> predicates) {
   if (predicates.empty()) return constant({oid::boolean, -1, 0}, {PhysicalType::Bool, 0}, Value::boolean(true));
   std::vector<uint32_t> args;
   for (const sql::ExprPtr& predicate : predicates)
      args.push_back(compile(*predicate));
   return connective(Op::And, std::move(args));
}

/// Compile NOT arg, with the NOT pushed down as far as possible: a comparison can then be evaluated as a selection.
uint32_t Compiler::compileNot(const Expr& arg) {
   switch (arg.kind) {
   case ExprKind::Not: return compile(*arg.args[0]);
   case ExprKind::Compare:
      return compare(sql::negated(arg.as<Compare>().op), compile(*arg.args[0]), compile(*arg.args[1]));
   case ExprKind::And:
   case ExprKind::Or: {
      std::vector<uint32_t> args;
      for (const sql::ExprPtr& inner : arg.args)
         args.push_back(compileNot(*inner));
      return connective(arg.kind == ExprKind::And ? Op::Or : Op::And, std::move(args));
   }
   case ExprKind::IsNull: return add(makeBoolean(Op::IsNotNull, {compile(*arg.args[0])}));
   case ExprKind::IsNotNull: return add(makeBoolean(Op::IsNull, {compile(*arg.args[0])}));
   case ExprKind::IsTrue: return add(makeBoolean(Op::IsNotTrue, {compile(*arg.args[0])}));
   case ExprKind::IsNotTrue: return add(makeBoolean(Op::IsTrue, {compile(*arg.args[0])}));
   case ExprKind::IsFalse: return add(makeBoolean(Op::IsNotFalse, {compile(*arg.args[0])}));
   case ExprKind::IsNotFalse: return add(makeBoolean(Op::IsFalse, {compile(*arg.args[0])}));
   case ExprKind::InList: return compileInList(arg, !arg.as<InList>().negated);
   default: return add(makeBoolean(Op::Not, {compile(arg)}));
   }
}

uint32_t Compiler::inValues(uint32_t lhs, std::span<const Expr* const> items, bool negated) {
   const Representation repr = node(lhs).repr;
   const bool isOrdered = catalog::hasOrderKey(node(lhs).type.oid); // a set compares bytes
   std::vector<Value> values;
   std::vector<uint32_t> terms;
   for (const Expr* item : items) {
      const Expr* leaf = item;
      while (leaf->kind == ExprKind::Convert || leaf->kind == ExprKind::Relabel)
         leaf = leaf->args[0].get();
      const auto* constant = leaf->getIf<sql::scalar::Constant>();
      const bool isExact = leaf->repr.physical == repr.physical ||
                           (isNumber(leaf->repr.physical) && isNumber(repr.physical)) || isNullConstant(*leaf);
      if (constant && isExact && !isOrdered) {
         // A constant that the column's representation cannot hold equals none of its values, so it is left out.
         if (std::optional<Value> value = convertExactly(constant->value, leaf->repr, repr))
            values.push_back(std::move(*value));
      } else {
         terms.push_back(compare(negated ? CompareOp::Ne : CompareOp::Eq, lhs, compile(*item)));
      }
   }
   if (!values.empty() || terms.empty()) {
      auto set = makeBoolean(Op::InSet, {lhs});
      set->set = std::make_unique<ConstantSet>(repr.physical, values);
      set->negated = negated;
      terms.insert(terms.begin(), add(std::move(set)));
   }
   return connective(negated ? Op::And : Op::Or, std::move(terms));
}

uint32_t Compiler::compileInList(const Expr& expr, bool negated) {
   std::vector<const Expr*> items;
   for (size_t i = 1; i < expr.args.size(); ++i)
      items.push_back(expr.args[i].get());
   return inValues(compile(*expr.args[0]), items, negated);
}

[[noreturn]] void throwNoKernel(const catalog::FunctionInfo& function) {
   std::string text = "function " + std::string(function.name) + "(";
   for (size_t i = 0; i < function.argTypes.size(); ++i)
      text.append(i > 0 ? ", " : "").append(catalog::builtins().type(function.argTypes[i])->name);
   throwNotSupported(text + ")");
}

/// The name under which the function's kernel is registered: the prosrc. Functions that PostgreSQL writes in SQL are
/// registered by name.
std::string kernelKey(const catalog::FunctionInfo& function) {
   constexpr Oid languageSql = 14;
   return function.language == languageSql ? "sql:" + std::string(function.name) : std::string(function.source);
}

uint32_t Compiler::call(const Expr& expr, std::vector<uint32_t> args) {
   const catalog::FunctionInfo& function = *functionOf(expr);
   const std::string key = kernelKey(function);
   // Without a scaled result the kernel is that for decimals.
   if (!isScaledNumeric(expr.type, expr.repr))
      for (uint32_t& arg : args)
         arg = asDecimal(arg);
   std::vector<SqlType> types;
   std::vector<Representation> reprs;
   for (const uint32_t arg : args) {
      types.push_back(node(arg).type);
      reprs.push_back(node(arg).repr);
   }
   const KernelEntry* entry = findKernel(key, reprs);
   if (!entry) throwNoKernel(function);
   auto result = make(Op::Call, expr.type, expr.repr, std::move(args));
   result->kernel = *entry;
   result->function = function.oid;
   result->argTypes = std::move(types);
   result->argReprs = std::move(reprs);
   result->isVolatile = function.volatility == catalog::Volatility::Volatile;
   return add(std::move(result), entry->total || !sql::mayFail(expr));
}

uint32_t Compiler::compileCall(const Expr& expr) {
   std::vector<uint32_t> args;
   for (const sql::ExprPtr& arg : expr.args)
      args.push_back(compile(*arg));
   return call(expr, std::move(args));
}

/// Compile lhs op ANY (array). With constant elements it becomes a set or comparisons, else it is evaluated row by row.
uint32_t Compiler::compileAnyArray(const Expr& expr) {
   const auto& [op, isAll, function] = expr.as<sql::scalar::AnyArray>();
   uint32_t lhs = compile(*expr.args[0]);
   const Expr& array = *expr.args[1];
   const bool isEquality = !function && op == (isAll ? CompareOp::Ne : CompareOp::Eq);
   // Over no elements ANY is false and ALL is true even for NULL, unlike a set or a comparison.
   const bool hasElements = !array.args.empty();
   const bool hasInnerArrays = hasElements && array.args[0]->type.oid == array.type.oid;
   if (array.kind == ExprKind::Array && !function && hasElements && !hasInnerArrays) {
      std::vector<sql::ExprPtr> owned;
      std::vector<const Expr*> items;
      for (const sql::ExprPtr& item : array.args) {
         const bool hasBlanks = keepsBlanks(item->type);
         if (hasBlanks) owned.push_back(sql::withoutBlanks(sql::clone(*item)));
         items.push_back(hasBlanks ? owned.back().get() : item.get());
      }
      if (isEquality) return inValues(lhs, items, isAll);
      std::vector<uint32_t> terms;
      for (const Expr* item : items)
         terms.push_back(compare(op, lhs, compile(*item)));
      return connective(isAll ? Op::And : Op::Or, std::move(terms));
   }
   if (const Value* known = knownValue(array); known && isEquality) {
      const ArrayValue elements = readArray(known->bytes);
      std::vector<sql::ExprPtr> owned;
      std::vector<const Expr*> items;
      for (const Value& element : elements.elements) {
         owned.push_back(sql::withoutBlanks(sql::makeConstant({elements.elementType, -1, 0}, element)));
         owned.back()->repr = {elements.physical, 0};
         items.push_back(owned.back().get());
      }
      const bool isComparable =
          elements.physical == node(lhs).repr.physical || isScaledNumeric(node(lhs).type, node(lhs).repr);
      if (isComparable && !items.empty()) return inValues(lhs, items, isAll);
   }
   lhs = asDecimal(lhs);
   const uint32_t rhs = compile(array);
   if (const catalog::TypeInfo* type = catalog::builtins().type(array.type.oid); type && type->isArray()) {
      const PhysicalType element = arrayElementPhysical(type->element);
      if (isNumber(element) && isNumber(node(lhs).repr.physical) &&
          physicalSize(element) > physicalSize(node(lhs).repr.physical))
         lhs = convert(lhs, {element, 0});
   }
   auto result = makeBoolean(Op::AnyArray, {lhs, rhs});
   result->compare = op;
   result->negated = isAll;
   result->argTypes = {node(lhs).type, node(rhs).type};
   result->argReprs = {node(lhs).repr, node(rhs).repr};
   bool isTotal = true;
   if (!function && node(lhs).type.oid == oid::jsonb) result->kernel = orderedComparison(op, oid::jsonb);
   if (function) {
      const std::string key = kernelKey(*function);
      const std::array<Representation, 2> reprs = {node(lhs).repr, node(lhs).repr};
      const KernelEntry* entry = findKernel(key, reprs);
      if (!entry) throwNoKernel(*function);
      result->kernel = *entry;
      result->function = function->oid;
      isTotal = entry->total;
   }
   return add(std::move(result), isTotal);
}

uint32_t Compiler::compile(const Expr& expr) {
   checkStack();
   const bool wasOfProgram = isOfProgram_;
   isOfProgram_ = isOfProgram_ || expr.origin;
   const Expr* const outer = std::exchange(compiled_, &expr);
   const uint32_t node = compileNode(expr);
   compiled_ = outer;
   isOfProgram_ = wasOfProgram;
   return node;
}

uint32_t Compiler::compileNode(const Expr& expr) {
   const auto compileArgs = [&] {
      std::vector<uint32_t> args;
      for (const sql::ExprPtr& arg : expr.args)
         args.push_back(compile(*arg));
      return args;
   };
   const auto test = [&](Op op) { return add(makeBoolean(op, compileArgs())); };
   switch (expr.kind) {
   case ExprKind::Column: return compileColumn(expr);
   case ExprKind::Constant: return constant(expr.type, expr.repr, expr.as<sql::scalar::Constant>().value);
   case ExprKind::Compare: {
      const uint32_t lhs = compile(*expr.args[0]); // C++ does not define the order of arguments
      return compare(expr.as<Compare>().op, lhs, compile(*expr.args[1]));
   }
   case ExprKind::And: return connective(Op::And, compileArgs());
   case ExprKind::Or: return connective(Op::Or, compileArgs());
   case ExprKind::Not: return compileNot(*expr.args[0]);
   case ExprKind::IsNull: return test(Op::IsNull);
   case ExprKind::IsNotNull: return test(Op::IsNotNull);
   case ExprKind::IsTrue: return test(Op::IsTrue);
   case ExprKind::IsNotTrue: return test(Op::IsNotTrue);
   case ExprKind::IsFalse: return test(Op::IsFalse);
   case ExprKind::IsNotFalse: return test(Op::IsNotFalse);
   case ExprKind::Case: {
      std::vector<uint32_t> args = compileArgs();
      for (size_t i = 0; i < args.size(); ++i)
         if (i % 2 == 1 || i + 1 == args.size()) args[i] = convert(args[i], expr.repr);
      return add(make(Op::Case, expr.type, expr.repr, std::move(args)));
   }
   case ExprKind::Coalesce: {
      std::vector<uint32_t> args = compileArgs();
      for (uint32_t& arg : args)
         arg = convert(arg, expr.repr);
      return add(make(Op::Coalesce, expr.type, expr.repr, std::move(args)));
   }
   case ExprKind::InList: return compileInList(expr, expr.as<InList>().negated);
   case ExprKind::Call: return compileCall(expr);
   case ExprKind::Relabel: {
      const uint32_t arg = compile(*expr.args[0]);
      if (node(arg).repr.physical != expr.repr.physical) {
         auto result = make(Op::Convert, expr.type, expr.repr, {arg}); // int4 and oid have different widths
         result->argReprs = {node(arg).repr};
         return add(std::move(result), conversionIsTotal(node(arg).repr, expr.repr));
      }
      return add(make(Op::Relabel, expr.type, expr.repr, {arg}));
   }
   case ExprKind::Convert: return convert(compile(*expr.args[0]), expr.repr, expr.type);
   case ExprKind::TextCast: {
      const uint32_t arg = compile(*expr.args[0]);
      auto result = make(Op::TextCast, expr.type, expr.repr, {arg});
      result->argTypes = {node(arg).type};
      result->argReprs = {node(arg).repr};
      return add(std::move(result), isTextLike(expr.type.oid) && expr.type.typmod < 0);
   }
   case ExprKind::TypmodCast: {
      const uint32_t arg = compile(*expr.args[0]);
      auto result = make(Op::TypmodCast, expr.type, expr.repr, {arg});
      result->explicitCast = expr.as<sql::scalar::TypmodCast>().isExplicit;
      result->argReprs = {node(arg).repr};
      const bool isTotal = result->explicitCast && isTextLike(expr.type.oid);
      return add(std::move(result), isTotal);
   }
   case ExprKind::Array: {
      std::vector<uint32_t> args = compileArgs();
      for (uint32_t& arg : args)
         arg = asDecimal(arg);
      auto result = make(Op::Array, expr.type, expr.repr, std::move(args));
      if (!catalog::builtins().isArray(expr.type.oid)) throwNotSupported("ARRAY of this type");
      result->elementType = arrayElementType(expr.type.oid);
      return add(std::move(result), false);
   }
   case ExprKind::SubscriptRef: {
      Representation element = expr.repr;
      if (isScaledNumeric(expr.type, expr.repr)) element = {PhysicalType::Decimal, 0};
      return convert(add(make(Op::Subscript, expr.type, element, compileArgs())), expr.repr);
   }
   case ExprKind::AnyArray: return compileAnyArray(expr);
   case ExprKind::Parameter: throwInternal("a parameter without a value");
   default: throwInternal("an expression that should be gone before execution");
   }
}

// ---- result buffers: assigned in the order of evaluation, and reused once the value has been consumed ----

uint32_t Compiler::takeBuffer(uint32_t valueSize, bool isPinned) {
   if (!isPinned) {
      const auto it = std::find_if(freeBuffers_.begin(), freeBuffers_.end(),
                                   [&](uint32_t buffer) { return code_.bufferValueSizes[buffer] == valueSize; });
      if (it != freeBuffers_.end()) {
         const uint32_t buffer = *it;
         freeBuffers_.erase(it);
         return buffer;
      }
   }
   code_.bufferValueSizes.push_back(valueSize);
   return static_cast<uint32_t>(code_.bufferValueSizes.size() - 1);
}

/// Assigns buffers to the node and the nodes below. Adds to `held` the buffers in which the node's value may lie; the
/// consumer of the value makes them free. Buffers of a shared node and of all nodes below are pinned: no other node
/// uses them, before or after, since the order in which shared nodes and conjuncts are evaluated is known at run time
/// only.
void Compiler::assignBuffers(uint32_t index, bool isPinned, std::vector<uint32_t>& held) {
   Node& n = node(index);
   if (assigned_[index] || n.op == Op::Column || n.op == Op::Constant) return;
   assigned_[index] = true;
   isPinned |= n.uses > 1;
   const bool passesThrough = n.op == Op::Case || n.op == Op::Coalesce || n.op == Op::Relabel;
   const bool isLazy = passesThrough || n.op == Op::And || n.op == Op::Or;
   const uint32_t valueSize = physicalSize(n.repr.physical);
   if (isLazy && n.op != Op::Relabel) n.buffer = takeBuffer(valueSize, isPinned);
   std::vector<uint32_t> consumed;
   for (size_t i = 0; i < n.args.size(); ++i) {
      const bool isCondition = n.op == Op::Case && i % 2 == 0 && i + 1 < n.args.size();
      std::vector<uint32_t> below;
      assignBuffers(n.args[i], isPinned, below);
      std::vector<uint32_t>& target = passesThrough && !isCondition ? held : isLazy ? freeBuffers_ : consumed;
      target.insert(target.end(), below.begin(), below.end());
   }
   if (!isLazy) n.buffer = takeBuffer(valueSize, isPinned);
   if (n.buffer != noBuffer) held.push_back(n.buffer);
   freeBuffers_.insert(freeBuffers_.end(), consumed.begin(), consumed.end());
   if (isPinned) held.clear(); // pinned buffers never become free
}

void Compiler::finish() {
   for (const auto& n : code_.nodes)
      for (const uint32_t arg : n->args)
         ++node(arg).uses;
   for (const uint32_t root : code_.roots)
      ++node(root).uses;
   assigned_.resize(code_.nodes.size());
   for (const uint32_t root : code_.roots) {
      std::vector<uint32_t> held;
      assignBuffers(root, false, held); // a root's buffers never become free: all roots' values live at once
   }
}

} // namespace

std::shared_ptr<const ExpressionProgram> ExpressionProgram::compile(const Expr& expr, const ColumnSlots& slots,
                                                                    const sql::ColumnTable& columns) {
   const Expr* one = &expr;
   return compile(std::span(&one, 1), slots, columns);
}

std::shared_ptr<const ExpressionProgram> ExpressionProgram::compile(std::span<const Expr* const> exprs,
                                                                    const ColumnSlots& slots,
                                                                    const sql::ColumnTable& columns) {
   auto code = std::make_unique<Code>();
   Compiler compiler(*code, slots, columns);
   for (const Expr* expr : exprs)
      compiler.addRoot(*expr);
   compiler.finish();
   return std::make_shared<const ExpressionProgram>(std::move(code));
}

std::shared_ptr<const ExpressionProgram> ExpressionProgram::compileConjunction(std::span<const sql::ExprPtr> predicates,
                                                                               const ColumnSlots& slots,
                                                                               const sql::ColumnTable& columns) {
   auto code = std::make_unique<Code>();
   Compiler compiler(*code, slots, columns);
   compiler.addRoot(compiler.conjunction(predicates));
   compiler.finish();
   return std::make_shared<const ExpressionProgram>(std::move(code));
}

} // namespace ouzel::executor
