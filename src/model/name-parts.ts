/**
 * Whitelisted names below a domain, as an operator's entry writes them: `name` with the names below it, `=name` alone,
 * `*.name` for the names below it alone.
 */
export interface NamePart {
  name: string;
  itself: boolean;
  below: boolean;
}

export function readNamePart(text: string): NamePart {
  if (text.startsWith('=')) return { name: text.slice(1), itself: true, below: false };
  if (text.startsWith('*.')) return { name: text.slice(2), itself: false, below: true };
  return { name: text, itself: true, below: true };
}

export function writeNamePart({ name, itself, below }: NamePart): string {
  if (!below) return `=${name}`;
  return itself ? name : `*.${name}`;
}

/** Returns whether parts include a name; takes time proportional to the number of its labels. */
export function hasName(parts: ReadonlySet<string>, name: string): boolean {
  return parts.has(`=${name}`) || parts.has(name) || isBelow(parts, name);
}

/** Returns whether parts include all names below one that is above the name. */
function isBelow(parts: ReadonlySet<string>, name: string): boolean {
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const above = name.slice(dot + 1);
    if (parts.has(above) || parts.has(`*.${above}`)) return true;
  }
  return false;
}

/** Returns parts without those that others include, sorted; a name alone and those below it become one part. */
export function joinedNames(texts: readonly string[]): string[] {
  const given = new Set(texts);
  const joined = new Set(
    texts.map((text) => {
      const { name } = readNamePart(text);
      return given.has(`=${name}`) && given.has(`*.${name}`) ? name : text;
    }),
  );
  return [...joined].filter((text) => !isIncluded(text, joined)).sort();
}

function isIncluded(text: string, parts: ReadonlySet<string>): boolean {
  const { name } = readNamePart(text);
  return isBelow(parts, name) || (text !== name && parts.has(name));
}
