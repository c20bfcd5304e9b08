/** Further apart than this, two names are not a slip of the keyboard. */
const MAX_DISTANCE_RATIO = 0.3;

/** Returns the candidate that a mistyped name most likely means, or undefined when none is close. */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  let closest: string | undefined;
  let least = Math.floor(name.length * MAX_DISTANCE_RATIO) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < least) [closest, least] = [candidate, distance];
  }
  return closest;
}

/** Returns how many single letters have to be inserted, removed or replaced (Levenshtein). */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
