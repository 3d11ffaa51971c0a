// The flow that a dial starts, while a server runs: fixed by USSD_FLOW, or what the file `dialled.json` beside the menus says now. Instances
// that watch the same folder follow the same file.

import { join } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import type { FlowCode } from '../../lib/ussd/codes.ts';
import type { Config } from '../config/config.ts';
import { DIALLED_FILE, readDialledFile } from '../config/dialled-file.ts';
import { replaceFile } from './files.ts';
import { menuHome } from './home.ts';
import { lintDoors, type MenuFolder } from './menus.ts';

interface Dialled {
  readonly flow: string;
  /** Service codes that start other flows. */
  readonly codes: readonly FlowCode[];
}

export interface DialChoice extends Dialled {
  /** USSD_FLOW is set: only a start with another value changes it. */
  readonly isFixed: boolean;
  /** Reads the file of a folder again. Returns why what it says is not done; then the flow of before is dialled. */
  follow(folder: string, isServed: (flow: string) => boolean): string | undefined;
  /** Writes the file, after `note`. Throws ERR_INPUT where USSD_FLOW decides. */
  write(folder: string, flow: string, note?: () => Promise<unknown>): Promise<void>;
}

/** Without a file. */
const USUAL = 'main';

/** Starts with the flow of the configuration. */
export function dialChoice({ flow, codes, isFlowSet }: Dialled & { readonly isFlowSet: boolean }): DialChoice {
  let current = flow;
  return {
    get flow() {
      return current;
    },
    codes,
    isFixed: isFlowSet,
    follow(folder, isServed) {
      if (isFlowSet) return undefined;
      const written = readDialledFile(folder) ?? { flow: USUAL };
      if ('fault' in written) return `${written.fault} A dial starts "${current}" as before.`;
      if (written.flow === current) return undefined;
      if (!isServed(written.flow))
        return `${join(folder, DIALLED_FILE)}: the flow "${written.flow}" is not served. A dial starts "${current}" as before.`;
      current = written.flow;
      return undefined;
    },
    async write(folder, next, note) {
      if (isFlowSet)
        throw new TwinlineError(
          'ERR_INPUT',
          'USSD_FLOW names the flow that a dial starts. Change it there, and restart.',
        );
      await note?.();
      await replaceFile(join(folder, DIALLED_FILE), `${JSON.stringify({ flow: next })}\n`);
    },
  };
}

/** Where the menus of a configuration are, and what a dial starts. */
export function placeMenus(
  config: Config,
  parts: Pick<MenuFolder, 'services' | 'contracts' | 'machines' | 'rules' | 'clock'>,
) {
  const dialled = dialChoice(config.ussd);
  const home = menuHome(config);
  const menuFolder: MenuFolder = {
    get folder() {
      return home.folder;
    },
    ...{ ...parts, doors: lintDoors(config, dialled) },
    mayBeEmpty: config.studio && !config.production,
  };
  return { dialled, menuHome: home, menuFolder };
}
