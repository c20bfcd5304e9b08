/**
 * Where a text may be cut, the best first: at characters that separate observables in every text; at blanks, unless they belong to a
 * defanged dot such as ` [.] `; within a word that is longer than any observable, where `extractValues` separates it.
 */
const CUTS = [
  /^[\s\S]*[\t\n\v\f\r"'`|“”‘’«»]/,
  /^[\s\S]*[^ \])}）］】>] +(?=[^ [({（［【<\\])/,
  /^[\s\S]*[,;=]/,
];

/** Returns where the first part of a text ends, of at most so many characters, so that no observable is cut. */
export function partEnd(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const head = text.slice(0, most);
  for (const cut of CUTS) {
    const [part] = cut.exec(head) ?? [];
    if (part) return part.length;
  }
  return most;
}
