import IconMoon from 'icon:moon';
import IconSun from 'icon:sun';
import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';

/** A button that switches between the light and the dark theme. */
export function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(other)}
      aria-label={`Switch to ${other} theme`}
    >
      {scheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}
