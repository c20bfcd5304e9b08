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
