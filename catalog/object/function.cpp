#include "catalog/object/function.hpp"

#include <algorithm>
#include <map>

#include "catalog/object/range_constructors.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::catalog {

std::vector<Oid> AggregateDefinition::functions() const {
   std::vector<Oid> all;
   for (const Oid oid :
        {transition, final, combine, serialize, deserialize, movingTransition, movingInverse, movingFinal})
      if (oid != invalidOid) all.push_back(oid);
   return all;
}

std::vector<Oid> FunctionDefinition::inputTypes() const {
   std::vector<Oid> types;
   for (const FunctionParameter& parameter : parameters)
      if (parameter.isInput()) types.push_back(parameter.type.named());
   return types;
}

size_t FunctionDefinition::inputCount() const {
   return static_cast<size_t>(
       std::count_if(parameters.begin(), parameters.end(), [](const auto& parameter) { return parameter.isInput(); }));
}

bool FunctionDefinition::hasOutputs() const {
   return std::any_of(parameters.begin(), parameters.end(), [](const auto& parameter) { return parameter.isOutput(); });
}

namespace {

Oid elementOfVariadic(Oid type) {
   switch (type) {
   case oid::any: return oid::any;
   case oid::anyarray: return oid::anyelement;
   case oid::anycompatiblearray: return oid::anycompatible;
   default: break;
   }
   const TypeInfo* array = builtins().type(type);
   return array != nullptr ? array->element : type & ~userArrayBit;
}

} // namespace

Function::Function(FunctionDefinition definition)
   : CatalogObject(ObjectKind::Function), FunctionDefinition(std::move(definition)) {
   bool hasNames = false, isPlain = true;
   for (const FunctionParameter& parameter : parameters) {
      if (parameter.isInput()) argTypes_.push_back(parameter.type.oid);
      allTypes_.push_back(parameter.type.oid);
      modes_ += parameter.mode;
      names_.push_back(parameter.name);
      if (!parameter.defaultExpr.empty()) defaults_.push_back(parameter.defaultExpr);
      hasNames = hasNames || !parameter.name.empty();
      isPlain = isPlain && parameter.mode == 'i';
   }
   if (!hasNames) names_.clear();
   info_.oid = oid;
   info_.name = name;
   info_.schema = schema;
   info_.kind = functionKind;
   info_.isStrict = isStrict && functionKind != FunctionKind::Window; // whose arguments are NULL, and which is called
   info_.returnsSet = returnsSet;
   info_.volatility = volatility;
   info_.returnType = returnType.oid;
   info_.argTypes = argTypes_;
   if (!isPlain) {
      info_.allArgTypes = allTypes_;
      info_.argModes = modes_;
   }
   info_.argNames = names_;
   info_.defaults = defaults_;
   const auto variadic =
       std::find_if(parameters.begin(), parameters.end(), [](const auto& p) { return p.mode == 'v'; });
   if (variadic != parameters.end()) info_.variadicElement = elementOfVariadic(variadic->type.oid);
   info_.source = source;
   info_.language = language;
   info_.cost = cost;
   info_.rows = rows;
}

std::string functionKey(std::string_view name, std::span<const Oid> inputTypes) {
   std::string key(name);
   key += '\0'; // no name has one: the functions of a name follow one another
   for (const Oid type : inputTypes)
      key += std::to_string(type) + ' ';
   return key;
}

namespace {

void append(std::vector<const FunctionInfo*>& found, const Snapshot& snapshot, Oid schema, std::string_view name) {
   if (schema == pgCatalogSchema || (schema < firstUserOid && schema != publicSchema))
      for (const FunctionInfo* builtin : builtins().functions(name))
         if (builtin->schema == schema) found.push_back(builtin);
   for (const FunctionPtr& function : snapshot.findFunctions(schema, name))
      found.push_back(&function->info());
}

} // namespace

std::vector<const FunctionInfo*> functionsNamed(const Snapshot& snapshot, const SearchPath& path,
                                                const QualifiedName& name) {
   std::vector<const FunctionInfo*> found;
   if (!name.schema.empty()) {
      const bool isAlias = name.schema == "pg_temp" && path.temporary != invalidOid;
      const SchemaPtr schema = isAlias ? snapshot.schema(path.temporary) : snapshot.findSchema(name.schema);
      if (!schema) return found;
      requirePrivilege(snapshot, path, *schema, privilege::usage, name.position);
      append(found, snapshot, schema->oid, name.name);
      return found;
   }
   for (const Oid schema : path.schemas)
      if (schema != path.temporary) // functions there need their schema
         append(found, snapshot, schema, name.name);
   return found;
}

const FunctionInfo* functionInfo(const Snapshot& snapshot, Oid oid) {
   if (oid < firstUserOid) return builtins().function(oid);
   const FunctionPtr found = snapshot.function(oid);
   return found ? &found->info() : rangeConstructor(snapshot, oid);
}

const AggregateDefinition* userAggregate(const Snapshot& snapshot, Oid oid) {
   if (oid < firstUserOid) return nullptr;
   const FunctionPtr found = snapshot.function(oid);
   return found && found->aggregate ? &*found->aggregate : nullptr;
}

std::optional<std::pair<AggregateKind, int16_t>> aggregateKind(const Snapshot& snapshot, Oid oid) {
   if (const AggregateInfo* builtin = builtins().aggregate(oid)) return std::pair(builtin->kind, builtin->directArgs);
   if (const AggregateDefinition* own = userAggregate(snapshot, oid)) return std::pair(own->kind, own->directArgs);
   return std::nullopt;
}

const FunctionInfo* lastingInfo(const FunctionPtr& function) {
   static Mutex mutex;
   static auto& kept = *new std::map<std::pair<Oid, std::string>, FunctionPtr>();
   std::string key = function->source + '/' + function->name + '/' + std::to_string(function->schema) +
                     static_cast<char>(function->volatility) + (function->isStrict ? 's' : 'n') +
                     std::to_string(function->cost) + '/' + std::to_string(function->rows);
   const MutexLock lock(mutex);
   return &kept.try_emplace({function->oid, std::move(key)}, function).first->second->info();
}

bool isVisible(const Snapshot& snapshot, const SearchPath& path, const FunctionInfo& function) {
   for (const FunctionInfo* found : functionsNamed(snapshot, path, QualifiedName::of(std::string(function.name))))
      if (std::ranges::equal(found->argTypes, function.argTypes)) return found->oid == function.oid;
   return rangeConstructor(snapshot, function.oid) != nullptr &&
          std::find(path.schemas.begin(), path.schemas.end(), function.schema) != path.schemas.end();
}

std::string displayName(const Snapshot& snapshot, const SearchPath& path, const FunctionInfo& function) {
   const SchemaPtr schema = isVisible(snapshot, path, function) ? nullptr : snapshot.schema(function.schema);
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + quoteIdentifier(function.name);
}

} // namespace ouzel::catalog
