// What is worked out of a draft, which takes long for a large one: problems, drawing, tests, texts. It is done in a thread of its own,
// which keeps the flows around the drafts and the last drafts that it has compiled.

import { LRUCache } from 'lru-cache';
import type { Drawing } from '../../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../../lib/diagram/flow-drawing.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { sketchFlow } from '../../../lib/flow/editing/cursor.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import type { Problem } from '../../../lib/flow/format/problem.ts';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE } from '../../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { type FlowTestReport, runFlowTests } from '../../../lib/flow/testing/run.ts';
import { updateFlowTests } from '../../../lib/flow/testing/update.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { tryCompile } from '../../menus/menus.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { listWordings, type Wordings } from './wordings.ts';

/** A text of the editor, and the name of its flow. */
export interface DraftText {
  readonly flow: string;
  readonly text: string;
}

export interface CheckedDraft {
  readonly problems: readonly Problem[];
  /** Screen id → offsets of its text. */
  readonly screens: readonly (readonly [id: string, from: number, to: number])[];
}

export interface TestedDraft {
  /** Of the tests. */
  readonly problems: readonly Problem[];
  readonly reports: FlowTestReport['tests'];
  readonly coverage?: FlowTestReport['coverage'];
  /** The tests as they were updated, and how many expectations are new. */
  readonly tests?: string;
  readonly changed?: number;
}

/** What is there beside the draft. */
export interface DraftLibrary {
  readonly flows: readonly Flow[];
  readonly services: readonly string[];
}

/** What may be asked of a draft, and what comes of it; all but `check` and `words` throw ERR_INPUT for one with errors. */
export interface DraftResults {
  readonly check: CheckedDraft;
  readonly flow: Flow;
  readonly draw: Drawing;
  readonly words: Wordings;
  readonly test: TestedDraft;
}

export interface DraftTests {
  readonly tests: string;
  /** Writes into them what they show. */
  readonly update: boolean;
}

export interface DraftJob {
  readonly kind: keyof DraftResults;
  readonly draft: DraftText;
  /** Names what is there beside it. */
  readonly libraryKey: string;
  /** Comes when the one that the key names is not known yet. */
  readonly library?: DraftLibrary;
  /** Of `test`. */
  readonly tests?: DraftTests;
}

/** The result, or that the library has to be sent along. */
export type DraftAnswer = { readonly isLibraryMissing: true } | { readonly result: DraftResults[keyof DraftResults] };

interface Known {
  readonly key: string;
  readonly flows: ReadonlyMap<string, Flow>;
  readonly services: ReadonlySet<string>;
}

interface LoadedDraft extends CheckedDraft {
  readonly flow?: Flow;
}

/** Does jobs with what it keeps from those before. */
export function draftWork(): (job: DraftJob) => Promise<DraftAnswer> {
  const checked = new LRUCache<string, LoadedDraft>({ max: PAGE_LIMITS.draftsWorked });
  const compiled = new LRUCache<string, CompiledFlow>({ max: PAGE_LIMITS.draftsWorked });
  let known: Known | undefined;

  return async ({ kind, draft, libraryKey, library, tests }) => {
    if (library) known = readLibrary(libraryKey, library);
    if (known?.key !== libraryKey) return { isLibraryMissing: true };
    const around = known;
    const results: { readonly [kind in keyof DraftResults]: () => DraftResults[kind] | Promise<DraftResults[kind]> } = {
      check: () => {
        const { problems, screens } = check(draft, around);
        return { problems, screens };
      },
      flow: () => readFlow(check(draft, around)),
      draw: () => flowDrawing(compile(draft, around)),
      words: () => {
        const { flow } = check(draft, around);
        return flow ? listWordings(flow) : { langs: [], wordings: [] };
      },
      test: () => testDraft(compile(draft, around), tests!),
    };
    return { result: await results[kind]() };
  };

  function check(draft: DraftText, { key, flows, services }: Known): LoadedDraft {
    return keep(checked, [key, draft], () => {
      const name = draft.flow + FLOW_FILE;
      const { flow, problems } = checkFlow(draft.text, name, { flows, services, contracts: CONTRACTS });
      const screens = [...sketchFlow(draft.text, 0).screens].map(([id, { from, to }]) => [id, from, to] as const);
      return { problems, screens, ...(flow && { flow }) };
    });
  }

  function compile(draft: DraftText, around: Known): CompiledFlow {
    return keep(compiled, [around.key, draft], () => compileDraft(readFlow(check(draft, around)), around.flows));
  }
}

function readLibrary(key: string, { flows, services }: DraftLibrary): Known {
  return { key, flows: new Map(flows.map((flow) => [flow.flow, flow])), services: new Set(services) };
}

function keep<T extends object>(kept: LRUCache<string, T>, [key, draft]: [string, DraftText], make: () => T): T {
  const name = JSON.stringify([key, draft.flow, draft.text]);
  const found = kept.get(name) ?? make();
  kept.set(name, found);
  return found;
}

function readFlow({ flow, problems }: LoadedDraft): Flow {
  const error = problems.find(({ severity }) => severity === 'error');
  if (!flow || error) throw invalidDraft(error?.message ?? 'It cannot be read.');
  return flow;
}

/** A draft without errors, compiled. Throws ERR_INPUT. */
export function compileDraft(flow: Flow, flows: ReadonlyMap<string, Flow>): CompiledFlow {
  const compiled = tryCompile(flow, new Map([...flows, [flow.flow, flow]]));
  if (typeof compiled === 'string') throw invalidDraft(compiled);
  return compiled;
}

function invalidDraft(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `The flow has errors. ${why}`);
}

async function testDraft(compiled: CompiledFlow, { tests, update }: DraftTests): Promise<TestedDraft> {
  const name = compiled.id + FLOW_TEST_FILE;
  const { file, problems } = parseFlowTests(tests, name);
  if (!file) return { problems, reports: [] };
  const updated = update ? await updateFlowTests(compiled, { file, text: tests }) : undefined;
  const now = updated ? (parseFlowTests(updated.text, name).file ?? file) : file;
  const { tests: reports, coverage } = await runFlowTests(compiled, now);
  return { problems, reports, coverage, ...(updated && { tests: updated.text, changed: updated.changed }) };
}
