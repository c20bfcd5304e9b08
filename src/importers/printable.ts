/**
 * Returns a name from a file for use in reasons, which are counted and displayed: short, and without
 * characters that a terminal would interpret.
 */
export function printable(name: string): string {
  return name.replace(/[^\w.:|@ /-]/g, '?').slice(0, 64);
}
