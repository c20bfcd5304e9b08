export interface ByteRange {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * One range of bytes (RFC 9110 §14.1.2). Several, or another unit, are not understood and so ignored, as §14.2 allows.
 * @returns null: the header is to be ignored; 'unsatisfiable': 416
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = header?.match(/^bytes= *(\d{0,15})-(\d{0,15}) *$/i) ?? [];
  if (first === '' && last === '') return null;
  // bytes=-500: the last 500.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start < end ? { start, end } : 'unsatisfiable';
}
