// Checks of menus and services: that they load, and that the flow which a dial starts is among them.

import { loadMenus } from '../menus/menus.ts';
import { serviceNames } from '../menus/services.ts';
import { advice, broken, type Check, fine } from './check.ts';

export const MENU_CHECKS: readonly Check[] = [
  {
    name: 'menus',
    run: async ({ config, env }) => {
      const { flow } = config.ussd;
      const services = await serviceNames(env);
      const menus = await loadMenus({ folder: config.menusDir, services }, flow);
      const errors = menus.problems.filter(({ severity }) => severity === 'error').length + menus.failures.length;
      const words = `${menus.compiled.size} of ${menus.files.length} menus load from ${config.menusDir}`;
      if (errors) return broken(`${words}, with ${errors} errors`, 'See: npx twinline lint');
      const warnings = menus.problems.length;
      return warnings ? advice(`${words}, with ${warnings} warnings`, 'See: npx twinline lint') : fine(words);
    },
  },
];
