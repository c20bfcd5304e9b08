import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const PREFIX = 'icon:';

interface IconSet {
  /** The SVG elements of each icon, for a view box of 24 by 24. */
  icons: Record<string, { body: string }>;
}

/**
 * Resolves `icon:NAME` to a module whose default export is a component with the Tabler icon of that name. A package
 * with a module for each of its 6,000 icons takes as long to install as all other packages of the pages together.
 */
export function tablerIcons(): Plugin {
  let set: IconSet | undefined;
  return {
    name: 'tabler-icons',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return null;
      const file = new URL(import.meta.resolve('@iconify-json/tabler/icons.json'));
      set ??= JSON.parse(readFileSync(file, 'utf8')) as IconSet;
      const name = id.slice(PREFIX.length + 1);
      const icon = set.icons[name];
      if (!icon) throw new Error(`There is no Tabler icon "${name}".`);
      const body = icon.body.replace(/-([a-z])(?=[a-z]*=")/g, (_, letter: string) => letter.toUpperCase());
      const code = `export default ({ size = 24, ...rest }) => (
        <svg xmlns="http://www.w3.org/2000/svg" width={size} height={size} viewBox="0 0 24 24" {...rest}>${body}</svg>
      );`;
      return { code, moduleType: 'jsx' };
    },
  };
}
