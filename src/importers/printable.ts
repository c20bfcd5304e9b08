/** Names from a file go into reasons, which are counted and shown: short, and nothing a terminal would obey. */
export function printable(name: string): string {
  return name.replace(/[^\w.:|@ /-]/g, '?').slice(0, 64);
}
