#pragma once
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "catalog/object/function.hpp"
#include "sql/program/program.hpp"

namespace ouzel::engine {

/// What a session has compiled of a program (engine/program/compiled_text.hpp).
class CompiledProgram {
public:
   virtual ~CompiledProgram() = default;
};

/// The bodies of functions in PL/pgSQL that a session has parsed, for each list of types with which they were called.
/// One thread uses it.
class ProgramCache {
public:
   struct Loaded {
      std::shared_ptr<const sql::program::Program> program;
      std::shared_ptr<CompiledProgram> compiled;
   };
   /// The program; made by `load` when the function is new or was changed.
   const Loaded& find(const catalog::FunctionPtr& function, const std::vector<Oid>& types,
                      const std::function<Loaded()>& load) {
      constexpr size_t entriesMax = 500; // those of dropped functions among them
      if (entries_.size() >= entriesMax && !entries_.contains({function->oid, types})) entries_.clear();
      Entry& entry = entries_[{function->oid, types}];
      if (entry.function != function) {
         entry.loaded = load();
         entry.function = function;
      }
      return entry.loaded;
   }

private:
   struct Entry {
      catalog::FunctionPtr function; ///< the version that was parsed
      Loaded loaded;
   };
   std::map<std::pair<Oid, std::vector<Oid>>, Entry> entries_;
};

} // namespace ouzel::engine
