import type { RawRow } from '../../db/database.ts';
import { parseInstant, parseTextArray, parseTimestamp } from '../../db/postgres/text-formats.ts';
import type { Epss, Kev } from '../../model/vulnerability.ts';

/** A raw row of a page of the list with its total and state, whose columns are parsed when they are read. */
export class LazyRow {
  readonly #row: RawRow;
  constructor(row: RawRow) {
    this.#row = row;
  }
  get total() {
    return Number(this.#row.text('total'));
  }
  get id() {
    return this.#row.text('id');
  }
  get type() {
    return this.#row.text('type');
  }
  get value() {
    return this.#row.text('value');
  }
  get confidence() {
    return Number(this.#row.text('confidence'));
  }
  get severity() {
    return this.#row.text('severity');
  }
  get tlp() {
    return this.#row.text('tlp');
  }
  get tags() {
    return parseTextArray(String(this.#row.text('tags')));
  }
  get source() {
    return this.#row.text('source');
  }
  get first_seen() {
    return parseInstant(String(this.#row.text('first_seen')));
  }
  get last_seen() {
    return parseInstant(String(this.#row.text('last_seen')));
  }
  get expires_at() {
    const text = this.#row.text('expires_at');
    return text ? parseInstant(text) : null;
  }
  get for_detection() {
    return this.#row.text('for_detection') === 't';
  }
  get epss() {
    const text = this.#row.text('epss');
    return text ? (JSON.parse(text) as Epss) : null;
  }
  get kev() {
    const text = this.#row.text('kev');
    return text ? (JSON.parse(text) as Kev) : null;
  }
  get revision() {
    return Number(this.#row.text('revision'));
  }
  get valid_until() {
    const text = this.#row.text('valid_until');
    return text ? parseTimestamp(text) : null;
  }
}
