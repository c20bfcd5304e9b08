import { VisuallyHidden } from '@mantine/core';

const ID = 'announcer';

/** The live region for screen readers (WCAG 4.1.3). The shell renders it once. */
export const Announcer = () => <VisuallyHidden id={ID} role="status" />;

/** Announces a text to screen readers. */
export function announce(text: string): void {
  const region = document.getElementById(ID);
  if (!region) return;
  // Screen readers announce the same text again only after a change.
  region.textContent = '';
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
