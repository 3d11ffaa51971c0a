// Checks of the settings themselves: names that are probably misspelt, and menus that are only shipped as an example.

import type { Config } from '../config/config.ts';
import { advice, type DoctorCheck, type Finding, fine } from './check.ts';

export const SETTING_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'names of settings',
    run: ({ config }) => (config.misspelt.length ? misspeltFindings(config) : fine('none is probably misspelt')),
  },
  { name: 'own menus', when: ({ config }) => config.production, run: ({ config }) => checkMenusDir(config) },
];

/** One for each variable that is no setting and differs from one by a letter or two. */
export function misspeltFindings({ misspelt }: Pick<Config, 'misspelt'>): Finding[] {
  return misspelt.map(({ name, meant }) =>
    advice(`${name} is set, and is no setting`, `Write ${meant}, if that is what was meant.`),
  );
}

/** Whether callers get menus of the operator. */
export function checkMenusDir({ menusDir, menusAreShipped }: Pick<Config, 'menusDir' | 'menusAreShipped'>): Finding {
  if (!menusAreShipped) return fine(menusDir);
  const words = 'MENUS_DIR is not set: callers get the menus that Twinline ships as examples';
  return advice(words, 'Set MENUS_DIR to the folder of your menus.');
}
