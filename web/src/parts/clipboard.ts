/**
 * Copies a text to the clipboard. Browsers offer the Clipboard API to secure origins only (W3C Clipboard API, §7); over
 * plain http, as on an internal network, a selection is copied instead.
 * @throws when the browser denies access to the clipboard
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error('The browser denied clipboard access.');
}
