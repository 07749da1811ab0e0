#include "engine/core/notifications.hpp"

#include <catch2/catch.hpp>

using namespace ouzel;
using namespace ouzel::engine;

CATCH_TEST_CASE("messages reach the sessions of a database that listen, in order") {
   NotificationHub hub;
   const NotificationHub::Session a{1, 10, std::make_shared<NotificationQueue>()},
       b{1, 11, std::make_shared<NotificationQueue>()}, other{2, 12, std::make_shared<NotificationQueue>()};
   hub.listen(a, "c");
   hub.listen(a, "c");
   hub.listen(b, "c");
   hub.listen(b, "d");
   hub.listen(other, "c");
   CATCH_CHECK(hub.publish(1, {{9, "c", "1"}, {9, "d", "2"}, {9, "c", "3"}}) == std::set<int32_t>{10, 11});
   const auto texts = [](const NotificationHub::Session& session) {
      std::string all;
      for (const Notification& message : session.queue->take())
         all += message.channel + message.payload + " ";
      return all;
   };
   CATCH_CHECK(texts(a) == "c1 c3 ");
   CATCH_CHECK(texts(b) == "c1 d2 c3 ");
   CATCH_CHECK(other.queue->isEmpty());
   CATCH_CHECK(hub.channels(b) == std::vector<std::string>{"c", "d"});
   hub.unlisten(b, "c");
   hub.unlistenAll(a);
   CATCH_CHECK(hub.publish(1, {{9, "c", ""}}).empty());
   CATCH_CHECK(hub.channels(a).empty());
   CATCH_CHECK(hub.publish(2, {{9, "c", ""}}) == std::set<int32_t>{12});
}

CATCH_TEST_CASE("a transaction sends a message once, and forgets what a savepoint undoes") {
   PendingNotifications pending;
   pending.add(PendingNotifications::Step::Listen, "c");
   pending.notify({1, "c", "x"});
   pending.notify({1, "c", "x"});
   const auto mark = pending.mark();
   pending.notify({1, "c", "y"});
   pending.add(PendingNotifications::Step::UnlistenAll, {});
   pending.rollbackTo(mark);
   pending.notify({1, "c", "y"});
   CATCH_CHECK(pending.messages().size() == 2);
   CATCH_CHECK(pending.steps().size() == 1);
   pending.clear();
   CATCH_CHECK(pending.isEmpty());
   pending.notify({1, "c", "x"});
   CATCH_CHECK(pending.messages().size() == 1);
}
