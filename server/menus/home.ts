// The folder of the menus of a server. The menus inside the installed package are only read: npm replaces them, so the first write makes a
// folder of the operator's own.

import { existsSync, realpathSync } from 'node:fs';
import { cp, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TwinlineError } from '../../lib/errors.ts';
import type { Config } from '../config/config.ts';

export interface MenuHome {
  /** The folder that is read now. */
  readonly folder: string;
  /** The folder that writes go to. It need not exist before {@link open} resolves. */
  readonly target: string;
  /**
   * Makes `target` where it is not there, with a copy of all that was read so far, and reads from it from now on. Throws ERR_STORE if it
   * cannot be made, ERR_INPUT if it is inside the installed package.
   */
  open(): Promise<void>;
}

/** The home of the menus of a configuration: shipped menus move to `./menus` when they are first written. */
export function menuHome({ menusDir, menusAreShipped }: Pick<Config, 'menusDir' | 'menusAreShipped'>): MenuHome {
  const target = menusAreShipped ? resolve('menus') : menusDir;
  let folder = menusDir;
  let opening: Promise<void> | undefined;
  const move = async (): Promise<void> => {
    refuseInstalled(target);
    if (folder !== target) await copyMenus(folder, target);
    folder = target;
  };
  return {
    get folder() {
      return folder;
    },
    target,
    open: () => {
      opening ??= move().catch((error) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
  };
}

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.resolve('#menus/main.flow.json'))));

/**
 * Throws ERR_INPUT for a folder inside the installed package, whose files npm replaces. A clone of the repository is not installed.
 * @default root the package of this program
 */
export function refuseInstalled(folder: string, root = PACKAGE): void {
  const isInstalled = root.includes(`${sep}node_modules${sep}`);
  if (!isInstalled || !existsSync(folder) || !`${realpathSync(folder)}${sep}`.startsWith(realpathSync(root) + sep))
    return;
  throw new TwinlineError(
    'ERR_INPUT',
    `${folder} is inside the installed package, where the next "npm install" deletes what is written. Copy it to a folder of your own, and set MENUS_DIR to that.`,
  );
}

// As a whole or not at all; what somebody made in the meantime stays.
async function copyMenus(from: string, to: string): Promise<void> {
  let part: string | undefined;
  try {
    part = await mkdtemp(join(dirname(to), '.menus-'));
    for (const name of await readdir(from))
      if (name.endsWith('.json')) await cp(join(from, name), join(part, name), { preserveTimestamps: false });
    if (existsSync(to)) await cp(part, to, { recursive: true, force: false });
    else await rename(part, to);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new TwinlineError('ERR_STORE', `The folder ${to} cannot be made (${code}). Nothing was saved.`, { cause });
  } finally {
    if (part !== undefined) await rm(part, { recursive: true, force: true });
  }
}
