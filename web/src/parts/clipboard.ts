/**
 * Copies a text. Browsers give the clipboard to secure origins alone (W3C Clipboard API, §7); over plain http, as on a
 * network of one's own, a selection is copied instead.
 * @throws when the browser does not let it
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!done) throw new Error('The browser denied clipboard access.');
}
