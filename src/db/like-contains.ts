/** Returns the LIKE pattern of texts that contain this one; its wildcards are escaped. */
export function likeContains(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
