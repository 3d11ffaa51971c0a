// Sessions of other programs → tests of flows: each is dialled in the converted flow, and the screens it shows are what the test expects.

import type { Json } from '../../json/json.ts';
import type { Flow, MenuScreen } from '../format/flow.ts';
import { type CompiledFlow, compileFlow } from '../run/compile.ts';
import { markFlow } from '../testing/coverage.ts';
import type { FlowTest, FlowTestFile, FlowTestStep, MockAnswer } from '../testing/file.ts';
import { openTestSession } from '../testing/session.ts';
import type { ConversionReport } from './report.ts';
import type { ForeignSession } from './sessions.ts';

export interface RecordOptions {
  readonly flows: readonly Flow[];
  /** Uuid of a flow → its name here. */
  readonly names: ReadonlyMap<string, string>;
  readonly report: ConversionReport;
}

const GO_ON_MAX = 20;
const CALLS_MAX = 20;

/** The tests of each flow that there are sessions of. */
export async function recordSessions(
  sessions: readonly ForeignSession[],
  { flows, names, report }: RecordOptions,
): Promise<FlowTestFile[]> {
  const all = new Map(flows.map((flow) => [flow.flow, flow]));
  const tests = new Map<string, FlowTest[]>();
  for (const [at, session] of sessions.entries()) {
    const name = session.flow === undefined ? flows[0]?.flow : names.get(session.flow);
    const flow = name === undefined ? undefined : all.get(name);
    if (!flow) {
      report.add({
        flow: '',
        node: session.flow ?? '',
        what: `session ${at + 1}`,
        reason: 'Its flow is not in the file; no test is made of it.',
      });
      continue;
    }
    const note = (what: string, reason: string) =>
      report.add({ flow: flow.flow, node: '', what: `session ${at + 1} ${what}`.trim(), reason });
    const recording = { name: `session ${at + 1}`, note };
    const test = await recordSession(compileFlow(flow, { flows: all }), session, recording).catch((error: Error) => {
      note('', `It cannot be dialled again: ${error.message}`);
    });
    if (test) tests.set(flow.flow, [...(tests.get(flow.flow) ?? []), test]);
  }
  return [...tests].map(([flow, list]) => ({ flow, tests: list }));
}

interface Recording {
  readonly name: string;
  note(what: string, reason: string): void;
}

async function recordSession(
  compiled: CompiledFlow,
  session: ForeignSession,
  { name, note }: Recording,
): Promise<FlowTest> {
  const services = offerAnswers(compiled, session);
  const opened = openTestSession(compiled, markFlow(compiled), { services });
  const steps: FlowTestStep[] = [];
  const take = async (input: string): Promise<boolean> => {
    const { reply, screen, tracks } = await opened.take(input);
    const isEnd = reply.kind === 'end';
    steps.push({
      in: input,
      screen,
      text: reply.text,
      ...(isEnd && { end: true }),
      ...(tracks.length && { track: tracks }),
    });
    return !isEnd;
  };
  const menuHere = (): MenuScreen | undefined => {
    const screen = compiled.screens.get(steps.at(-1)?.screen ?? '')?.screen;
    return screen?.type === 'menu' ? screen : undefined;
  };
  // A message that waits for a key waited for nothing before.
  const goOn = async (): Promise<boolean> => {
    let isOpen = true;
    for (let count = 0; isOpen && isMessage(menuHere()) && count < GO_ON_MAX; count++) isOpen = await take('1');
    return isOpen;
  };
  let isOpen = await take('');
  for (const [at, input] of session.inputs.entries()) {
    isOpen = isOpen && (await goOn());
    if (!isOpen) {
      note(`answer ${at + 1}`, 'The conversation has ended before it.');
      break;
    }
    isOpen = await take(chooseKey(menuHere(), input));
  }
  if (isOpen) await goOn();
  const unused = new Set(opened.listUnused().map(({ pointer }) => pointer));
  const used = Object.entries(services).flatMap(([service, answers]) => {
    const kept = answers.filter((_, at) => !unused.has(`/services/${service}/${at}`));
    return kept.length ? [[service, kept] as const] : [];
  });
  const invented = used.reduce((sum, [, answers]) => sum + answers.length, 0) - session.answers.length;
  if (invented > 0)
    note('webhook', `The session does not say what ${invented} calls were answered; the test answers {}.`);
  return { name, ...(used.length && { services: Object.fromEntries(used) }), steps };
}

/** What each service answers, in turn: the answers of the session, then empty ones. */
function offerAnswers(compiled: CompiledFlow, { answers }: ForeignSession): { [service: string]: MockAnswer[] } {
  const names = [...compiled.screens.values()].flatMap(({ screen }) =>
    screen.type === 'call' ? [screen.service] : [],
  );
  const known = answers.map(
    ({ status, body }): MockAnswer =>
      status >= 200 && status <= 299 ? { return: { status, body } as Json } : { fail: 'ERR_SERVICE' },
  );
  const invented = Array.from({ length: CALLS_MAX }, (): MockAnswer => ({ return: { status: 200, body: {} } }));
  return Object.fromEntries([...new Set(names)].map((name) => [name, [...known, ...invented]]));
}

function isMessage(menu: MenuScreen | undefined): boolean {
  return menu?.options.length === 1 && menu.options[0]!.id === 'ok' && menu.options[0]!.text === 'OK';
}

/** The key of what was answered: a number stays, a name or a text is looked for among the options. */
function chooseKey(menu: MenuScreen | undefined, input: string): string {
  const keys = (menu?.options ?? []).map((option, at) => ({ ...option, key: option.key ?? String(at + 1) }));
  if (keys.some(({ key }) => key === input.trim())) return input.trim();
  const wanted = input.trim().toLowerCase();
  const isMeant = (text: string) => text.toLowerCase() === wanted;
  const found = keys.find(
    ({ id, text }) => isMeant(id) || (typeof text === 'string' ? [text] : Object.values(text)).some(isMeant),
  );
  return found?.key ?? input;
}
