# Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi.
"""A method for each operation of the API."""

from __future__ import annotations

from typing import Dict, Iterator, List, Literal, Optional, Sequence, Union, cast

from ._iterate import follow, items
from ._transport import Cache, Transport, segment
from .download import Download
from .types import (
    Actor,
    ActorChanges,
    ActorItem,
    ActorList,
    Campaign,
    CampaignChanges,
    CampaignItem,
    CampaignList,
    CampaignStatus,
    ExportFormat,
    ExportIds,
    ExportStyle,
    FeedGroup,
    FeedList,
    Health,
    Indicator,
    IndicatorChanges,
    IndicatorContext,
    IndicatorItem,
    IndicatorList,
    IndicatorType,
    LookupResults,
    MispEvent,
    MispGroup,
    MispManifest,
    NavigatorLayer,
    Report,
    ReportList,
    Severity,
    SigmaLevel,
    SigmaQueryLanguage,
    SigmaRuleQueries,
    SigmaSource,
    SigmaStatus,
    TaxiiApiRoot,
    TaxiiCollection,
    TaxiiCollections,
    TaxiiDiscovery,
    TaxiiEnvelope,
    TaxiiManifest,
    TaxiiVersions,
    Technique,
    TechniqueList,
)

#: The version of the API that this client was written for.
VERSION = "0.1.0"


class Operations:
    """A method for each operation of the API, named by its ``operationId``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get_health(
        self,
        *,
        deep: Optional[Literal["1"]] = None,
        cache: Optional[Cache] = None,
    ) -> Health:
        """Read the state of the service.
        With deep=1 the database and the key-value store are asked too.

        GET /api/health

        :param deep: Ask the dependencies too.
        """

        return cast(Health, self._transport.json(
            "/api/health",
            query={"deep": deep},
            statuses=[503],
            is_public=True,
            cache=cache,
        ))

    def get_readiness(
        self,
        *,
        cache: Optional[Cache] = None,
    ) -> Health:
        """Read whether this node can answer.
        For load balancers: 200 while the database answers and the node is not about to stop. The key-value
        store does not count: requests go on without it.

        GET /api/health/ready
        """

        return cast(Health, self._transport.json(
            "/api/health/ready",
            statuses=[503],
            is_public=True,
            cache=cache,
        ))

    def list_indicators(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        sort: Optional[Literal["lastSeen", "epss"]] = None,
        cache: Optional[Cache] = None,
    ) -> IndicatorList:
        """List indicators.
        Newest sighting first. All filters combine with AND. Whitelisted and expired indicators are never
        returned. With a format other than json this is GET /api/v1/exports/{format}: the same answer, HTTP
        Basic included.

        GET /api/v1/indicators

        :param page: Page number.
        :param page_size: Items on a page.
        :param q: Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
        `hxxp://evil[.]example` also finds `http://evil.example`.
        :param type: Of this type.
        :param severity: Of this severity.
        :param tag: Exactly this tag.
        :param actor_id: Linked to this actor.
        :param campaign_id: Linked to this campaign.
        :param min_confidence: Confidence of at least this.
        :param for_detection: true: for rules and block lists; false: context only (MISP’s `to_ids: false`).
        :param exploited: true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything
        else.
        :param min_epss: Vulnerabilities with an EPSS score of at least this.
        :param since: lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).
        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param sort: The newest sighting first; or the highest EPSS score first, then what has none. Faster
        with type=CVE. Only for json.
        """

        return cast(IndicatorList, self._transport.json(
            "/api/v1/indicators",
            query={"page": page, "pageSize": page_size, "q": q, "type": type, "severity": severity, "tag": tag, "actorId": actor_id, "campaignId": campaign_id, "minConfidence": min_confidence, "forDetection": for_detection, "exploited": exploited, "minEpss": min_epss, "since": since, "types": types, "sort": sort},
            cache=cache,
        ))

    def iterate_indicators(
        self,
        *,
        page_size: int = 500,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        sort: Optional[Literal["lastSeen", "epss"]] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Indicator]:
        """Yields the items of all pages of :meth:`list_indicators`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Indicator], items(lambda page: self.list_indicators(
            page=page,
            page_size=page_size,
            q=q,
            type=type,
            severity=severity,
            tag=tag,
            actor_id=actor_id,
            campaign_id=campaign_id,
            min_confidence=min_confidence,
            for_detection=for_detection,
            exploited=exploited,
            min_epss=min_epss,
            since=since,
            types=types,
            sort=sort,
            cache=cache,
        )))

    def list_actor_indicators(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        sort: Optional[Literal["lastSeen", "epss"]] = None,
        cache: Optional[Cache] = None,
    ) -> IndicatorList:
        """List the indicators of an actor.
        The same pages as the list of indicators has with the filter, but 404 when the actor does not exist or
        is above the ceiling of the key.

        GET /api/v1/actors/{id}/indicators

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        :param q: Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
        `hxxp://evil[.]example` also finds `http://evil.example`.
        :param type: Of this type.
        :param severity: Of this severity.
        :param tag: Exactly this tag.
        :param campaign_id: Linked to this campaign.
        :param min_confidence: Confidence of at least this.
        :param for_detection: true: for rules and block lists; false: context only (MISP’s `to_ids: false`).
        :param exploited: true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything
        else.
        :param min_epss: Vulnerabilities with an EPSS score of at least this.
        :param since: lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).
        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param sort: The newest sighting first; or the highest EPSS score first, then what has none. Faster
        with type=CVE. Only for json.
        """

        return cast(IndicatorList, self._transport.json(
            f"/api/v1/actors/{segment(id)}/indicators",
            query={"page": page, "pageSize": page_size, "q": q, "type": type, "severity": severity, "tag": tag, "campaignId": campaign_id, "minConfidence": min_confidence, "forDetection": for_detection, "exploited": exploited, "minEpss": min_epss, "since": since, "types": types, "sort": sort},
            cache=cache,
        ))

    def iterate_actor_indicators(
        self,
        id: str,
        *,
        page_size: int = 500,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        sort: Optional[Literal["lastSeen", "epss"]] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Indicator]:
        """Yields the items of all pages of :meth:`list_actor_indicators`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Indicator], items(lambda page: self.list_actor_indicators(
            id,
            page=page,
            page_size=page_size,
            q=q,
            type=type,
            severity=severity,
            tag=tag,
            campaign_id=campaign_id,
            min_confidence=min_confidence,
            for_detection=for_detection,
            exploited=exploited,
            min_epss=min_epss,
            since=since,
            types=types,
            sort=sort,
            cache=cache,
        )))

    def list_campaign_indicators(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        sort: Optional[Literal["lastSeen", "epss"]] = None,
        cache: Optional[Cache] = None,
    ) -> IndicatorList:
        """List the indicators of a campaign.
        The same pages as the list of indicators has with the filter, but 404 when the campaign does not exist
        or is above the ceiling of the key.

        GET /api/v1/campaigns/{id}/indicators

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        :param q: Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
        `hxxp://evil[.]example` also finds `http://evil.example`.
        :param type: Of this type.
        :param severity: Of this severity.
        :param tag: Exactly this tag.
        :param actor_id: Linked to this actor.
        :param min_confidence: Confidence of at least this.
        :param for_detection: true: for rules and block lists; false: context only (MISP’s `to_ids: false`).
        :param exploited: true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything
        else.
        :param min_epss: Vulnerabilities with an EPSS score of at least this.
        :param since: lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).
        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param sort: The newest sighting first; or the highest EPSS score first, then what has none. Faster
        with type=CVE. Only for json.
        """

        return cast(IndicatorList, self._transport.json(
            f"/api/v1/campaigns/{segment(id)}/indicators",
            query={"page": page, "pageSize": page_size, "q": q, "type": type, "severity": severity, "tag": tag, "actorId": actor_id, "minConfidence": min_confidence, "forDetection": for_detection, "exploited": exploited, "minEpss": min_epss, "since": since, "types": types, "sort": sort},
            cache=cache,
        ))

    def iterate_campaign_indicators(
        self,
        id: str,
        *,
        page_size: int = 500,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        sort: Optional[Literal["lastSeen", "epss"]] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Indicator]:
        """Yields the items of all pages of :meth:`list_campaign_indicators`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Indicator], items(lambda page: self.list_campaign_indicators(
            id,
            page=page,
            page_size=page_size,
            q=q,
            type=type,
            severity=severity,
            tag=tag,
            actor_id=actor_id,
            min_confidence=min_confidence,
            for_detection=for_detection,
            exploited=exploited,
            min_epss=min_epss,
            since=since,
            types=types,
            sort=sort,
            cache=cache,
        )))

    def get_indicator(
        self,
        id: str,
        *,
        cache: Optional[Cache] = None,
    ) -> IndicatorItem:
        """Read one indicator.
        404 when there is none, or it is whitelisted, expired or above the ceiling of the key.

        GET /api/v1/indicators/{id}

        :param id: The id, a UUID.
        """

        return cast(IndicatorItem, self._transport.json(
            f"/api/v1/indicators/{segment(id)}",
            cache=cache,
        ))

    def get_indicator_context(
        self,
        id: str,
        *,
        cache: Optional[Cache] = None,
    ) -> IndicatorContext:
        """Read all that is known about one indicator.
        For playbooks: enrichments with the providers’ raw answers, actors, campaigns, reports, verdict.

        GET /api/v1/indicators/{id}/context

        :param id: The id, a UUID.
        """

        return cast(IndicatorContext, self._transport.json(
            f"/api/v1/indicators/{segment(id)}/context",
            cache=cache,
        ))

    def export_indicators(
        self,
        format: ExportFormat,
        *,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        csv_guard: Optional[Literal["on", "off"]] = None,
        style: Optional[ExportStyle] = None,
        limit: Optional[int] = None,
        order: Optional[Literal["confidence", "newest"]] = None,
        collapse: Optional[Literal["on", "off"]] = None,
        wildcards: Optional[Literal["on", "off"]] = None,
        include: Optional[Literal["context"]] = None,
        group: Optional[MispGroup] = None,
        ids: Optional[ExportIds] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        if_none_match: Optional[str] = None,
    ) -> Download:
        """Export indicators.
        Every indicator that matches, or, where page or pageSize is given, that page of the list. The format
        decides the media type, whatever Accept says. An Accept-Encoding of zstd or gzip is served, and so is
        a Range of a finished export. With HTTP Basic the key is the password.

        GET /api/v1/exports/{format}

        :param format: The format.
        :param q: Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
        `hxxp://evil[.]example` also finds `http://evil.example`.
        :param type: Of this type.
        :param severity: Of this severity.
        :param tag: Exactly this tag.
        :param actor_id: Linked to this actor.
        :param campaign_id: Linked to this campaign.
        :param min_confidence: Confidence of at least this.
        :param for_detection: true: for rules and block lists; false: context only (MISP’s `to_ids: false`).
        :param exploited: true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything
        else.
        :param min_epss: Vulnerabilities with an EPSS score of at least this.
        :param since: lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).
        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param csv_guard: csv: whether cells that a spreadsheet would run as a formula get an apostrophe in
        front (on).
        :param style: txt: the product that the list is for (plain). suricata: datasets or datasets-ndjson,
        snort: reputation: a zip archive of rules with lists, for many indicators.
        :param limit: At most so many indicators, and lines of a txt list, for a product that takes no more:
        those that come first in `order`.
        :param order: With limit: the highest confidence first (confidence), or the newest sighting.
        :param collapse: txt: whether adjacent addresses are joined into networks (on, where the style takes
        networks).
        :param wildcards: txt, lists of domains for paloalto and fortinet: whether each domain also has a line
        with `*.` in front (on).
        :param include: stix, misp: with the actors, campaigns, malware and techniques that the indicators are
        linked to; stix: and with the reports.
        :param group: misp: one event for each source, campaign, report or range of numbers, as `{"response":
        [{"Event": …}]}`; an indicator is in each of its events.
        :param ids: stix, misp: Tipline’s ids (own), or those of the sources’ objects and attributes where one
        gives exactly one indicator.
        :param page: Only this page of the list.
        :param page_size: Indicators on that page (100).
        """

        return self._transport.download(
            f"/api/v1/exports/{segment(format)}",
            query={"q": q, "type": type, "severity": severity, "tag": tag, "actorId": actor_id, "campaignId": campaign_id, "minConfidence": min_confidence, "forDetection": for_detection, "exploited": exploited, "minEpss": min_epss, "since": since, "types": types, "csvGuard": csv_guard, "style": style, "limit": limit, "order": order, "collapse": collapse, "wildcards": wildcards, "include": include, "group": group, "ids": ids, "page": page, "pageSize": page_size},
            if_none_match=if_none_match,
        )

    def list_indicator_changes(
        self,
        *,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        wait: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> IndicatorChanges:
        """Follow the changes of a list.
        Keeps a copy of a list in step. Without a cursor it begins with everything that matches, in pages;
        with the cursor of a response, or X-Change-Cursor of a list or export, it goes on from there. An
        upsert replaces an indicator by its id, a remove deletes it. 409: the cursor belongs to a key of
        another TLP ceiling. 410: the cursor is too old, or the store is another one; begin without a cursor
        and replace the copy.

        GET /api/v1/indicators/changes

        :param q: Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
        `hxxp://evil[.]example` also finds `http://evil.example`.
        :param type: Of this type.
        :param severity: Of this severity.
        :param tag: Exactly this tag.
        :param actor_id: Linked to this actor.
        :param campaign_id: Linked to this campaign.
        :param min_confidence: Confidence of at least this.
        :param for_detection: true: for rules and block lists; false: context only (MISP’s `to_ids: false`).
        :param exploited: true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything
        else.
        :param min_epss: Vulnerabilities with an EPSS score of at least this.
        :param since: lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC).
        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param limit: How many changes a response has. Changes of what was given in earlier pages come in
        addition, so that a response may have more.
        :param cursor: Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the
        filters, which may be left out with it. Without one, everything that matches comes first.
        :param wait: If there are no changes, the response waits for them for up to so many seconds.
        """

        return cast(IndicatorChanges, self._transport.json(
            "/api/v1/indicators/changes",
            query={"q": q, "type": type, "severity": severity, "tag": tag, "actorId": actor_id, "campaignId": campaign_id, "minConfidence": min_confidence, "forDetection": for_detection, "exploited": exploited, "minEpss": min_epss, "since": since, "types": types, "limit": limit, "cursor": cursor, "wait": wait},
            cache=cache,
        ))

    def follow_indicator_changes(
        self,
        *,
        q: Optional[str] = None,
        type: Optional[IndicatorType] = None,
        severity: Optional[Severity] = None,
        tag: Optional[str] = None,
        actor_id: Optional[str] = None,
        campaign_id: Optional[str] = None,
        min_confidence: Optional[int] = None,
        for_detection: Optional[bool] = None,
        exploited: Optional[bool] = None,
        min_epss: Optional[float] = None,
        since: Optional[str] = None,
        types: Optional[Sequence[IndicatorType]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        wait: int = 30,
    ) -> Iterator[IndicatorChanges]:
        """Yields the responses of :meth:`list_indicator_changes`: first all pages, then changes as they come.
        Store the ``cursor`` of each together with its changes, and begin with ``cursor`` after a restart.
        While ``hasMore`` is true, the copy is not complete. With ``wait=0`` it ends when the copy is
        complete; otherwise it waits for changes, ``wait`` seconds a request.

        :raises TiplineError: with the status 400, 409 or 410 when the cursor cannot be used: begin without
        one, and replace the copy
        """

        return cast(Iterator[IndicatorChanges], follow(self._transport, cursor, wait, lambda position: self.list_indicator_changes(
            q=q,
            type=type,
            severity=severity,
            tag=tag,
            actor_id=actor_id,
            campaign_id=campaign_id,
            min_confidence=min_confidence,
            for_detection=for_detection,
            exploited=exploited,
            min_epss=min_epss,
            since=since,
            types=types,
            limit=limit,
            cursor=position,
            wait=wait,
        )))

    def look_up_values(
        self,
        *,
        value: Sequence[str],
        types: Optional[Sequence[IndicatorType]] = None,
        min_confidence: Optional[int] = None,
        related: Optional[bool] = None,
        cache: Optional[Cache] = None,
    ) -> LookupResults:
        """Look up values.
        What is known about each of up to 100 values, and about the domains above it, the host and the folders
        of a URL, and the domain of an e-mail address. A value that is not known is no error. A URL may have
        32,768 characters here; keep it below 7,000 where a proxy is in between. QUERY /bulk/lookup takes
        10,000 values.

        GET /api/v1/lookup

        :param value: The values, repeated: value=a&value=b. Each is read by its form, plain or defanged;
        commas are part of it.
        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param min_confidence: Only indicators with at least this confidence.
        :param related: false: only the value itself, not other hashes of the same file, networks around it,
        domains above it, the host or prefixes of a URL.
        """

        return cast(LookupResults, self._transport.json(
            "/api/v1/lookup",
            query={"value": value, "types": types, "minConfidence": min_confidence, "related": related},
            cache=cache,
        ))

    def look_up_many_values(
        self,
        body: Union[Dict[str, List[str]], str],
        *,
        types: Optional[Sequence[IndicatorType]] = None,
        min_confidence: Optional[int] = None,
        related: Optional[bool] = None,
        extract: Optional[bool] = None,
        cache: Optional[Cache] = None,
    ) -> LookupResults:
        """Look up many values.
        The same for up to 10,000 values in a body of up to 2 MiB, sent with the HTTP method QUERY: as JSON,
        as a value a line, or as a text whose observables are found (extract=true). A request counts once
        against the rate limit. A client behind a proxy that rejects QUERY (405 or 501) uses GET
        /api/v1/lookup.

        QUERY /bulk/lookup

        :param types: Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6.
        :param min_confidence: Only indicators with at least this confidence.
        :param related: false: only the value itself, not other hashes of the same file, networks around it,
        domains above it, the host or prefixes of a URL.
        :param extract: true: the body is a text, such as a report, and each observable in it is looked up
        once.
        """

        return cast(LookupResults, self._transport.json(
            "/bulk/lookup",
            method="QUERY",
            query={"types": types, "minConfidence": min_confidence, "related": related, "extract": extract},
            body=body,
            cache=cache,
        ))

    def list_feeds(
        self,
        *,
        cache: Optional[Cache] = None,
    ) -> FeedList:
        """List saved feeds.
        The saved feeds up to the TLP ceiling of the key; for a key that is bound to feeds, these.

        GET /api/v1/feeds
        """

        return cast(FeedList, self._transport.json(
            "/api/v1/feeds",
            cache=cache,
        ))

    def read_feed(
        self,
        slug: str,
        *,
        format: Optional[ExportFormat] = None,
        if_none_match: Optional[str] = None,
    ) -> Download:
        """Read a saved feed.
        The export that the feed is, up to the lower one of its TLP ceiling and that of the key. With HTTP
        Basic the key is the password.

        GET /api/v1/feeds/{slug}

        :param slug: The slug of the feed.
        :param format: Instead of its own, for the same indicators as far as the format can express them.
        """

        return self._transport.download(
            f"/api/v1/feeds/{segment(slug)}",
            query={"format": format},
            if_none_match=if_none_match,
        )

    def get_feed_navigator_layer(
        self,
        slug: str,
        *,
        cache: Optional[Cache] = None,
    ) -> NavigatorLayer:
        """Read the techniques behind a saved feed as an ATT&CK Navigator layer.
        A layer of the format 4.5 with the Enterprise techniques of the actors and campaigns that are linked
        to the indicators of the feed, in the format of the feed. The score of a technique is how many of
        these use it; the comment names them. A session of the application does in place of a key.

        GET /api/v1/feeds/{slug}/navigator

        :param slug: The slug of the feed.
        """

        return cast(NavigatorLayer, self._transport.json(
            f"/api/v1/feeds/{segment(slug)}/navigator",
            cache=cache,
        ))

    def list_feed_changes(
        self,
        slug: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        wait: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> IndicatorChanges:
        """Follow the changes of a saved feed.
        Keeps a copy of a saved feed in step, as GET /api/v1/indicators/changes does for a list. It has the
        indicators that the format of the feed can express; with a limit, the first ones. Without a cursor it
        begins with all of them, in pages; with the cursor of a response, or X-Change-Cursor of the feed, it
        goes on from there. 409: the cursor belongs to a key of another TLP ceiling. 410: the filters, the
        limit or the TLP ceiling of the feed have been changed, the cursor is too old, or the store is another
        one; begin without a cursor and replace the copy.

        GET /api/v1/feeds/{slug}/changes

        :param slug: The slug of the feed.
        :param limit: How many changes a response has. Changes of what was given in earlier pages come in
        addition, so that a response may have more.
        :param cursor: Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the
        filters, which may be left out with it. Without one, everything that matches comes first.
        :param wait: If there are no changes, the response waits for them for up to so many seconds.
        """

        return cast(IndicatorChanges, self._transport.json(
            f"/api/v1/feeds/{segment(slug)}/changes",
            query={"limit": limit, "cursor": cursor, "wait": wait},
            cache=cache,
        ))

    def follow_feed_changes(
        self,
        slug: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        wait: int = 30,
    ) -> Iterator[IndicatorChanges]:
        """Yields the responses of :meth:`list_feed_changes`: first all pages, then changes as they come.
        Store the ``cursor`` of each together with its changes, and begin with ``cursor`` after a restart.
        While ``hasMore`` is true, the copy is not complete. With ``wait=0`` it ends when the copy is
        complete; otherwise it waits for changes, ``wait`` seconds a request.

        :raises TiplineError: with the status 400, 409 or 410 when the cursor cannot be used: begin without
        one, and replace the copy
        """

        return cast(Iterator[IndicatorChanges], follow(self._transport, cursor, wait, lambda position: self.list_feed_changes(
            slug,
            limit=limit,
            cursor=position,
            wait=wait,
        )))

    def get_taxii_discovery(
        self,
        *,
        cache: Optional[Cache] = None,
    ) -> TaxiiDiscovery:
        """Find the API root.

        GET /taxii2/
        """

        return cast(TaxiiDiscovery, self._transport.json(
            "/taxii2/",
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def get_taxii_api_root(
        self,
        *,
        cache: Optional[Cache] = None,
    ) -> TaxiiApiRoot:
        """Get the API root.

        GET /taxii2/root/
        """

        return cast(TaxiiApiRoot, self._transport.json(
            "/taxii2/root/",
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def list_taxii_collections(
        self,
        *,
        cache: Optional[Cache] = None,
    ) -> TaxiiCollections:
        """List the collections.
        All indicators and those up to each TLP, with the actors, campaigns and relationships for which the
        key has scopes, and each saved feed: those that the scopes and the TLP ceiling of the key allow.

        GET /taxii2/root/collections/
        """

        return cast(TaxiiCollections, self._transport.json(
            "/taxii2/root/collections/",
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def get_taxii_collection(
        self,
        collection: str,
        *,
        cache: Optional[Cache] = None,
    ) -> TaxiiCollection:
        """Get a collection.

        GET /taxii2/root/collections/{collection}/

        :param collection: The id of the collection, or its alias.
        """

        return cast(TaxiiCollection, self._transport.json(
            f"/taxii2/root/collections/{segment(collection)}/",
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def list_taxii_objects(
        self,
        collection: str,
        *,
        added_after: Optional[str] = None,
        limit: Optional[int] = None,
        next: Optional[str] = None,
        match_id: Optional[str] = None,
        match_type: Optional[str] = None,
        match_version: Optional[str] = None,
        match_spec_version: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> TaxiiEnvelope:
        """Get the objects of a collection.
        The oldest first. X-TAXII-Date-Added-Last is the `added_after` of the next request; `next` goes on
        within one. Objects that were whitelisted, restricted or deleted since come with their end, if the
        client may have them.

        GET /taxii2/root/collections/{collection}/objects/

        :param collection: The id of the collection, or its alias.
        :param added_after: Only objects that were added later, such as X-TAXII-Date-Added-Last of the last
        response.
        :param limit: The maximum number of objects: 1000 if it is absent, never more than 5000.
        :param next: Of the last response: goes on after it, with its filters.
        :param match_id: Only objects with these ids; several with commas.
        :param match_type: Only objects of these types; several with commas.
        :param match_version: Only these versions: first, last, all (of each object there is one) or
        timestamps; several with commas.
        :param match_spec_version: Only objects of these versions of STIX; several with commas.
        """

        return cast(TaxiiEnvelope, self._transport.json(
            f"/taxii2/root/collections/{segment(collection)}/objects/",
            query={"added_after": added_after, "limit": limit, "next": next, "match[id]": match_id, "match[type]": match_type, "match[version]": match_version, "match[spec_version]": match_spec_version},
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def list_taxii_manifest(
        self,
        collection: str,
        *,
        added_after: Optional[str] = None,
        limit: Optional[int] = None,
        next: Optional[str] = None,
        match_id: Optional[str] = None,
        match_type: Optional[str] = None,
        match_version: Optional[str] = None,
        match_spec_version: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> TaxiiManifest:
        """Get the manifest of a collection.

        GET /taxii2/root/collections/{collection}/manifest/

        :param collection: The id of the collection, or its alias.
        :param added_after: Only objects that were added later, such as X-TAXII-Date-Added-Last of the last
        response.
        :param limit: The maximum number of objects: 1000 if it is absent, never more than 5000.
        :param next: Of the last response: goes on after it, with its filters.
        :param match_id: Only objects with these ids; several with commas.
        :param match_type: Only objects of these types; several with commas.
        :param match_version: Only these versions: first, last, all (of each object there is one) or
        timestamps; several with commas.
        :param match_spec_version: Only objects of these versions of STIX; several with commas.
        """

        return cast(TaxiiManifest, self._transport.json(
            f"/taxii2/root/collections/{segment(collection)}/manifest/",
            query={"added_after": added_after, "limit": limit, "next": next, "match[id]": match_id, "match[type]": match_type, "match[version]": match_version, "match[spec_version]": match_spec_version},
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def get_taxii_object(
        self,
        collection: str,
        object: str,
        *,
        added_after: Optional[str] = None,
        limit: Optional[int] = None,
        next: Optional[str] = None,
        match_version: Optional[str] = None,
        match_spec_version: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> TaxiiEnvelope:
        """Get an object of a collection.

        GET /taxii2/root/collections/{collection}/objects/{object}/

        :param collection: The id of the collection, or its alias.
        :param object: The STIX id of the object.
        :param added_after: Only objects that were added later, such as X-TAXII-Date-Added-Last of the last
        response.
        :param limit: The maximum number of objects: 1000 if it is absent, never more than 5000.
        :param next: Of the last response: goes on after it, with its filters.
        :param match_version: Only these versions: first, last, all (of each object there is one) or
        timestamps; several with commas.
        :param match_spec_version: Only objects of these versions of STIX; several with commas.
        """

        return cast(TaxiiEnvelope, self._transport.json(
            f"/taxii2/root/collections/{segment(collection)}/objects/{segment(object)}/",
            query={"added_after": added_after, "limit": limit, "next": next, "match[version]": match_version, "match[spec_version]": match_spec_version},
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def list_taxii_versions(
        self,
        collection: str,
        object: str,
        *,
        added_after: Optional[str] = None,
        limit: Optional[int] = None,
        next: Optional[str] = None,
        match_spec_version: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> TaxiiVersions:
        """Get the versions of an object.

        GET /taxii2/root/collections/{collection}/objects/{object}/versions/

        :param collection: The id of the collection, or its alias.
        :param object: The STIX id of the object.
        :param added_after: Only objects that were added later, such as X-TAXII-Date-Added-Last of the last
        response.
        :param limit: The maximum number of objects: 1000 if it is absent, never more than 5000.
        :param next: Of the last response: goes on after it, with its filters.
        :param match_spec_version: Only objects of these versions of STIX; several with commas.
        """

        return cast(TaxiiVersions, self._transport.json(
            f"/taxii2/root/collections/{segment(collection)}/objects/{segment(object)}/versions/",
            query={"added_after": added_after, "limit": limit, "next": next, "match[spec_version]": match_spec_version},
            accept="application/taxii+json;version=2.1",
            cache=cache,
        ))

    def get_misp_feed_manifest(
        self,
        *,
        cache: Optional[Cache] = None,
    ) -> MispManifest:
        """Read the manifest of the MISP feed.
        Which events there are, and when each has changed. An event is the indicators of a range of numbers: a
        change moves one small event.

        GET /api/v1/feeds/misp/manifest.json
        """

        return cast(MispManifest, self._transport.json(
            "/api/v1/feeds/misp/manifest.json",
            cache=cache,
        ))

    def get_misp_feed_hashes(
        self,
        *,
        if_none_match: Optional[str] = None,
    ) -> Download:
        """Read the hashes of the MISP feed.
        MD5 of each value and the uuid of its event: what MISP looks its own attributes up in.

        GET /api/v1/feeds/misp/hashes.csv
        """

        return self._transport.download(
            "/api/v1/feeds/misp/hashes.csv",
            if_none_match=if_none_match,
        )

    def get_misp_feed_event(
        self,
        uuid: str,
        *,
        cache: Optional[Cache] = None,
    ) -> MispEvent:
        """Read an event of the MISP feed.
        The event is the indicators of a range of numbers: a change moves one small event.

        GET /api/v1/feeds/misp/{uuid}.json

        :param uuid: The uuid, as the manifest has it; each installation has its own.
        """

        return cast(MispEvent, self._transport.json(
            f"/api/v1/feeds/misp/{segment(uuid)}.json",
            cache=cache,
        ))

    def get_misp_feed_manifest_by_group(
        self,
        group: FeedGroup,
        *,
        cache: Optional[Cache] = None,
    ) -> MispManifest:
        """Read the manifest of a MISP feed by group.
        Which events there are, and when each has changed. An event is a report (its title, date, tags, galaxy
        clusters, objects and texts, and the indicators that it refers to), a campaign or a part of a source;
        indicators that are in no report or campaign are in events by ranges of numbers.

        GET /api/v1/feeds/misp/by-{group}/manifest.json

        :param group: The kind of group that an event has.
        """

        return cast(MispManifest, self._transport.json(
            f"/api/v1/feeds/misp/by-{segment(group)}/manifest.json",
            cache=cache,
        ))

    def get_misp_feed_hashes_by_group(
        self,
        group: FeedGroup,
        *,
        if_none_match: Optional[str] = None,
    ) -> Download:
        """Read the hashes of a MISP feed by group.
        MD5 of each value and the uuid of its event: what MISP looks its own attributes up in.

        GET /api/v1/feeds/misp/by-{group}/hashes.csv

        :param group: The kind of group that an event has.
        """

        return self._transport.download(
            f"/api/v1/feeds/misp/by-{segment(group)}/hashes.csv",
            if_none_match=if_none_match,
        )

    def get_misp_feed_event_by_group(
        self,
        group: FeedGroup,
        uuid: str,
        *,
        cache: Optional[Cache] = None,
    ) -> MispEvent:
        """Read an event of a MISP feed by group.
        The event is a report (its title, date, tags, galaxy clusters, objects and texts, and the indicators
        that it refers to), a campaign or a part of a source; indicators that are in no report or campaign are
        in events by ranges of numbers.

        GET /api/v1/feeds/misp/by-{group}/{uuid}.json

        :param group: The kind of group that an event has.
        :param uuid: The uuid, as the manifest has it; each installation has its own.
        """

        return cast(MispEvent, self._transport.json(
            f"/api/v1/feeds/misp/by-{segment(group)}/{segment(uuid)}.json",
            cache=cache,
        ))

    def get_sigma_navigator_layer(
        self,
        *,
        source: Optional[Sequence[Literal["own", "community"]]] = None,
        level: Optional[Sequence[SigmaLevel]] = None,
        status: Optional[Sequence[SigmaStatus]] = None,
        logsource: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> NavigatorLayer:
        """Read the techniques that Sigma rules cover as an ATT&CK Navigator layer.
        A layer of the format 4.5 with the techniques for which there are rules, those of Tipline and those of
        the community that the operator added. The score of a technique is how many rules there are; the
        comment says whose. A session of the application does in place of a key.

        GET /api/sigma/navigator

        :param source: Rules of these sources: Tipline’s own, or those of the community. Repeated or with
        commas.
        :param level: Rules of these levels. Repeated or with commas.
        :param status: Rules of these statuses. Repeated or with commas.
        :param logsource: Rules of this product, category or service, or of several at once:
        `windows/process_creation`.
        """

        return cast(NavigatorLayer, self._transport.json(
            "/api/sigma/navigator",
            query={"source": source, "level": level, "status": status, "logsource": logsource},
            cache=cache,
        ))

    def get_actor_sigma(
        self,
        id: str,
        *,
        min_confidence: Optional[int] = None,
        source: Optional[Sequence[SigmaSource]] = None,
        level: Optional[Sequence[SigmaLevel]] = None,
        status: Optional[Sequence[SigmaStatus]] = None,
        logsource: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> str:
        """Read detection rules for an actor.
        A bundle in YAML, a document a rule: network, file hash and host artifact rules for its indicators,
        and rules for its techniques. Only a comment if there are no rules. A session of the application does
        in place of a key.

        GET /api/sigma/actor/{id}

        :param id: The id, a UUID.
        :param min_confidence: Of indicators: confidence of at least this.
        :param source: Rules of these sources. Repeated or with commas.
        :param level: Rules of these levels. Repeated or with commas.
        :param status: Rules of these statuses. Repeated or with commas.
        :param logsource: Rules of this product, category or service, or of several at once:
        `windows/process_creation`.
        """

        return self._transport.text(
            f"/api/sigma/actor/{segment(id)}",
            query={"minConfidence": min_confidence, "source": source, "level": level, "status": status, "logsource": logsource},
            accept="application/yaml",
            cache=cache,
        )

    def get_actor_sigma_queries(
        self,
        id: str,
        *,
        min_confidence: Optional[int] = None,
        source: Optional[Sequence[SigmaSource]] = None,
        level: Optional[Sequence[SigmaLevel]] = None,
        status: Optional[Sequence[SigmaStatus]] = None,
        logsource: Optional[str] = None,
        language: SigmaQueryLanguage,
        cache: Optional[Cache] = None,
    ) -> SigmaRuleQueries:
        """Read the detection rules for an actor as queries.
        The rules of the bundle in the language of a product, with the names of its tables and fields. A rule
        that the language cannot express is left out and listed with the reason. A session of the application
        does in place of a key.

        GET /api/sigma/actor/{id}/queries

        :param id: The id, a UUID.
        :param min_confidence: Of indicators: confidence of at least this.
        :param source: Rules of these sources. Repeated or with commas.
        :param level: Rules of these levels. Repeated or with commas.
        :param status: Rules of these statuses. Repeated or with commas.
        :param logsource: Rules of this product, category or service, or of several at once:
        `windows/process_creation`.
        :param language: The language of the queries.
        """

        return cast(SigmaRuleQueries, self._transport.json(
            f"/api/sigma/actor/{segment(id)}/queries",
            query={"minConfidence": min_confidence, "source": source, "level": level, "status": status, "logsource": logsource, "language": language},
            cache=cache,
        ))

    def get_campaign_sigma(
        self,
        id: str,
        *,
        min_confidence: Optional[int] = None,
        source: Optional[Sequence[SigmaSource]] = None,
        level: Optional[Sequence[SigmaLevel]] = None,
        status: Optional[Sequence[SigmaStatus]] = None,
        logsource: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> str:
        """Read detection rules for a campaign.
        A bundle in YAML, a document a rule: network, file hash and host artifact rules for its indicators,
        and rules for its techniques. Only a comment if there are no rules. A session of the application does
        in place of a key.

        GET /api/sigma/campaign/{id}

        :param id: The id, a UUID.
        :param min_confidence: Of indicators: confidence of at least this.
        :param source: Rules of these sources. Repeated or with commas.
        :param level: Rules of these levels. Repeated or with commas.
        :param status: Rules of these statuses. Repeated or with commas.
        :param logsource: Rules of this product, category or service, or of several at once:
        `windows/process_creation`.
        """

        return self._transport.text(
            f"/api/sigma/campaign/{segment(id)}",
            query={"minConfidence": min_confidence, "source": source, "level": level, "status": status, "logsource": logsource},
            accept="application/yaml",
            cache=cache,
        )

    def get_campaign_sigma_queries(
        self,
        id: str,
        *,
        min_confidence: Optional[int] = None,
        source: Optional[Sequence[SigmaSource]] = None,
        level: Optional[Sequence[SigmaLevel]] = None,
        status: Optional[Sequence[SigmaStatus]] = None,
        logsource: Optional[str] = None,
        language: SigmaQueryLanguage,
        cache: Optional[Cache] = None,
    ) -> SigmaRuleQueries:
        """Read the detection rules for a campaign as queries.
        The rules of the bundle in the language of a product, with the names of its tables and fields. A rule
        that the language cannot express is left out and listed with the reason. A session of the application
        does in place of a key.

        GET /api/sigma/campaign/{id}/queries

        :param id: The id, a UUID.
        :param min_confidence: Of indicators: confidence of at least this.
        :param source: Rules of these sources. Repeated or with commas.
        :param level: Rules of these levels. Repeated or with commas.
        :param status: Rules of these statuses. Repeated or with commas.
        :param logsource: Rules of this product, category or service, or of several at once:
        `windows/process_creation`.
        :param language: The language of the queries.
        """

        return cast(SigmaRuleQueries, self._transport.json(
            f"/api/sigma/campaign/{segment(id)}/queries",
            query={"minConfidence": min_confidence, "source": source, "level": level, "status": status, "logsource": logsource, "language": language},
            cache=cache,
        ))

    def list_actor_changes(
        self,
        *,
        active: Optional[bool] = None,
        cursor: Optional[str] = None,
        wait: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> ActorChanges:
        """Follow the changes of the actors.
        Like the changes of indicators, but all at once: there are few actors. An upsert is sent when the
        actor itself changes; the list and the detail have the current state of what is linked to it.

        GET /api/v1/actors/changes

        :param active: Only actors that are (not) active.
        :param cursor: Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the
        filters, which may be left out with it. Without one, everything that matches comes first.
        :param wait: If there are no changes, the response waits for them for up to so many seconds.
        """

        return cast(ActorChanges, self._transport.json(
            "/api/v1/actors/changes",
            query={"active": active, "cursor": cursor, "wait": wait},
            cache=cache,
        ))

    def follow_actor_changes(
        self,
        *,
        active: Optional[bool] = None,
        cursor: Optional[str] = None,
        wait: int = 30,
    ) -> Iterator[ActorChanges]:
        """Yields the responses of :meth:`list_actor_changes`: first all pages, then changes as they come.
        Store the ``cursor`` of each together with its changes, and begin with ``cursor`` after a restart.
        While ``hasMore`` is true, the copy is not complete. With ``wait=0`` it ends when the copy is
        complete; otherwise it waits for changes, ``wait`` seconds a request.

        :raises TiplineError: with the status 400, 409 or 410 when the cursor cannot be used: begin without
        one, and replace the copy
        """

        return cast(Iterator[ActorChanges], follow(self._transport, cursor, wait, lambda position: self.list_actor_changes(
            active=active,
            cursor=position,
            wait=wait,
        )))

    def list_actors(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        active: Optional[bool] = None,
        q: Optional[str] = None,
        uses: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> ActorList:
        """List threat actors.
        Sorted by name.

        GET /api/v1/actors

        :param page: Page number.
        :param page_size: Items on a page.
        :param active: Only actors that are (not) active.
        :param q: Case-insensitive substring of the name, of an alias or of the ATT&CK id, literally (no
        wildcards).
        :param uses: Only actors that use the technique, malware or tool with this name or ATT&CK id, ignoring
        case.
        """

        return cast(ActorList, self._transport.json(
            "/api/v1/actors",
            query={"page": page, "pageSize": page_size, "active": active, "q": q, "uses": uses},
            cache=cache,
        ))

    def iterate_actors(
        self,
        *,
        page_size: int = 200,
        active: Optional[bool] = None,
        q: Optional[str] = None,
        uses: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Actor]:
        """Yields the items of all pages of :meth:`list_actors`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Actor], items(lambda page: self.list_actors(
            page=page,
            page_size=page_size,
            active=active,
            q=q,
            uses=uses,
            cache=cache,
        )))

    def get_actor(
        self,
        id: str,
        *,
        cache: Optional[Cache] = None,
    ) -> ActorItem:
        """Read one threat actor.
        With techniques, malware and tools.

        GET /api/v1/actors/{id}

        :param id: The id, a UUID.
        """

        return cast(ActorItem, self._transport.json(
            f"/api/v1/actors/{segment(id)}",
            cache=cache,
        ))

    def list_campaign_changes(
        self,
        *,
        status: Optional[CampaignStatus] = None,
        cursor: Optional[str] = None,
        wait: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> CampaignChanges:
        """Follow the changes of the campaigns.
        Like the changes of indicators, but all at once: there are few campaigns. An upsert is sent when the
        campaign itself changes; the list and the detail have the current state of what is linked to it.

        GET /api/v1/campaigns/changes

        :param status: In this state.
        :param cursor: Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the
        filters, which may be left out with it. Without one, everything that matches comes first.
        :param wait: If there are no changes, the response waits for them for up to so many seconds.
        """

        return cast(CampaignChanges, self._transport.json(
            "/api/v1/campaigns/changes",
            query={"status": status, "cursor": cursor, "wait": wait},
            cache=cache,
        ))

    def follow_campaign_changes(
        self,
        *,
        status: Optional[CampaignStatus] = None,
        cursor: Optional[str] = None,
        wait: int = 30,
    ) -> Iterator[CampaignChanges]:
        """Yields the responses of :meth:`list_campaign_changes`: first all pages, then changes as they come.
        Store the ``cursor`` of each together with its changes, and begin with ``cursor`` after a restart.
        While ``hasMore`` is true, the copy is not complete. With ``wait=0`` it ends when the copy is
        complete; otherwise it waits for changes, ``wait`` seconds a request.

        :raises TiplineError: with the status 400, 409 or 410 when the cursor cannot be used: begin without
        one, and replace the copy
        """

        return cast(Iterator[CampaignChanges], follow(self._transport, cursor, wait, lambda position: self.list_campaign_changes(
            status=status,
            cursor=position,
            wait=wait,
        )))

    def list_campaigns(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        status: Optional[CampaignStatus] = None,
        q: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> CampaignList:
        """List campaigns.
        Latest start first, unknown starts last.

        GET /api/v1/campaigns

        :param page: Page number.
        :param page_size: Items on a page.
        :param status: In this state.
        :param q: Case-insensitive substring of the name or of an alias, literally (no wildcards).
        """

        return cast(CampaignList, self._transport.json(
            "/api/v1/campaigns",
            query={"page": page, "pageSize": page_size, "status": status, "q": q},
            cache=cache,
        ))

    def iterate_campaigns(
        self,
        *,
        page_size: int = 200,
        status: Optional[CampaignStatus] = None,
        q: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Campaign]:
        """Yields the items of all pages of :meth:`list_campaigns`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Campaign], items(lambda page: self.list_campaigns(
            page=page,
            page_size=page_size,
            status=status,
            q=q,
            cache=cache,
        )))

    def get_campaign(
        self,
        id: str,
        *,
        cache: Optional[Cache] = None,
    ) -> CampaignItem:
        """Read one campaign.
        404 when there is none, or it is above the ceiling of the key.

        GET /api/v1/campaigns/{id}

        :param id: The id, a UUID.
        """

        return cast(CampaignItem, self._transport.json(
            f"/api/v1/campaigns/{segment(id)}",
            cache=cache,
        ))

    def list_actor_campaigns(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        status: Optional[CampaignStatus] = None,
        q: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> CampaignList:
        """List the campaigns of an actor.
        The campaigns that are attributed to it, sorted and filtered like the list of campaigns.

        GET /api/v1/actors/{id}/campaigns

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        :param status: In this state.
        :param q: Case-insensitive substring of the name or of an alias, literally (no wildcards).
        """

        return cast(CampaignList, self._transport.json(
            f"/api/v1/actors/{segment(id)}/campaigns",
            query={"page": page, "pageSize": page_size, "status": status, "q": q},
            cache=cache,
        ))

    def iterate_actor_campaigns(
        self,
        id: str,
        *,
        page_size: int = 200,
        status: Optional[CampaignStatus] = None,
        q: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Campaign]:
        """Yields the items of all pages of :meth:`list_actor_campaigns`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Campaign], items(lambda page: self.list_actor_campaigns(
            id,
            page=page,
            page_size=page_size,
            status=status,
            q=q,
            cache=cache,
        )))

    def list_campaign_actors(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        active: Optional[bool] = None,
        q: Optional[str] = None,
        uses: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> ActorList:
        """List the actors of a campaign.
        The actors to which it is attributed, sorted and filtered like the list of actors.

        GET /api/v1/campaigns/{id}/actors

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        :param active: Only actors that are (not) active.
        :param q: Case-insensitive substring of the name, of an alias or of the ATT&CK id, literally (no
        wildcards).
        :param uses: Only actors that use the technique, malware or tool with this name or ATT&CK id, ignoring
        case.
        """

        return cast(ActorList, self._transport.json(
            f"/api/v1/campaigns/{segment(id)}/actors",
            query={"page": page, "pageSize": page_size, "active": active, "q": q, "uses": uses},
            cache=cache,
        ))

    def iterate_campaign_actors(
        self,
        id: str,
        *,
        page_size: int = 200,
        active: Optional[bool] = None,
        q: Optional[str] = None,
        uses: Optional[str] = None,
        cache: Optional[Cache] = None,
    ) -> Iterator[Actor]:
        """Yields the items of all pages of :meth:`list_campaign_actors`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Actor], items(lambda page: self.list_campaign_actors(
            id,
            page=page,
            page_size=page_size,
            active=active,
            q=q,
            uses=uses,
            cache=cache,
        )))

    def list_actor_reports(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> ReportList:
        """List the reports of an actor.
        Reports that refer to it, the latest first; those without a date last.

        GET /api/v1/actors/{id}/reports

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        """

        return cast(ReportList, self._transport.json(
            f"/api/v1/actors/{segment(id)}/reports",
            query={"page": page, "pageSize": page_size},
            cache=cache,
        ))

    def iterate_actor_reports(
        self,
        id: str,
        *,
        page_size: int = 200,
        cache: Optional[Cache] = None,
    ) -> Iterator[Report]:
        """Yields the items of all pages of :meth:`list_actor_reports`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Report], items(lambda page: self.list_actor_reports(
            id,
            page=page,
            page_size=page_size,
            cache=cache,
        )))

    def list_actor_techniques(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> TechniqueList:
        """List the techniques of an actor.
        The techniques that it uses, by ATT&CK id.

        GET /api/v1/actors/{id}/techniques

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        """

        return cast(TechniqueList, self._transport.json(
            f"/api/v1/actors/{segment(id)}/techniques",
            query={"page": page, "pageSize": page_size},
            cache=cache,
        ))

    def iterate_actor_techniques(
        self,
        id: str,
        *,
        page_size: int = 200,
        cache: Optional[Cache] = None,
    ) -> Iterator[Technique]:
        """Yields the items of all pages of :meth:`list_actor_techniques`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Technique], items(lambda page: self.list_actor_techniques(
            id,
            page=page,
            page_size=page_size,
            cache=cache,
        )))

    def list_campaign_reports(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> ReportList:
        """List the reports of a campaign.
        Reports that refer to it, the latest first; those without a date last.

        GET /api/v1/campaigns/{id}/reports

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        """

        return cast(ReportList, self._transport.json(
            f"/api/v1/campaigns/{segment(id)}/reports",
            query={"page": page, "pageSize": page_size},
            cache=cache,
        ))

    def iterate_campaign_reports(
        self,
        id: str,
        *,
        page_size: int = 200,
        cache: Optional[Cache] = None,
    ) -> Iterator[Report]:
        """Yields the items of all pages of :meth:`list_campaign_reports`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Report], items(lambda page: self.list_campaign_reports(
            id,
            page=page,
            page_size=page_size,
            cache=cache,
        )))

    def list_campaign_techniques(
        self,
        id: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        cache: Optional[Cache] = None,
    ) -> TechniqueList:
        """List the techniques of a campaign.
        The techniques that it uses, by ATT&CK id.

        GET /api/v1/campaigns/{id}/techniques

        :param id: The id, a UUID.
        :param page: Page number.
        :param page_size: Items on a page.
        """

        return cast(TechniqueList, self._transport.json(
            f"/api/v1/campaigns/{segment(id)}/techniques",
            query={"page": page, "pageSize": page_size},
            cache=cache,
        ))

    def iterate_campaign_techniques(
        self,
        id: str,
        *,
        page_size: int = 200,
        cache: Optional[Cache] = None,
    ) -> Iterator[Technique]:
        """Yields the items of all pages of :meth:`list_campaign_techniques`.
        While data changes, an item may be on two pages or on none: an export or the change feed is exact.
        """

        return cast(Iterator[Technique], items(lambda page: self.list_campaign_techniques(
            id,
            page=page,
            page_size=page_size,
            cache=cache,
        )))

    def get_actor_navigator_layer(
        self,
        id: str,
        *,
        cache: Optional[Cache] = None,
    ) -> NavigatorLayer:
        """Read the techniques of an actor as an ATT&CK Navigator layer.
        A layer of the format 4.5 with the Enterprise techniques of the details. Techniques without an ATT&CK
        id and those of industrial control systems are left out. A session of the application does in place of
        a key.

        GET /api/v1/actors/{id}/navigator

        :param id: The id, a UUID.
        """

        return cast(NavigatorLayer, self._transport.json(
            f"/api/v1/actors/{segment(id)}/navigator",
            cache=cache,
        ))

    def get_campaign_navigator_layer(
        self,
        id: str,
        *,
        cache: Optional[Cache] = None,
    ) -> NavigatorLayer:
        """Read the techniques of a campaign as an ATT&CK Navigator layer.
        A layer of the format 4.5 with the Enterprise techniques of the details. Techniques without an ATT&CK
        id and those of industrial control systems are left out. A session of the application does in place of
        a key.

        GET /api/v1/campaigns/{id}/navigator

        :param id: The id, a UUID.
        """

        return cast(NavigatorLayer, self._transport.json(
            f"/api/v1/campaigns/{segment(id)}/navigator",
            cache=cache,
        ))
