// The built programs of instances: the server as it is deployed, and the one with a broken store.

import { join } from 'node:path';
import { built } from '../support/build.ts';

export interface Built {
  /** `dist/server/main.js`, built apart so that no other build gets in the way. */
  readonly main: string;
  readonly broken: string;
}

export async function builtServer(): Promise<Built> {
  const broken = await built('chaos', 'broken.js');
  return { main: join(broken, '../../../server/main.js'), broken };
}
