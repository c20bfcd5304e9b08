import { VisuallyHidden } from '@mantine/core';

const ID = 'announcer';

/** Where is said what is seen otherwise, to whoever hears the page (WCAG 4.1.3); stands once in the shell. */
export const Announcer = () => <VisuallyHidden id={ID} role="status" />;

export function announce(text: string): void {
  const place = document.getElementById(ID);
  if (!place) return;
  // The same words once more are news, too.
  place.textContent = '';
  requestAnimationFrame(() => {
    place.textContent = text;
  });
}
