import { SETTINGS, type Setting } from './settings.ts';

const settings: Setting[] = Object.values(SETTINGS);

const defaultOf = ({ default: text, without = 'none' }: Setting) => text || without;

/** Name and meaning of each setting, for a terminal. */
export function settingsHelp(): { name: string; meaning: string }[] {
  return settings.map((setting) => ({
    name: setting.name,
    meaning: `${setting.meaning.replaceAll('`', '')} (${defaultOf(setting)})`,
  }));
}

/** The table of the README. */
export function settingsTable(): string {
  const rows = settings.map((setting) => {
    const { name, meaning, example, default: text } = setting;
    const such = example ? `; e.g. \`${example}\`` : '';
    return `| \`${name}\` | ${text ? `\`${text}\`` : defaultOf(setting)} | ${meaning}${such} |`;
  });
  return ['| setting | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

/** `.env.example`: every setting, each commented out. */
export function settingsFile(): string {
  const blocks = settings.map(({ name, meaning, default: text, without, example }) => {
    const value = text || example || '';
    return `# ${meaning.replaceAll('`', '')} (${text || without || 'none'})\n#${name}=${value}\n`;
  });
  return [
    '# Settings of Tipline. Copy this file to .env and remove the # before those to change.\n',
    ...blocks,
  ].join('\n');
}
