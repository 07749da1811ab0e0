#include "engine/session/portals.hpp"

#include <algorithm>

namespace ouzel::engine {

PortalDescription Portal::describe() const {
   if (cursor) return {true, cursor->columns(), formats};
   if (others) return {others->returnsRows, others->columns, formats};
   return {statement->description.returnsRows, statement->description.columns, formats};
}

Portal* Portals::find(std::string_view name) {
   const auto found = entries_.find(name);
   return found == entries_.end() ? nullptr : &found->second.portal;
}

Portal& Portals::add(std::string_view name, Portal portal, size_t level) {
   return entries_.insert_or_assign(std::string(name), Entry{std::move(portal), level}).first->second.portal;
}

void Portals::close(std::string_view name) {
   const auto found = entries_.find(name);
   if (found != entries_.end()) entries_.erase(found);
}

void Portals::clear() {
   std::erase_if(entries_, [](const auto& entry) { return !entry.second.portal.isRunning; });
}

RunningPortal::RunningPortal(Portals& portals, std::string_view name) : portals_(portals), name_(name) {
   Portal* portal = portals_.find(name_);
   if (!portal) return;
   if (portal->isRunning)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "portal \"" + name_ + "\" cannot be run");
   portal->isRunning = isSet_ = true;
}

RunningPortal::~RunningPortal() {
   Portal* portal = isSet_ ? portals_.find(name_) : nullptr; // null: the statement has ended it
   if (portal) portal->isRunning = false;
}

bool Portals::willHold() const {
   return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
      const Portal& portal = entry.second.portal;
      return portal.outlivesTransaction() && !portal.isFailed && portal.running();
   });
}

bool Portals::hasNewHoldable() const {
   return std::any_of(entries_.begin(), entries_.end(),
                      [](const auto& entry) { return entry.second.level && entry.second.portal.isHoldable; });
}

void Portals::hold() {
   std::erase_if(entries_, [](const auto& entry) {
      const Portal& portal = entry.second.portal;
      return entry.second.level && !portal.isRunning && (!portal.outlivesTransaction() || portal.isFailed);
   });
   for (auto& [name, entry] : entries_) {
      DCHECK(entry.portal.cursor != nullptr || entry.portal.isRunning);
      if (entry.portal.cursor) entry.portal.cursor->hold();
   }
}

void Portals::holdPinned() {
   for (auto& [name, entry] : entries_) {
      if (!entry.portal.isPinned || !entry.level) continue;
      entry.portal.cursor->hold();
      entry.level.reset();
   }
   std::erase_if(entries_, [](const auto& entry) { return entry.second.level && !entry.second.portal.isRunning; });
}

void Portals::committed() {
   for (auto& [name, entry] : entries_) {
      DCHECK(entry.portal.running() == nullptr);
      if (!entry.portal.isRunning) entry.level.reset();
   }
}

void Portals::endFrom(size_t level) {
   std::erase_if(entries_, [&](const auto& entry) { return entry.second.level && *entry.second.level >= level; });
}

void Portals::failFrom(size_t level) {
   for (auto& [name, entry] : entries_) {
      if (!entry.level || *entry.level < level) continue;
      Portal& portal = entry.portal;
      portal.isFailed = true;
      portal.parameters.clear();
      portal.memory = {};
      portal.execution.reset();
      portal.cursor.reset();
      portal.audited.reset();
      portal.counted.reset();
   }
}

void Portals::joinLevel(size_t level) {
   for (auto& [name, entry] : entries_)
      if (entry.level) entry.level = std::min(*entry.level, level);
}

bool Portals::read(Oid relation) const {
   return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
      const Portal& portal = entry.second.portal;
      const QueryExecution* query = portal.running();
      if (!query || portal.isFailed) return false;
      const std::vector<Oid>& relations = query->relations();
      return std::find(relations.begin(), relations.end(), relation) != relations.end();
   });
}

std::vector<catalog::SystemState::Cursor> Portals::list() const {
   std::vector<catalog::SystemState::Cursor> out;
   for (const auto& [name, entry] : entries_) {
      if (name.empty()) continue;
      const Portal& portal = entry.portal;
      catalog::SystemState::Cursor cursor;
      cursor.name = name;
      cursor.statement = portal.statement ? portal.statement->text : portal.text;
      cursor.isHoldable = portal.isHoldable;
      cursor.isScrollable = portal.isScrollable;
      cursor.isBinary = portal.isBinary;
      cursor.createdAt = portal.createdAt;
      out.push_back(std::move(cursor));
   }
   return out;
}

} // namespace ouzel::engine
