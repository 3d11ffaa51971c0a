// `twinline replay`: replays recorded dialogues on the current version of a flow and reports turns that differ.

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { invalidFlow } from '../../../lib/flow/format/load.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { type MarkedFlow, markFlow } from '../../../lib/flow/testing/coverage.ts';
import { FLOW_TEST_FILE } from '../../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import {
  type Dialogue,
  parseRecording,
  type ReplayedTurn,
  replayDialogue,
  toDialogues,
} from '../../../lib/flow/testing/replay.ts';
import { cutFlowName, listRefused, type MenuFolder, readDoors, readMenus } from '../../menus/menus.ts';
import { formatCoverageTable } from '../menus/test.ts';
import { formatCount } from '../terminal.ts';
import { findMenusDir, UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  flow: { type: 'string' },
  'menus-dir': { type: 'string' },
  coverage: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const replayVerb: Verb = {
  usage: '<recording…> [options]',
  options: {
    '--flow <file|name>': 'the flow that answers; default the one that was recorded',
    '--menus-dir <folder>': 'MENUS_DIR: where flows are',
    '--coverage': 'a table of the screens, options and ways that the dialogues go through',
    '--json': 'every turn as JSON',
    '(recordings)': `of chat --record, or *${FLOW_TEST_FILE}; services answer as they did then`,
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (!positionals.length) throw new UsageError('Give at least one recording.');
    if (values.coverage && values.json) throw new UsageError('Choose --coverage or --json.');
    const dialogues = positionals.flatMap(readDialogues);
    const isFile = values.flow?.endsWith(FLOW_FILE) === true;
    const folder = isFile ? dirname(resolve(values.flow!)) : (values['menus-dir'] ?? findMenusDir(env));
    const name = isFile ? cutFlowName(values.flow!) : values.flow;
    const flows = await readFlows(dialogues, { folder, name, doors: readDoors(env, folder) });
    const replays: Replay[] = [];
    const marked = new Map<string, MarkedFlow>();
    for (const dialogue of dialogues) {
      const flow = flows.get(name ?? dialogue.flow)!;
      if (!marked.has(flow.id)) marked.set(flow.id, markFlow(flow));
      replays.push({ dialogue, flow, turns: await replayDialogue(flow, dialogue, marked.get(flow.id)) });
    }
    console.log(values.json ? JSON.stringify(replays.map(replayJson), null, 2) : formatReplays(replays));
    const covered = [...marked].map(([flow, one]) => ({ flow, coverage: one.coverage() }));
    for (const line of values.coverage ? formatCoverageTable(covered) : []) console.log(line);
    return replays.some(({ turns }) => turns.some(isDifferent)) ? 1 : 0;
  },
};

interface Replay {
  readonly dialogue: Dialogue;
  readonly flow: CompiledFlow;
  readonly turns: readonly ReplayedTurn[];
}

function readDialogues(file: string): Dialogue[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`Cannot read ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
  if (!file.endsWith(FLOW_TEST_FILE)) return parseRecording(text, file);
  const { file: tests, problems } = parseFlowTests(text, file);
  if (!tests) throw invalidFlow(`Cannot read the dialogues of ${file}.`, problems);
  return toDialogues(tests);
}

interface RecordingPlace {
  readonly folder: string;
  /** Of the flow that answers all of them. */
  readonly name: string | undefined;
  readonly doors: MenuFolder['doors'];
}

async function readFlows(dialogues: readonly Dialogue[], { folder, name, doors }: RecordingPlace) {
  const menus = await readMenus({ folder, doors });
  const { compiled } = menus;
  const missing = dialogues.map(({ flow }) => name ?? flow).find((flow) => !compiled.has(flow));
  if (missing === undefined) return compiled;
  const words = `${folder} has no sound flow "${missing}".${suggest(missing, compiled.keys())}`;
  throw new UsageError([words, ...listRefused(menus)].join('\n'));
}

const isDifferent = ({ outcome }: ReplayedTurn) => outcome === 'different';

function replayJson({ dialogue: { name, version }, flow, turns }: Replay) {
  return { dialogue: name, flow: flow.id, recorded: version ?? null, version: flow.version, turns };
}

function formatReplays(replays: readonly Replay[]): string {
  const turns = replays.flatMap((replay) => replay.turns);
  const count = (outcome: ReplayedTurn['outcome']) => turns.filter((turn) => turn.outcome === outcome).length;
  const sum = `${count('same')} same, ${count('moved')} moved, ${count('different')} different`;
  return [
    ...replays.flatMap(formatReplay),
    `${formatCount(replays.length, 'dialogue')}, ${formatCount(turns.length, 'turn')}: ${sum}`,
  ].join('\n');
}

function formatReplay({ dialogue: { name, version }, flow, turns }: Replay): string[] {
  const versions = version === undefined ? `version ${flow.version}` : `version ${version} → ${flow.version}`;
  return [pc.bold(`${name} (${flow.id}, ${versions})`), ...turns.flatMap(formatTurn)];
}

const MARKS: { readonly [outcome in ReplayedTurn['outcome']]: (line: string) => string } = {
  same: (line) => `${pc.green('✓')} ${line}`,
  moved: (line) => pc.yellow(`~ ${line}`),
  different: (line) => pc.red(`✘ ${line}`),
};

function formatTurn({ turn, typed, outcome, message = '', details = [] }: ReplayedTurn): string[] {
  const what = turn === 1 ? 'dialled' : typed === '' ? '' : `typed ${typed}`;
  const line = [String(turn), what, message].filter(Boolean).join('  ');
  return [`  ${MARKS[outcome](line)}`, ...details.map((detail) => `      ${detail}`)];
}
