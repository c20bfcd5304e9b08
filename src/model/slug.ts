/**
 * Returns a name for URLs: lower-case ASCII letters, digits and single hyphens; at most 80 long, never empty.
 * It derives from the name alone: avoiding collisions would disclose hidden objects. Ids distinguish objects.
 */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  const slug = plain
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join('-')
    .slice(0, 80)
    .replace(/-$/, '');
  return slug || 'unnamed';
}
