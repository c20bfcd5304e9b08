/** Returns whether a UTF-16 unit is a half of a character outside the Basic Multilingual Plane. */
export const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** Returns whether a text is a gram: one or two characters of the Basic Multilingual Plane, which indicators are counted by. */
export const isGram = (text: string): boolean =>
  (text.length === 1 || text.length === 2) &&
  !isSurrogate(text.charCodeAt(0)) &&
  !isSurrogate(text.charCodeAt(1));
