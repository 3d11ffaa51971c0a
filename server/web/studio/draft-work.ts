// What is worked out of a draft, which takes long for a large one: problems, drawing, tests, texts, what may stand at a place, calls of
// phones. It is done in a thread of its own, which keeps the flows around the drafts and the last drafts that it has compiled.

import { LRUCache } from 'lru-cache';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Drawing } from '../../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../../lib/diagram/flow-drawing.ts';
import { cutText, TwinlineError } from '../../../lib/errors.ts';
import { completeFlow } from '../../../lib/flow/editing/completion.ts';
import { sketchFlow } from '../../../lib/flow/editing/cursor.ts';
import { explainFlow } from '../../../lib/flow/editing/explain.ts';
import { completeTests, explainTests } from '../../../lib/flow/editing/tests.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import type { Problem } from '../../../lib/flow/format/problem.ts';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE } from '../../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { type FlowTestReport, runFlowTests } from '../../../lib/flow/testing/run.ts';
import { addFlowTest, updateFlowTests } from '../../../lib/flow/testing/update.ts';
import type { Json } from '../../../lib/json/json.ts';
import type { UssdReply } from '../../../lib/ussd/adapter.ts';
import type { AskProcess } from '../../config/job-thread.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { tryCompile } from '../../menus/menus.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { type Dialogue, readDialogue, recordDialogue, type ServiceRecorder } from '../simulator/flow-test.ts';
import type { PhoneSessionState } from '../simulator/session-state.ts';
import { type DraftCall, type DraftDial, type DraftPhones, draftPhones } from './draft-phones.ts';
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

/** A place in a draft, or in its tests where they are given. */
export interface DraftPlace {
  readonly tests?: string | undefined;
  /** In UTF-16 units. */
  readonly offset: number;
}

/** A dialogue that becomes one more of the tests. */
export interface DraftDialogue {
  readonly tests: string;
  readonly name: string;
  readonly dialogue: Dialogue;
  /** What services answered in it. */
  readonly answers: ReturnType<ServiceRecorder['answers']>;
}

/** What may be asked of a draft, and what has to be said besides. */
export interface DraftQuestions {
  readonly check: undefined;
  readonly compile: undefined;
  readonly draw: undefined;
  readonly words: undefined;
  readonly test: DraftTests;
  readonly complete: DraftPlace;
  readonly explain: DraftPlace;
  readonly record: DraftDialogue;
  readonly dial: DraftDial;
  /** The id of a session that dialled a draft; which does not matter. */
  readonly phone: string;
}

/** What comes of it; those that compile the draft throw ERR_INPUT for one with errors. */
export interface DraftResults {
  readonly check: CheckedDraft;
  readonly compile: null;
  readonly draw: Drawing;
  readonly words: Wordings;
  readonly test: TestedDraft;
  readonly complete: ReturnType<typeof completeFlow> | null;
  readonly explain: ReturnType<typeof explainFlow> | null;
  /** The tests with the new one. */
  readonly record: string;
  readonly dial: UssdReply;
  readonly phone: PhoneSessionState | null;
}

export interface DraftTests {
  readonly tests: string;
  /** Writes into them what they show. */
  readonly update: boolean;
}

type DraftKind = keyof DraftQuestions;

export interface DraftJob<Kind extends DraftKind = DraftKind> {
  readonly kind: Kind;
  readonly about: DraftQuestions[Kind];
  readonly draft: DraftText;
  /** Names what is there beside it. */
  readonly libraryKey: string;
  /** Comes when the one that the key names is not known yet. */
  readonly library?: DraftLibrary;
}

/** The result, or that the library has to be sent along. */
export type DraftAnswer = { readonly isLibraryMissing: true } | { readonly result: DraftResults[DraftKind] };

interface Known {
  readonly key: string;
  readonly flows: ReadonlyMap<string, Flow>;
  readonly services: ReadonlySet<string>;
}

interface LoadedDraft extends CheckedDraft {
  readonly flow?: Flow;
}

type Work = { readonly [Kind in DraftKind]: (about: DraftQuestions[Kind]) => Awaitable<DraftResults[Kind]> };
type Awaitable<T> = T | Promise<T>;

/** Does jobs with what it keeps from those before. */
export function draftWork(): (job: DraftJob, ask: AskProcess<DraftCall, Json>) => Promise<DraftAnswer> {
  const checked = new LRUCache<string, LoadedDraft>({ max: PAGE_LIMITS.draftsWorked });
  const compiled = new LRUCache<string, CompiledFlow>({ max: PAGE_LIMITS.draftsWorked });
  let known: Known | undefined;
  let phones: DraftPhones | undefined;

  return async ({ kind, about, draft, libraryKey, library }, ask) => {
    if (library) known = readLibrary(libraryKey, library);
    if (known?.key !== libraryKey) return { isLibraryMissing: true };
    phones ??= draftPhones(ask);
    const work = workOn(draft, known, phones);
    return { result: await (work[kind] as (about: unknown) => Awaitable<DraftResults[DraftKind]>)(about) };
  };

  function workOn(draft: DraftText, around: Known, phones: DraftPhones): Work {
    const { flows, services } = around;
    const known = { flows, services, contracts: CONTRACTS };
    const { flow, text } = draft;
    return {
      check: () => {
        const { problems, screens } = check(draft, around);
        return { problems, screens };
      },
      compile: () => {
        compile(draft, around);
        return null;
      },
      draw: () => flowDrawing(compile(draft, around)),
      words: () => {
        const { flow } = check(draft, around);
        return flow ? listWordings(flow) : { langs: [], wordings: [] };
      },
      test: (tests) => testDraft(compile(draft, around), tests),
      complete: ({ tests, offset }) =>
        (tests === undefined
          ? completeFlow({ text, ...known }, offset)
          : completeTests({ text, tests, ...known }, offset)) ?? null,
      explain: ({ tests, offset }) =>
        (tests === undefined ? explainFlow(text, offset, known) : explainTests({ text, tests, ...known }, offset)) ??
        null,
      record: async ({ tests, name, dialogue, answers }) => {
        const test = await recordDialogue(compile(draft, around), readDialogue(dialogue), { answers, name });
        return addFlowTest(tests, { flow, test });
      },
      dial: (dialled) => phones.turn(dialled, () => [compile(draft, around), [...services]]),
      phone: (sessionId) => phones.state(sessionId),
    };
  }

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
function compileDraft(flow: Flow, flows: ReadonlyMap<string, Flow>): CompiledFlow {
  const compiled = tryCompile(flow, new Map([...flows, [flow.flow, flow]]));
  if (typeof compiled === 'string') throw invalidDraft(compiled);
  return compiled;
}

function invalidDraft(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `The flow has errors. ${cutText(why, COMMON_LIMITS.quotedChars)}`);
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
