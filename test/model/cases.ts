import { expect } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';

export function expectValue(type: IndicatorType, raw: string, value: string, normalized = value): void {
  expect(normalize(type, raw)).toEqual({ type, value, normalized });
}

export function expectRejected(type: IndicatorType, raw: string, reason: string): void {
  expect(normalize(type, raw)).toEqual({ rejected: reason });
}
