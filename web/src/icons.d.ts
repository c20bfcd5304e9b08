/** An icon of Tabler by its name; web/tabler-icons.ts makes the module. */
declare module 'icon:*' {
  import type { ComponentProps, ComponentType } from 'react';

  const Icon: ComponentType<ComponentProps<'svg'> & { size?: number }>;
  export default Icon;
}
