"""Polls a collection with taxii2-client, and parses its objects with stix2.

Arguments: the URL of the discovery, an API key, the title of the collection, the time of the last object
of the poll before, or nothing. Prints the objects, the time of the last one, and how many stix2 has parsed.
"""
import json
import sys

import stix2
from taxii2client.v21 import Server, as_pages

url, key, title, after = sys.argv[1:]
server = Server(url, user="tipline", password=key)
collection = next(c for root in server.api_roots for c in root.collections if c.title == title)
filters = {"added_after": after} if after else {}
objects = []
for page in as_pages(collection.get_objects, per_request=20, **filters):
    objects += page.get("objects", [])
    last = page.headers["X-TAXII-Date-Added-Last"]
parsed = [stix2.parse(one, allow_custom=True) for one in objects]
source = stix2.TAXIICollectionSource(collection)
for one in objects[:3]:
    found = source.get(one["id"])
    if found is not None:
        assert found.id == one["id"], one
        assert [version.id for version in source.all_versions(one["id"])] == [one["id"]], one
if not after:
    manifest = [record for page in as_pages(collection.get_manifest, per_request=20) for record in page["objects"]]
    assert [record["id"] for record in manifest] == [one["id"] for one in objects]
    indicators = source.query([stix2.Filter("type", "=", "indicator")])
    assert {one.id for one in indicators} == {one["id"] for one in objects if one["type"] == "indicator"}
json.dump({"objects": objects, "last": last, "parsed": len(parsed)}, sys.stdout)
