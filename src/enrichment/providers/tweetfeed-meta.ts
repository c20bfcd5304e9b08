import { DAY, judged, memberOf, type Provider, textOf, unexpected } from './provider.ts';

/**
 * TweetFeed's look-ups of the values it lists (https://github.com/0xDanielLopez/TweetFeed, `ipmeta/` and
 * `domainmeta/`; one entry): place and network of an address (`fetched_at`), or registrar, age and
 * addresses of a domain (`checked_at`). Context only: it never carries a judgement.
 */
export const tweetfeedMeta: Provider = {
  name: 'tweetfeed-meta',
  accepts: ['IPV4', 'DOMAIN', 'URL'],
  assess(raw) {
    const at = textOf(memberOf(raw, 'fetched_at')) ?? textOf(memberOf(raw, 'checked_at'));
    return at === null ? unexpected() : judged(null, 7 * DAY);
  },
};
