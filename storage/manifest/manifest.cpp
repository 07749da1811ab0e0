#include "storage/manifest/manifest.hpp"

#include <cstdio>
#include <cstring>

#include "common/error/format_version.hpp"
#include "common/error/sql_error.hpp"
#include "io/crypto/sealed_object.hpp"
#include "io/object_store/trusted_read.hpp"
#include "storage/base/byte_codec.hpp"
#include "storage/base/definition_codec.hpp"
#include "storage/block/format.hpp"

namespace ouzel::storage {

namespace {

constexpr uint32_t manifestFormat = 2;
constexpr uint8_t cleanFlag = 1, completeFlag = 2;

struct Seal {
   char magic[8] = {'O', 'U', 'Z', 'E', 'L', 'O', 'B', 'J'}; // 0
   uint64_t size = 0;                                        // 8
   uint64_t checksum = 0;                                    // 16
};
static_assert(sizeof(Seal) == 24);

} // namespace

bool putSealed(io::ObjectStore& store, const std::string& name, std::string_view bytes) {
   Seal seal;
   seal.size = bytes.size();
   seal.checksum = checksumOf(bytes);
   const std::string_view parts[] = {{reinterpret_cast<const char*>(&seal), sizeof seal}, bytes};
   return store.put(name, parts, io::PutCondition::ifAbsent());
}

namespace {

std::string getSealedOnce(io::ObjectStore& store, const std::string& name) {
   std::optional<std::string> object = store.get(name);
   if (!object) throw SqlError(sqlstate::dataCorrupted, "missing object \"" + name + "\"");
   if (io::isSealedObject(*object))
      throw SqlError(sqlstate::invalidParameterValue, "the database is encrypted, and no key was given")
          .detail("Object \"" + name + "\" is encrypted.")
          .hint("Give its key with --encryption-key-file or in OUZEL_ENCRYPTION_KEY.");
   Seal seal;
   const bool isWhole = object->size() >= sizeof seal;
   if (isWhole) std::memcpy(&seal, object->data(), sizeof seal);
   const std::string_view bytes = isWhole ? std::string_view(*object).substr(sizeof seal) : std::string_view();
   if (!isWhole || std::memcmp(seal.magic, Seal{}.magic, sizeof seal.magic) != 0 || seal.size != bytes.size() ||
       seal.checksum != checksumOf(bytes))
      throw SqlError(sqlstate::dataCorrupted, "checksum mismatch in object \"" + name + "\"");
   object->erase(0, sizeof seal);
   return std::move(*object);
}

} // namespace

std::string getSealed(io::ObjectStore& store, const std::string& name) {
   return io::readTrusted(store, name, [&] { return getSealedOnce(store, name); });
}

std::string Manifest::objectName(uint64_t version) {
   char name[40];
   std::snprintf(name, sizeof name, "manifest/%016llx", static_cast<unsigned long long>(~version));
   return name;
}

std::optional<Manifest> Manifest::load(io::ObjectStore& store) {
   const auto newest = store.list("manifest/", 1);
   if (newest.empty()) return std::nullopt;
   return deserialize(getSealed(store, newest[0].name));
}

std::string Manifest::serialize() const {
   std::string bytes;
   ByteWriter out(bytes);
   out.varint(manifestFormat);
   out.varint(version);
   out.varint(epoch);
   out.fixed(logId);
   out.varint(replayLsn);
   out.fixed(static_cast<uint8_t>((isClean ? cleanFlag : 0) | (isComplete ? completeFlag : 0)));
   out.varint(lastCommit);
   out.varint(nextOid);
   out.varint(nextStorage);
   out.varint(nextSegment);
   out.string(catalogObject);
   out.varint(tables.size());
   for (const Table& table : tables) {
      out.varint(static_cast<uint64_t>(table.id));
      out.varint(table.columns.size());
      for (const ColumnDefinition& column : table.columns)
         writeColumnDefinition(column, bytes);
      out.string(table.listOfHeaders);
   }
   out.varint(counters.size());
   for (const auto& [id, counter] : counters)
      writeCounter(id, counter, bytes);
   return bytes;
}

Manifest Manifest::deserialize(std::string_view bytes) {
   ByteReader in(bytes);
   Manifest manifest;
   if (const uint64_t format = in.varint(); format != manifestFormat)
      throwUnknownFormat("The manifest", format, manifestFormat);
   manifest.version = in.varint();
   manifest.epoch = in.varint();
   manifest.logId = in.fixed<uint64_t>();
   manifest.replayLsn = in.varint();
   const auto flags = in.fixed<uint8_t>();
   manifest.isClean = (flags & cleanFlag) != 0;
   manifest.isComplete = (flags & completeFlag) != 0;
   manifest.lastCommit = in.varint();
   manifest.nextOid = static_cast<Oid>(in.varint());
   manifest.nextStorage = in.varint();
   manifest.nextSegment = in.varint();
   manifest.catalogObject = in.string();
   const size_t count = in.count();
   for (size_t i = 0; i < count; ++i) {
      Table table;
      table.id = static_cast<StorageId>(in.varint());
      const size_t columns = in.count();
      for (size_t column = 0; column < columns; ++column)
         table.columns.push_back(readColumnDefinition(in));
      table.listOfHeaders = in.string();
      manifest.tables.push_back(std::move(table));
   }
   for (size_t left = in.count(); left > 0; --left)
      manifest.counters.insert(readCounter(in));
   return manifest;
}

std::string ListOfHeaders::serialize() const {
   std::string bytes;
   ByteWriter out(bytes);
   out.varint(entries.size());
   for (const Entry& entry : entries) {
      out.varint(entry.segment);
      out.string(entry.blockObject);
      out.string(entry.headerObject);
      out.varint(entry.offset);
      out.varint(entry.size);
      out.fixed(entry.checksum);
   }
   out.string(deleteObject);
   return bytes;
}

ListOfHeaders ListOfHeaders::deserialize(std::string_view bytes) {
   ByteReader in(bytes);
   ListOfHeaders list;
   list.entries.resize(in.count());
   for (Entry& entry : list.entries) {
      entry.segment = in.varint();
      entry.blockObject = in.string();
      entry.headerObject = in.string();
      entry.offset = in.varint();
      entry.size = in.varint();
      entry.checksum = in.fixed<uint64_t>();
   }
   list.deleteObject = in.string();
   return list;
}

std::string DeletedRows::serialize() const {
   std::string bytes;
   ByteWriter out(bytes);
   out.varint(segments.size());
   for (const Segment& segment : segments) {
      out.varint(segment.id);
      out.varint(segment.rows.size());
      uint32_t previous = 0;
      for (const uint32_t row : segment.rows) {
         out.varint(row - previous);
         previous = row;
      }
   }
   return bytes;
}

DeletedRows DeletedRows::deserialize(std::string_view bytes) {
   ByteReader in(bytes);
   DeletedRows deleted;
   deleted.segments.resize(in.count());
   for (Segment& segment : deleted.segments) {
      segment.id = in.varint();
      segment.rows.resize(in.count());
      uint64_t row = 0;
      for (uint32_t& entry : segment.rows) {
         row += in.varint();
         if (row >= uint64_t{1} << rowIdBits) ByteReader::corrupted();
         entry = static_cast<uint32_t>(row);
      }
   }
   return deleted;
}

} // namespace ouzel::storage
