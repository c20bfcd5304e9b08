import { TiplineError } from './error.js';
import { Operations } from './generated/operations.js';
import type { LookUpManyValuesQuery, LookUpValuesQuery, LookupResult } from './generated/types.js';
import {
  BULK_BYTES,
  BULK_VALUES,
  batches,
  isForUrl,
  jsonBytes,
  parts,
  TEXT_CHARACTERS,
  URL_BYTES,
  URL_VALUES,
  unread,
  urlBytes,
} from './lookup.js';
import { type CallOptions, type TiplineOptions, Transport } from './transport.js';

/** Statuses of proxies that reject the method QUERY. */
const NO_QUERY = [405, 501];

/** A client of Tipline: a method for each operation of the API, and iterators. Requests change nothing on the server. */
export class Tipline extends Operations {
  #hasQuery = true;

  constructor(options: TiplineOptions) {
    super(new Transport(options));
  }

  /**
   * Looks up any number of values, plain or defanged, and yields a result for each, in their order. It sends up to `batchSize`
   * values (10,000) a request, with the method QUERY, or with GET, up to 100, where a proxy rejects QUERY.
   */
  async *lookUp(
    values: Iterable<string> | AsyncIterable<string>,
    query: Omit<LookUpValuesQuery, 'value'> & { batchSize?: number } = {},
    options: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<LookupResult, void, undefined> {
    // A string is an iterable of its characters, each of which would be looked up.
    if (typeof values === 'string')
      throw new TypeError('values must be an array of strings, not one string: lookUp([value]).');
    const { batchSize = BULK_VALUES, ...filters } = query;
    const most = Math.min(batchSize, BULK_VALUES);
    for await (const batch of batches(values, most, BULK_BYTES, jsonBytes)) {
      const found = await this.#byQuery({ values: batch }, filters, options);
      if (found) yield* found;
      else yield* this.#byUrl(batch, filters, options);
    }
  }

  /**
   * Looks up the observables in a text of any length, such as a report, an e-mail or a log, and yields a result for each, once.
   * @throws {TiplineError} 405 or 501 where a proxy rejects QUERY: the server finds the observables, and GET has no body
   */
  async *lookUpText(
    text: string,
    query: Omit<LookUpManyValuesQuery, 'extract'> = {},
    options: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<LookupResult, void, undefined> {
    const seen = new Set<string>();
    // NUL is part of no observable, and earlier servers reject a body with it.
    for (const part of parts(text.replaceAll('\0', ' '), TEXT_CHARACTERS)) {
      if (part.trim() === '') continue;
      const { data } = await this.lookUpManyValues(part, { ...query, extract: true }, options);
      for (const result of data) {
        const name = `${result.type} ${result.value ?? result.asked}`;
        if (!seen.has(name)) yield result;
        seen.add(name);
      }
    }
  }

  /** Returns null where a proxy rejects QUERY. */
  async #byQuery(
    body: { values: string[] },
    filters: LookUpManyValuesQuery,
    options: CallOptions,
  ): Promise<LookupResult[] | null> {
    if (!this.#hasQuery) return null;
    try {
      return (await this.lookUpManyValues(body, filters, options)).data;
    } catch (error) {
      if (!(error instanceof TiplineError && NO_QUERY.includes(error.status))) throw error;
      this.#hasQuery = false;
      return null;
    }
  }

  async *#byUrl(
    values: readonly string[],
    filters: LookUpManyValuesQuery,
    options: CallOptions,
  ): AsyncGenerator<LookupResult, void, undefined> {
    for await (const value of batches(values, URL_VALUES, URL_BYTES, urlBytes)) {
      const accepted = value.filter(isForUrl);
      const found =
        accepted.length === 0 ? [] : (await this.lookUpValues({ ...filters, value: accepted }, options)).data;
      const next = found.values();
      for (const one of value) yield isForUrl(one) ? (next.next().value ?? unread(one)) : unread(one);
    }
  }
}
