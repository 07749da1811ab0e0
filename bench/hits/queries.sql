-- The 43 questions that ClickBench asks of its table, in its order. A word in braces is a parameter (workload.py): a threshold or an offset
-- that ClickBench chose for 100 million rows, or a value that the generator made. "key" names the columns of the result that ORDER BY orders by.
-- 1
select count(*) from hits;
-- 2
select count(*) from hits where advengineid <> 0;
-- 3
select sum(advengineid), count(*), avg(resolutionwidth) from hits;
-- 4
select avg(userid) from hits;
-- 5
select count(distinct userid) from hits;
-- 6
select count(distinct searchphrase) from hits;
-- 7
select min(eventdate), max(eventdate) from hits;
-- 8
select advengineid, count(*) from hits where advengineid <> 0 group by 1 order by 2 desc;
-- 9 key 2
select regionid, count(distinct userid) as users from hits group by regionid order by users desc limit 10;
-- 10 key 3
select regionid, sum(advengineid), count(*) as views, avg(resolutionwidth), count(distinct userid)
from hits group by regionid order by views desc limit 10;
-- 11 key 2
select mobilephonemodel, count(distinct userid) as users
from hits where mobilephonemodel <> '' group by mobilephonemodel order by users desc limit 10;
-- 12 key 3
select mobilephone, mobilephonemodel, count(distinct userid) as users
from hits where mobilephonemodel <> '' group by mobilephone, mobilephonemodel order by users desc limit 10;
-- 13 key 2
select searchphrase, count(*) as views from hits where searchphrase <> '' group by searchphrase order by views desc limit 10;
-- 14 key 2
select searchphrase, count(distinct userid) as users from hits where searchphrase <> '' group by searchphrase order by users desc limit 10;
-- 15 key 3
select searchengineid, searchphrase, count(*) as views
from hits where searchphrase <> '' group by searchengineid, searchphrase order by views desc limit 10;
-- 16 key 2
select userid, count(*) as views from hits group by userid order by views desc limit 10;
-- 17 key 3
select userid, searchphrase, count(*) as views from hits group by userid, searchphrase order by views desc limit 10;
-- 18
select userid, searchphrase, count(*) as views from hits group by userid, searchphrase limit 10;
-- 19 key 4
select userid, extract(minute from eventtime) as minute_of_hour, searchphrase, count(*) as views
from hits group by userid, minute_of_hour, searchphrase order by views desc limit 10;
-- 20
select userid from hits where userid = {userid};
-- 21
select count(*) from hits where url like '%google%';
-- 22 key 3
select searchphrase, min(url), count(*) as views
from hits where url like '%google%' and searchphrase <> '' group by searchphrase order by views desc limit 10;
-- 23 key 4
select searchphrase, min(url), min(title), count(*) as views, count(distinct userid)
from hits where title like '%Google%' and url not like '%.google.%' and searchphrase <> ''
group by searchphrase order by views desc limit 10;
-- 24 key {eventtime}
select * from hits where url like '%google%' order by eventtime limit 10;
-- 25
select searchphrase from hits where searchphrase <> '' order by eventtime limit 10;
-- 26 key 1
select searchphrase from hits where searchphrase <> '' order by searchphrase limit 10;
-- 27
select searchphrase from hits where searchphrase <> '' order by eventtime, searchphrase limit 10;
-- 28 key 2
select counterid, avg(length(url)) as long, count(*) as views
from hits where url <> '' group by counterid having count(*) > {many} order by long desc limit 25;
-- 29 key 2
select regexp_replace(referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') as site, avg(length(referer)) as long, count(*) as views, min(referer)
from hits where referer <> '' group by site having count(*) > {many} order by long desc limit 25;
-- 30
select {sums} from hits;
-- 31 key 3
select searchengineid, clientip, count(*) as views, sum(isrefresh), avg(resolutionwidth)
from hits where searchphrase <> '' group by searchengineid, clientip order by views desc limit 10;
-- 32 key 3
select watchid, clientip, count(*) as views, sum(isrefresh), avg(resolutionwidth)
from hits where searchphrase <> '' group by watchid, clientip order by views desc limit 10;
-- 33 key 3
select watchid, clientip, count(*) as views, sum(isrefresh), avg(resolutionwidth)
from hits group by watchid, clientip order by views desc limit 10;
-- 34 key 2
select url, count(*) as views from hits group by url order by views desc limit 10;
-- 35 key 3
select 1, url, count(*) as views from hits group by 1, url order by views desc limit 10;
-- 36 key 5
select clientip, clientip - 1, clientip - 2, clientip - 3, count(*) as views
from hits group by clientip, clientip - 1, clientip - 2, clientip - 3 order by views desc limit 10;
-- 37 key 2
select url, count(*) as views from hits
where {month} and dontcounthits = 0 and isrefresh = 0 and url <> '' group by url order by views desc limit 10;
-- 38 key 2
select title, count(*) as views from hits
where {month} and dontcounthits = 0 and isrefresh = 0 and title <> '' group by title order by views desc limit 10;
-- 39 key 2
select url, count(*) as views from hits
where {month} and isrefresh = 0 and islink <> 0 and isdownload = 0 group by url order by views desc limit 10 offset {offset1000};
-- 40 key 6
select traficsourceid, searchengineid, advengineid, case when searchengineid = 0 and advengineid = 0 then referer else '' end as source,
   url as target, count(*) as views
from hits where {month} and isrefresh = 0
group by traficsourceid, searchengineid, advengineid, source, target order by views desc limit 10 offset {offset1000};
-- 41 key 3
select urlhash, eventdate, count(*) as views from hits
where {month} and isrefresh = 0 and traficsourceid in (-1, 6) and refererhash = {pagehash}
group by urlhash, eventdate order by views desc limit 10 offset {offset100};
-- 42 key 3
select windowclientwidth, windowclientheight, count(*) as views from hits
where {month} and isrefresh = 0 and dontcounthits = 0 and urlhash = {pagehash}
group by windowclientwidth, windowclientheight order by views desc limit 10 offset {offset10000};
-- 43 key 1
select date_trunc('minute', eventtime) as minute, count(*) as views from hits
where counterid = 62 and eventdate >= '2013-07-14' and eventdate <= '2013-07-15' and isrefresh = 0 and dontcounthits = 0
group by date_trunc('minute', eventtime) order by date_trunc('minute', eventtime) limit 10 offset {offset1000};
