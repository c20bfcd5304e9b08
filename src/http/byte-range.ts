export interface ByteRange {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * Parses a Range header with one range of bytes (RFC 9110 §14.1.2). Several ranges and other units are not supported
 * and ignored, as §14.2 allows.
 * @returns null: the header must be ignored; 'unsatisfiable': the response is 416
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = header?.match(/^bytes= *(\d{0,15})-(\d{0,15}) *$/i) ?? [];
  if (first === '' && last === '') return null;
  // `bytes=-500` requests the last 500 bytes.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start < end ? { start, end } : 'unsatisfiable';
}
