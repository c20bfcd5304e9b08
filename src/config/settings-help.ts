import { SETTINGS, type Setting } from './settings.ts';

const settings: Setting[] = Object.values(SETTINGS);

const defaultOf = ({ default: text, without = 'none' }: Setting) => text || without;

/** Returns the name, meaning and default of each setting as plain text. */
export function settingsHelp(): { name: string; meaning: string }[] {
  return settings.map((setting) => ({
    name: setting.name,
    meaning: `${setting.meaning.replaceAll('`', '')} (${defaultOf(setting)})`,
  }));
}
