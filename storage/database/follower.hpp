#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/database/committer.hpp"
#include "storage/database/retired_segments.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

/// Makes the checkpoints of a writing process visible in this one, manifest by manifest. Each manifest is one commit
/// here, with a timestamp of this process: new segments exist from the timestamp on, segments that the manifest does
/// not name are retired at it, and newly deleted rows are deleted since. So a snapshot keeps seeing the manifest it was
/// taken from, as long as the objects exist. The writer does not know of followers, and removes objects that its newest
/// manifest does not need.
///
/// Threads: any; shownMutex_ is held while one manifest is brought in, and is the first lock taken.
/// Invariants:
/// 1. All objects are read before anything changes in memory, and the changes are visible when the timestamp is
///    published.
/// 2. Blocks and headers that are known are not read again: a segment's id never stands for other rows.
class Follower {
public:
   Follower(DatabaseFiles& files, StorageContext& context, TableRegistry& tables, Counters& counters,
            RetiredSegments& retired, Committer& committer)
      : files_(files), context_(context), tables_(tables), counters_(counters), retired_(retired),
        committer_(committer) {}
   Follower(const Follower&) = delete;
   Follower& operator=(const Follower&) = delete;

   // See Database.
   bool follow(const FollowCallback& publish);
   bool hasLostBlock() const { return hasLostBlock_.load(); }

private:
   struct Update;
   /// Read the manifest of this name and publish it.
   void followTo(const std::string& name, const FollowCallback& publish) REQUIRES(shownMutex_);
   bool isShown(const Manifest::Table& entry, const Table& table) const REQUIRES(shownMutex_);
   void read(Update& update) REQUIRES(shownMutex_);
   std::shared_ptr<Segment> makeSegment(const ListOfHeaders::Entry& entry, BlockHeader header) REQUIRES(shownMutex_);
   void apply(Update& update, Timestamp timestamp) REQUIRES(shownMutex_);
   void forgetDropped() REQUIRES(shownMutex_);

   // PROPERTIES
   DatabaseFiles& files_;
   StorageContext& context_;
   TableRegistry& tables_;
   Counters& counters_;
   RetiredSegments& retired_;
   Committer& committer_;
   // STATE
   std::atomic<bool> hasLostBlock_{false}; ///< the writer has removed a block that a snapshot needed

   Mutex shownMutex_;                       ///< guards the members below
   Manifest shown_ GUARDED_BY(shownMutex_); ///< the newest manifest that is visible; version 0: none yet
   /// The lists of headers of the tables in `shown_`.
   std::map<StorageId, std::string> listNames_ GUARDED_BY(shownMutex_);
   /// Tables that `shown_` does not name any more, each with the timestamp since which it does not.
   std::vector<std::pair<Timestamp, StorageId>> dropped_ GUARDED_BY(shownMutex_);
};

} // namespace ouzel::storage
