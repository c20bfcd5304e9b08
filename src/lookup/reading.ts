import { type Asking, type Question, readQuestions } from './questions.ts';
import { toResult } from './result.ts';

/**
 * Reads values, in their order: questions for those that may be listed, and the texts of the results of the others, of which those that follow
 * each other are one text with the separator between them.
 */
export type ReadTexts = (asking: Asking, separator: string) => Promise<(string | Question)[]>;

export function readTexts(asking: Asking, separator: string): (string | Question)[] {
  const parts: (string | Question)[] = [];
  let texts: string[] = [];
  const endText = () => {
    if (texts.length > 0) parts.push(texts.join(separator));
    texts = [];
  };
  for (const question of readQuestions(asking)) {
    const { asked, read, candidates } = question;
    if (candidates.length === 0) texts.push(JSON.stringify(toResult({ asked, read, matches: [] })));
    else {
      endText();
      parts.push(question);
    }
  }
  endText();
  return parts;
}
