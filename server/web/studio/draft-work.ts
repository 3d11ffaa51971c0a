// Jobs on drafts, which take long for large flows: problems, drawing, tests, texts, completion, calls of phones. They run in a
// worker thread that caches the other flows and the last compiled drafts.

import { LRUCache } from 'lru-cache';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Drawing } from '../../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../../lib/diagram/flow-drawing.ts';
import { cutText, TwinlineError } from '../../../lib/errors.ts';
import { completeFlow } from '../../../lib/flow/editing/completion.ts';
import { sketchFlow } from '../../../lib/flow/editing/cursor.ts';
import { explainFlow } from '../../../lib/flow/editing/explain.ts';
import { flowForm } from '../../../lib/flow/editing/form.ts';
import type { FlowForms } from '../../../lib/flow/editing/form-field.ts';
import { type EditedFlow, editFlow, type FlowOperation } from '../../../lib/flow/editing/operations.ts';
import { completeTests, explainTests } from '../../../lib/flow/editing/tests.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import type { Problem } from '../../../lib/flow/format/problem.ts';
import type { LintDoors } from '../../../lib/flow/lint/lint.ts';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import type { Contracts } from '../../../lib/flow/lint/shapes.ts';
import { type CompiledFlow, flowCompiler } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE } from '../../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { type FlowTestReport, recordFlowTest, runFlowTests } from '../../../lib/flow/testing/run.ts';
import { sampleServices } from '../../../lib/flow/testing/samples.ts';
import { addFlowTest, updateFlowTests } from '../../../lib/flow/testing/update.ts';
import type { Json } from '../../../lib/json/json.ts';
import type { AskProcess } from '../../config/job-thread.ts';
import { tryCompile } from '../../menus/menus.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { type Dialogue, readDialogue, recordDialogue, type ServiceRecorder } from '../simulator/flow-test.ts';
import type { PhoneSessionState } from '../simulator/session-state.ts';
import { type BegunFlows, beginFlows } from './begun.ts';
import {
  type DraftCall,
  type DraftDial,
  type DraftPhones,
  type DraftReply,
  draftPhones,
  type PreviewDial,
  type PreviewReply,
} from './draft-phones.ts';
import { listWordings, type Wordings } from './wordings.ts';

/** A text in the editor, and the name of its flow. */
export interface DraftText {
  readonly flow: string;
  readonly text: string;
}

export interface CheckedDraft {
  readonly problems: readonly Problem[];
  /** Screen id, start and end of its text. */
  readonly screens: readonly (readonly [id: string, from: number, to: number])[];
}

export interface TestedDraft {
  /** Problems of the test file. */
  readonly problems: readonly Problem[];
  readonly reports: FlowTestReport['tests'];
  readonly coverage?: FlowTestReport['coverage'];
  /** Updated tests, and the number of changed expectations. */
  readonly tests?: string;
  readonly changed?: number;
}

/** The other flows and the services. */
export interface DraftLibrary {
  readonly flows: readonly Flow[];
  readonly services: readonly string[];
  readonly contracts: Contracts;
  readonly doors: LintDoors;
}

/** A position in a draft, or in `tests` if set. */
export interface DraftPlace {
  readonly tests?: string | undefined;
  /** In UTF-16 units. */
  readonly offset: number;
}

/** A dialogue to add to the tests. */
export interface DraftDialogue {
  readonly tests: string;
  readonly name: string;
  readonly dialogue: Dialogue;
  /** Recorded answers of services. */
  readonly answers: ReturnType<ServiceRecorder['answers']>;
}

export interface DraftEdit {
  readonly operation: FlowOperation;
  /** The text of the tests, in which screens are renamed too. */
  readonly tests: string;
}

/** Kinds of jobs, and their parameters. */
export interface DraftQuestions {
  readonly check: undefined;
  readonly compile: undefined;
  readonly draw: undefined;
  readonly words: undefined;
  /** A JSON pointer to a screen, or '' for the flow. */
  readonly form: string;
  readonly edit: DraftEdit;
  /** The texts of a flow that gets the name of the draft, or an export of RapidPro. */
  readonly begin: { readonly tests: string };
  readonly test: DraftTests;
  /** The tests, of which the first one is followed. */
  readonly look: { readonly tests: string };
  readonly complete: DraftPlace;
  readonly explain: DraftPlace;
  readonly record: DraftDialogue;
  readonly dial: DraftDial;
  /** The tests say what services answer. */
  readonly preview: PreviewDial & { readonly tests: string };
  /** Session id of a phone; the draft is ignored. */
  readonly phone: string;
}

/** Results of jobs. Jobs that compile the draft throw ERR_INPUT if it has errors. */
export interface DraftResults {
  readonly check: CheckedDraft;
  readonly compile: null;
  readonly draw: Drawing;
  readonly words: Wordings;
  readonly form: FlowForms;
  readonly edit: EditedFlow;
  readonly begin: BegunFlows;
  readonly test: TestedDraft;
  /** The first screens. */
  readonly look: readonly string[];
  readonly complete: ReturnType<typeof completeFlow> | null;
  readonly explain: ReturnType<typeof explainFlow> | null;
  /** The tests with the dialogue added. */
  readonly record: string;
  readonly dial: DraftReply;
  readonly preview: PreviewReply;
  readonly phone: PhoneSessionState | null;
}

export interface DraftTests {
  readonly tests: string;
  /** Replaces expectations with the actual results. */
  readonly update: boolean;
}

type DraftKind = keyof DraftQuestions;

export interface DraftJob<Kind extends DraftKind = DraftKind> {
  readonly kind: Kind;
  readonly about: DraftQuestions[Kind];
  readonly draft: DraftText;
  /** Key of the library. */
  readonly libraryKey: string;
  /** Sent again if the worker does not have it. */
  readonly library?: DraftLibrary;
}

/** The result, or a request for the library. */
export type DraftAnswer = { readonly isLibraryMissing: true } | { readonly result: DraftResults[DraftKind] };

interface Library {
  readonly key: string;
  readonly flows: ReadonlyMap<string, Flow>;
  readonly services: ReadonlySet<string>;
  readonly contracts: Contracts;
  readonly doors: LintDoors;
}

interface LoadedDraft extends CheckedDraft {
  readonly flow?: Flow;
}

type Work = { readonly [Kind in DraftKind]: (about: DraftQuestions[Kind]) => Awaitable<DraftResults[Kind]> };
type Awaitable<T> = T | Promise<T>;

/** Returns a function that does jobs and caches between them. */
export function draftWork(): (job: DraftJob, ask: AskProcess<DraftCall, Json>) => Promise<DraftAnswer> {
  const checked = new LRUCache<string, LoadedDraft>({ max: PAGE_LIMITS.draftsWorked });
  const compiled = new LRUCache<string, CompiledFlow>({ max: PAGE_LIMITS.draftsWorked });
  let current: Library | undefined;
  let phones: DraftPhones | undefined;

  return async ({ kind, about, draft, libraryKey, library }, ask) => {
    if (library) current = readLibrary(libraryKey, library);
    if (current?.key !== libraryKey) return { isLibraryMissing: true };
    phones ??= draftPhones(ask);
    const work = workOn(draft, current, phones);
    return { result: await (work[kind] as (about: unknown) => Awaitable<DraftResults[DraftKind]>)(about) };
  };

  function workOn(draft: DraftText, around: Library, phones: DraftPhones): Work {
    const { flows, services, contracts } = around;
    const context = { flows, services, contracts };
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
      form: (pointer) => flowForm(text, pointer, context),
      edit: ({ operation, tests }) => editFlow(text, operation, { tests, contracts }),
      begin: ({ tests }) => beginFlows(draft, tests),
      test: (tests) => testDraft(compile(draft, around), { ...tests, contracts }),
      look: ({ tests }) => firstScreens(compile(draft, around), tests),
      complete: ({ tests, offset }) =>
        (tests === undefined
          ? completeFlow({ text, ...context }, offset)
          : completeTests({ text, tests, ...context }, offset)) ?? null,
      explain: ({ tests, offset }) =>
        (tests === undefined
          ? explainFlow(text, offset, context)
          : explainTests({ text, tests, ...context }, offset)) ?? null,
      record: async ({ tests, name, dialogue, answers }) => {
        const test = await recordDialogue(compile(draft, around), readDialogue(dialogue), { answers, name });
        return addFlowTest(tests, { flow, test });
      },
      dial: (dial) => phones.turn(dial, () => [compile(draft, around), [...services]]),
      preview: ({ tests, ...dial }) =>
        phones.preview(dial, () => {
          const compiled = compile(draft, around);
          return [compiled, sampleServices(compiled, parseFlowTests(tests, compiled.id + FLOW_TEST_FILE).file)];
        }),
      phone: (sessionId) => phones.state(sessionId),
    };
  }

  function check(draft: DraftText, { key, flows, services, contracts, doors }: Library): LoadedDraft {
    return keep(checked, [key, draft], () => {
      const name = draft.flow + FLOW_FILE;
      const { flow, problems } = checkFlow(draft.text, name, { flows, services, doors, contracts });
      const screens = [...sketchFlow(draft.text, 0).screens].map(([id, { from, to }]) => [id, from, to] as const);
      return { problems, screens, ...(flow && { flow }) };
    });
  }

  function compile(draft: DraftText, around: Library): CompiledFlow {
    return keep(compiled, [around.key, draft], () => compileDraft(readFlow(check(draft, around)), around));
  }
}

function readLibrary(key: string, { flows, services, contracts, doors }: DraftLibrary): Library {
  return { key, flows: new Map(flows.map((flow) => [flow.flow, flow])), services: new Set(services), contracts, doors };
}

function keep<T extends object>(cache: LRUCache<string, T>, [key, draft]: [string, DraftText], make: () => T): T {
  const name = JSON.stringify([key, draft.flow, draft.text]);
  const value = cache.get(name) ?? make();
  cache.set(name, value);
  return value;
}

function readFlow({ flow, problems }: LoadedDraft): Flow {
  const error = problems.find(({ severity }) => severity === 'error');
  if (!flow || error) throw invalidDraft(error?.message ?? 'It is not a readable flow.');
  return flow;
}

/** Compiles a draft. Throws ERR_INPUT if it has errors. */
function compileDraft(flow: Flow, { flows, doors: { timezone } }: Library): CompiledFlow {
  const compiled = tryCompile(flowCompiler({ flows: new Map([...flows, [flow.flow, flow]]), timezone }), flow);
  if (typeof compiled === 'string') throw invalidDraft(compiled);
  return compiled;
}

function invalidDraft(why: string): TwinlineError {
  return new TwinlineError('ERR_INPUT', `The flow has errors. ${cutText(why, COMMON_LIMITS.quotedChars)}`);
}

async function firstScreens(compiled: CompiledFlow, tests: string): Promise<string[]> {
  const { file } = parseFlowTests(tests, compiled.id + FLOW_TEST_FILE);
  const { steps, ...setup } = file?.tests[0] ?? { name: '', steps: [{ in: '' }] };
  const inputs = steps.slice(0, PAGE_LIMITS.templateScreens).map((step) => step.in);
  return (await recordFlowTest(compiled, { ...setup, inputs })).steps.map(({ text = '' }) => text);
}

async function testDraft(
  compiled: CompiledFlow,
  { tests, update, contracts }: DraftTests & Pick<Library, 'contracts'>,
): Promise<TestedDraft> {
  const name = compiled.id + FLOW_TEST_FILE;
  const { file, problems } = parseFlowTests(tests, name, { contracts });
  if (!file) return { problems, reports: [] };
  const updated = update ? await updateFlowTests(compiled, { file, text: tests }) : undefined;
  const now = updated ? (parseFlowTests(updated.text, name).file ?? file) : file;
  const { tests: reports, coverage } = await runFlowTests(compiled, now);
  return { problems, reports, coverage, ...(updated && { tests: updated.text, changed: updated.changed }) };
}
