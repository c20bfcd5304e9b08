"""Each operation of the OpenAPI document, against a server with the sample and a saved feed "edge".

TIPLINE_SERVER and TIPLINE_KEY name the server, OPENAPI the document.
"""

import json
import os
import unittest

from tipline import Tipline


def operation_ids():
    with open(os.environ["OPENAPI"], encoding="utf-8") as file:
        paths = json.load(file)["paths"]
    return {operation["operationId"] for path in paths.values() for operation in path.values()}


class EveryOperation(unittest.TestCase):
    """A method test_OPERATION calls the operation, and checks something that only its response has."""

    @classmethod
    def setUpClass(cls):
        cls.client = client = Tipline(os.environ["TIPLINE_SERVER"], os.environ["TIPLINE_KEY"])
        cls.indicator = next(client.iterate_indicators(q="185.132.17.160", type="IPV4"))["id"]
        cls.actor = next(client.iterate_actors(active=True))["id"]
        cls.campaign = next(client.iterate_campaigns(status="CONCLUDED"))["id"]

    def test_every_operation_is_called(self):
        called = {name[len("test_") :] for name in dir(self) if name.startswith("test_")}
        self.assertEqual(operation_ids() - called, set())

    def test_getHealth(self):
        self.assertEqual(self.client.get_health(deep="1")["checks"]["database"]["status"], "ok")

    def test_getReadiness(self):
        self.assertEqual(self.client.get_readiness()["status"], "ok")

    def test_listIndicators(self):
        page = self.client.list_indicators(types=["IPV4", "DOMAIN"], for_detection=True, page_size=2)
        self.assertEqual((len(page["data"]), page["pageSize"]), (2, 2))

    def test_getIndicator(self):
        self.assertEqual(self.client.get_indicator(self.indicator)["data"]["value"], "185.132.17.160")

    def test_getIndicatorContext(self):
        self.assertEqual(self.client.get_indicator_context(self.indicator)["actors"][0]["name"], "APT28")

    def test_exportIndicators(self):
        self.assertTrue(self.client.export_indicators("csv", limit=5).text().startswith("type,"))

    def test_listIndicatorChanges(self):
        self.assertEqual(self.client.list_indicator_changes(limit=2)["changes"][0]["op"], "upsert")

    def test_lookUpValues(self):
        self.assertTrue(self.client.look_up_values(value=["185.132.17.160"])["data"][0]["known"])

    def test_lookUpManyValues(self):
        for body in ({"values": ["185.132.17.160"]}, "185.132.17.160\n"):
            self.assertTrue(self.client.look_up_many_values(body)["data"][0]["known"])

    def test_getTaxiiDiscovery(self):
        self.assertTrue(self.client.get_taxii_discovery()["default"].endswith("/taxii2/root/"))

    def test_getTaxiiApiRoot(self):
        self.assertGreater(self.client.get_taxii_api_root()["max_content_length"], 0)

    def test_listTaxiiCollections(self):
        aliases = [one["alias"] for one in self.client.list_taxii_collections()["collections"]]
        self.assertIn("feed-edge", aliases)

    def test_getTaxiiCollection(self):
        self.assertEqual(self.client.get_taxii_collection("all")["alias"], "all")

    def test_listTaxiiObjects(self):
        first = self.client.list_taxii_objects("all", limit=10, match_type="indicator")
        rest = self.client.list_taxii_objects("all", limit=10, next=first["next"])
        ids = [one["id"] for page in (first, rest) for one in page["objects"]]
        self.assertEqual(len(set(ids)), 20)

    def test_listTaxiiManifest(self):
        self.assertEqual(len(self.client.list_taxii_manifest("all", limit=2)["objects"]), 2)

    def test_getTaxiiObject(self):
        one = self.client.list_taxii_objects("all", limit=1)["objects"][0]
        self.assertEqual(self.client.get_taxii_object("all", one["id"])["objects"], [one])

    def test_listTaxiiVersions(self):
        record = self.client.list_taxii_manifest("all", limit=1)["objects"][0]
        self.assertEqual(self.client.list_taxii_versions("all", record["id"])["versions"], [record["version"]])

    def test_listFeeds(self):
        self.assertEqual([feed["slug"] for feed in self.client.list_feeds()["data"]], ["edge"])

    def test_readFeed(self):
        self.assertIn("185.132.17.160", self.client.read_feed("edge").lines())

    def test_listFeedChanges(self):
        self.assertEqual(self.client.list_feed_changes("edge", limit=2)["changes"][0]["op"], "upsert")

    def test_getMispFeedManifest(self):
        self.assertTrue(self.client.get_misp_feed_manifest())

    def test_getMispFeedHashes(self):
        self.assertIn(b",", self.client.get_misp_feed_hashes().read())

    def test_getMispFeedEvent(self):
        uuid = next(iter(self.client.get_misp_feed_manifest()))
        self.assertEqual(self.client.get_misp_feed_event(uuid)["Event"]["uuid"], uuid)

    def test_getMispFeedManifestByGroup(self):
        self.assertTrue(self.client.get_misp_feed_manifest_by_group("source"))

    def test_getMispFeedHashesByGroup(self):
        self.assertIn(b",", self.client.get_misp_feed_hashes_by_group("source").read())

    def test_getMispFeedEventByGroup(self):
        uuid = next(iter(self.client.get_misp_feed_manifest_by_group("report")))
        self.assertEqual(self.client.get_misp_feed_event_by_group("report", uuid)["Event"]["uuid"], uuid)

    def test_getActorSigma(self):
        self.assertTrue(self.client.get_actor_sigma(self.actor, level=["high"]).startswith("# Sigma rules"))

    def test_getCampaignSigma(self):
        self.assertTrue(self.client.get_campaign_sigma(self.campaign).startswith("# Sigma rules"))

    def test_getActorSigmaQueries(self):
        queries = self.client.get_actor_sigma_queries(self.actor, language="splunk-spl")
        self.assertEqual(queries["language"], "splunk-spl")

    def test_getCampaignSigmaQueries(self):
        queries = self.client.get_campaign_sigma_queries(self.campaign, language="elastic-esql")
        self.assertEqual(queries["language"], "elastic-esql")

    def test_listActorChanges(self):
        self.assertEqual(self.client.list_actor_changes()["changes"][0]["op"], "upsert")

    def test_listActors(self):
        self.assertTrue(self.client.list_actors(active=True)["data"][0]["active"])

    def test_getActor(self):
        self.assertIn("techniques", self.client.get_actor(self.actor)["data"])

    def test_listCampaignChanges(self):
        self.assertTrue(self.client.list_campaign_changes(status="CONCLUDED")["changes"])

    def test_listCampaigns(self):
        self.assertEqual(self.client.list_campaigns(status="CONCLUDED")["data"][0]["status"], "CONCLUDED")

    def test_getCampaign(self):
        self.assertEqual(self.client.get_campaign(self.campaign)["data"]["id"], self.campaign)

    def test_listActorIndicators(self):
        found = self.client.list_actor_indicators(self.actor)
        self.assertEqual(found["total"], len(list(self.client.iterate_actor_indicators(self.actor))))

    def test_listActorCampaigns(self):
        found = self.client.list_actor_campaigns(self.actor)
        self.assertEqual(found["total"], len(list(self.client.iterate_actor_campaigns(self.actor))))

    def test_listActorReports(self):
        found = self.client.list_actor_reports(self.actor)
        self.assertEqual(found["total"], len(list(self.client.iterate_actor_reports(self.actor))))

    def test_listActorTechniques(self):
        found = self.client.list_actor_techniques(self.actor)
        self.assertEqual(found["total"], len(list(self.client.iterate_actor_techniques(self.actor))))

    def test_listCampaignIndicators(self):
        found = self.client.list_campaign_indicators(self.campaign)
        self.assertEqual(found["total"], len(list(self.client.iterate_campaign_indicators(self.campaign))))

    def test_listCampaignActors(self):
        found = self.client.list_campaign_actors(self.campaign)
        self.assertEqual(found["total"], len(list(self.client.iterate_campaign_actors(self.campaign))))

    def test_listCampaignReports(self):
        found = self.client.list_campaign_reports(self.campaign)
        self.assertEqual(found["total"], len(list(self.client.iterate_campaign_reports(self.campaign))))

    def test_listCampaignTechniques(self):
        found = self.client.list_campaign_techniques(self.campaign)
        self.assertEqual(found["total"], len(list(self.client.iterate_campaign_techniques(self.campaign))))

    def test_getFeedNavigatorLayer(self):
        self.assertEqual(self.client.get_feed_navigator_layer("edge")["domain"], "enterprise-attack")

    def test_getSigmaNavigatorLayer(self):
        self.assertEqual(self.client.get_sigma_navigator_layer()["domain"], "enterprise-attack")

    def test_getActorNavigatorLayer(self):
        self.assertEqual(self.client.get_actor_navigator_layer(self.actor)["domain"], "enterprise-attack")

    def test_getCampaignNavigatorLayer(self):
        self.assertEqual(self.client.get_campaign_navigator_layer(self.campaign)["domain"], "enterprise-attack")


class Iterators(unittest.TestCase):
    def setUp(self):
        self.client = Tipline(os.environ["TIPLINE_SERVER"], os.environ["TIPLINE_KEY"])

    def test_yield_as_many_items_as_a_list_counts(self):
        ids = {one["id"] for one in self.client.iterate_indicators(min_confidence=70, page_size=30)}
        total = self.client.list_indicators(min_confidence=70, page_size=1)["total"]
        self.assertGreater(total, 90)
        self.assertEqual(len(ids), total)

    def test_the_change_feed_goes_on_from_its_cursor_and_from_that_of_an_export(self):
        pages = list(self.client.follow_indicator_changes(limit=1000, wait=0))
        total = self.client.list_indicators(page_size=1)["total"]
        self.assertEqual(sum(len(page["changes"]) for page in pages), total)
        self.assertEqual([page["hasMore"] for page in pages], [True, True, False])
        download = self.client.export_indicators("ndjson")
        self.assertEqual(len({one["id"] for one in download.json_lines()}), total)
        for cursor in (pages[-1]["cursor"], download.change_cursor):
            (page,) = self.client.follow_indicator_changes(cursor=cursor, wait=0)
            self.assertEqual(page["changes"], [])

    def test_an_unchanged_download_is_not_sent_again(self):
        etag = self.client.export_indicators("stix", limit=3).etag
        again = self.client.export_indicators("stix", limit=3, if_none_match=etag)
        self.assertEqual((again.is_not_modified, again.save("never-written")), (True, False))

    def test_an_unchanged_list_is_returned_from_the_cache(self):
        cache = {}
        first = self.client.list_actors(cache=cache)
        self.assertEqual(self.client.list_actors(cache=cache), first)
        self.assertEqual(len(cache), 1)


if __name__ == "__main__":
    unittest.main()
