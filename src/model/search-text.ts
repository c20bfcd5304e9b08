/**
 * Text as `q` compares it: in lower case, and so that a part of a word becomes a part of the whole. Unicode lowers
 * a capital sigma at a word's end to another letter than within it (Final_Sigma, the one rule that looks around).
 */
export function searchText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
