#include <map>

#include "catalog/editor/drop_plan.hpp"

// What falls with foreign-data wrappers and servers.

namespace ouzel::catalog {

void DropPlan::add(const ForeignWrapperPtr& wrapper, bool isCascaded, const std::string& reason) {
   for (const FallenForeign& fallen : foreign_)
      if (fallen.wrapper == wrapper) return;
   foreign_.push_back({wrapper, nullptr, describe(*wrapper), reason, isCascaded});
}

void DropPlan::add(const ServerPtr& server, bool isCascaded, const std::string& reason) {
   for (const FallenForeign& fallen : foreign_)
      if (fallen.server == server) return;
   foreign_.push_back({nullptr, server, describe(*server), reason, isCascaded});
   for (const ForeignServer::Mapping& mapping : server->mappings)
      foreign_.push_back(
          {nullptr, nullptr, describeMapping(editor_.snapshot(), *server, mapping.role), describe(*server), true});
}

void DropPlan::follow(const FallenForeign& fallen) {
   const std::string reason = fallen.description;
   const ForeignWrapperPtr wrapper = fallen.wrapper;
   const ServerPtr server = fallen.server;
   if (wrapper)
      for (const ServerPtr& own : editor_.snapshot().servers())
         if (own->wrapper == wrapper->oid) add(own, true, reason);
   if (server)
      for (const RelationPtr& relation : editor_.snapshot().relations())
         if (relation->foreign && relation->foreign->server == server->oid) addCascaded(relation, reason);
}

void DropPlan::addWrappersCalling(Oid function, const std::string& reason) {
   for (const ForeignWrapperPtr& wrapper : editor_.snapshot().wrappers())
      if (wrapper->handler == function || wrapper->validator == function) addCascaded(wrapper, reason);
}

void DropPlan::dropForeign(Dropped& dropped) {
   for (const FallenForeign& fallen : foreign_) {
      dropped.items.push_back({nullptr, fallen.description, fallen.isCascaded, !fallen.isCascaded});
      if (fallen.wrapper) editor_.removeWrapper(*fallen.wrapper);
      if (fallen.server) editor_.removeServer(*fallen.server);
   }
}

std::vector<DropPlan::Line> DropPlan::inTreeOrder(std::vector<Line> lines) const {
   if (foreign_.empty()) return lines;
   std::map<std::string, std::vector<size_t>> below; // by the description of what they depend on
   for (size_t i = 0; i < lines.size(); ++i)
      below[lines[i].reason].push_back(i);
   std::vector<Line> ordered;
   std::vector<bool> isPlaced(lines.size(), false);
   const auto place = [&](const auto& self, const std::string& reason) -> void {
      const auto found = below.find(reason);
      if (found == below.end()) return;
      for (const size_t i : found->second) {
         if (isPlaced[i]) continue;
         isPlaced[i] = true;
         ordered.push_back(lines[i]);
         self(self, lines[i].description);
      }
   };
   for (size_t i = foreign_.size(); i-- > 0;) // what was named last comes first
      if (!foreign_[i].isCascaded) place(place, foreign_[i].description);
   for (size_t i = 0; i < lines.size(); ++i) {
      if (isPlaced[i]) continue;
      isPlaced[i] = true;
      ordered.push_back(lines[i]);
      place(place, lines[i].description);
   }
   return ordered;
}

} // namespace ouzel::catalog
