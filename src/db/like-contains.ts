/** The LIKE pattern of texts that hold this one; its wildcards stand for themselves. */
export function likeContains(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
