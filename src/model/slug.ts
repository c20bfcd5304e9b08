/**
 * A name for addresses: lower-case ASCII letters, digits and single hyphens; at most 80 long, never empty. It follows
 * from the name alone: one that avoids others would betray hidden ones. Ids tell things apart.
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
