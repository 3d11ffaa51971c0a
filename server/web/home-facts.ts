// Facts for the home page of operators: the health of the stores, and the served menus with their test results.

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Conversation, Library } from '../../lib/engine/conversation.ts';
import { type CompiledFlow, flowsIn, isFlow } from '../../lib/flow/run/compile.ts';
import { runFlowTests } from '../../lib/flow/testing/run.ts';
import type { ClockWatch, WrongClock } from '../health/clock-watch.ts';
import type { Health, StoreHealth } from '../health/health.ts';
import { readTests, type TestedFolder } from '../menus/menus.ts';
import { PAGE_LIMITS } from './limits.ts';

/** Results of the tests beside a flow, for the served version. */
export type Tested =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'run'; readonly count: number; readonly failed: readonly string[] };

export interface ServedMenu {
  readonly flow: string;
  readonly version: number;
  readonly screens: number;
  readonly languages: readonly string[];
  readonly tested: Tested;
}

export interface HomeFacts {
  readonly stores: readonly StoreHealth[];
  readonly wrongClocks: readonly WrongClock[];
  readonly menus: readonly ServedMenu[];
  /** Machines of their own. */
  readonly machines: readonly Pick<Conversation, 'id' | 'version'>[];
  /** Problems that keep edits from being served. */
  readonly refused: readonly string[];
}

export interface HomeSources {
  readonly health: Health;
  readonly clocks: Pick<ClockWatch, 'wrong'>;
  readonly library: Library;
  readonly menus: TestedFolder;
  refusedEdits(): readonly string[];
}

/** Returns a reader of the facts. It runs tests again only after the flow or the tests have changed. */
export function homeReader({ health, clocks, library, menus, refusedEdits }: HomeSources): () => Promise<HomeFacts> {
  const verdicts = new LRUCache<string, Promise<Tested>>({ max: PAGE_LIMITS.menusTested });

  async function readTested(compiled: CompiledFlow): Promise<Tested> {
    const tests = await readTests(menus, compiled.id);
    if (!tests) return { kind: 'none' };
    const { file, source } = tests;
    if (!file) return { kind: 'unreadable' };
    const key = createHash('sha256').update(`${compiled.hash} ${compiled.version}\0${source.text}`).digest('base64');
    const known = verdicts.get(key);
    if (known) return known;
    const verdict = runFlowTests(compiled, file).then(
      ({ tests }): Tested => {
        const failed = tests.filter(({ failures }) => failures.length > 0).map(({ name }) => name);
        return { kind: 'run', count: tests.length, failed };
      },
      (): Tested => ({ kind: 'unreadable' }),
    );
    verdicts.set(key, verdict);
    return verdict;
  }

  return async () => {
    const menus = await Promise.all(
      [...flowsIn(library).values()].map(async (compiled) => ({
        flow: compiled.id,
        version: compiled.version,
        screens: compiled.screens.size,
        languages: compiled.flow.langs ?? [],
        tested: await readTested(compiled),
      })),
    );
    const machines = library.ids.flatMap((id) => (isFlow(library.current(id)!) ? [] : [library.current(id)!]));
    return { stores: await health.stores(), wrongClocks: clocks.wrong(), menus, machines, refused: refusedEdits() };
  };
}
