// From the environment to values: every variable read and checked, all problems reported at once, and no secret shown.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { findNearest, suggest } from '../../lib/flow/expression/suggest.ts';
import { ensureKey, findKey, type SourcedText } from './data-dir.ts';
import type { Fault, Setting } from './kinds.ts';
import type { FoundSetting } from './secrets.ts';
import { maskSetting } from './secrets.ts';
import { SETTINGS, type SettingName, type SettingValues } from './settings.ts';

export interface SettingsReading {
  readonly entries: readonly FoundSetting[];
  /** Present when nothing is wrong. */
  readonly values?: SettingValues;
  /** In the place of what is wrong the defaults; keys may be missing. */
  readonly usable: SettingValues;
  /** One line for each thing that is wrong. */
  readonly problems: readonly string[];
}

export interface ReadOptions {
  /** Whether missing keys are made and kept, or only looked for. @default false */
  readonly makeKeys?: boolean;
}

const ROWS = Object.entries(SETTINGS) as [SettingName, Setting][];

/** Reads all settings. Never throws; a folder that cannot hold keys is a problem like any other. */
export function readSettings(env: NodeJS.ProcessEnv, options: ReadOptions = {}): SettingsReading {
  const production = env.NODE_ENV?.trim() === 'production';
  const dataDir = env.DATA_DIR?.trim() || SETTINGS.DATA_DIR.default;
  const problems: string[] = [];
  const entries = ROWS.map(([name, row]): FoundSetting => {
    const text = env[name]?.trim();
    const file = row.secret === undefined ? undefined : env[`${name}${FILE}`]?.trim();
    if (file) return { name, ...readSecret({ name, file, isSet: Boolean(text) }, problems) };
    if (text) return { name, text, source: 'environment' };
    if (row.generated && !production) {
      const found = findOrMakeKey(row, {
        dataDir,
        options,
        problem: (why) =>
          problems.push(
            `${name}: ${why} Make it writable for this user, set DATA_DIR to another folder, or set ${name} itself.`,
          ),
      });
      return { name, text: found?.text, source: found?.source ?? 'made at the first start' };
    }
    const fallback = (production ? row.productionDefault : undefined) ?? row.default;
    if (row.generated)
      problems.push(problemLine(name, undefined, 'is not set, and production makes no keys of its own'));
    return { name, text: fallback || undefined, source: 'default' };
  });
  const values = Object.fromEntries(entries.flatMap(({ name, text }) => (text ? [[name, read(name, text)]] : [])));
  problems.push(...findWrongValues(entries, values), ...findContradictions(values as unknown as SettingValues, env));
  if (problems.length) return { entries, problems, usable: readUsable(entries) };
  const usable = values as unknown as SettingValues;
  return { entries, problems, usable, values: usable };
}

function readUsable(entries: readonly FoundSetting[]): SettingValues {
  const usable = entries.flatMap(({ name, text }) => {
    const row: Setting = SETTINGS[name];
    const value = text && row.kind.read(text);
    if (value !== undefined && value !== '' && !row.kind.findFault(value)) return [[name, value] as const];
    return row.default ? [[name, row.kind.read(row.default)] as const] : [];
  });
  return Object.fromEntries(usable) as unknown as SettingValues;
}

/** A setting that is secret can stand in a file, as Docker and Kubernetes mount secrets: `PIN_ENCRYPTION_KEY_FILE` names it. */
const FILE = '_FILE';

interface SecretFile {
  readonly name: SettingName;
  readonly file: string;
  /** Whether the setting itself is set as well. */
  readonly isSet: boolean;
}

function readSecret(
  { name, file, isSet }: SecretFile,
  problems: string[],
): SourcedText | { source: string; text: undefined } {
  const tell = (why: string) => problems.push(`${name}${FILE}=${JSON.stringify(file)}: ${why}`);
  if (isSet) tell(`${name} is set as well. Keep one of them.`);
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text) return { text, source: file };
    tell(`the file ${resolve(file)} is empty. Write the value into it, without quotes.`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    tell(`the file ${resolve(file)} cannot be read (${code}). Set the path of a file that this user may read.`);
  }
  return { text: undefined, source: file };
}

/** Variables that are no settings, and the setting that each most probably means: one or two letters differ. */
export function findMisspelt(env: NodeJS.ProcessEnv): Misspelt[] {
  const known = ROWS.map(([name]) => name);
  return Object.keys(env).flatMap((name) => {
    // Short names of others, such as HOME, are near to short settings.
    if (name.length < SHORTEST_MISSPELT || Object.hasOwn(SETTINGS, name)) return [];
    const nearest = findNearest(name, known);
    return nearest && nearest.edits <= 2 ? [{ name, meant: nearest.name }] : [];
  });
}

const SHORTEST_MISSPELT = 6;

export interface Misspelt {
  readonly name: string;
  readonly meant: string;
}

/** The variable, its value masked, what is wrong with it, and what to do. */
function problemLine(name: SettingName, text: string | undefined, why: string): string {
  const shown = text === undefined ? '' : `=${maskSetting(name, text)}`;
  return `${name}${shown}: ${why}${/[.?]$/.test(why) ? '' : '.'} ${SETTINGS[name].fix}`;
}

interface KeyPlace {
  readonly dataDir: string;
  readonly options: ReadOptions;
  readonly problem: (why: string) => void;
}

function findOrMakeKey({ generated }: Setting, { dataDir, options, problem }: KeyPlace): SourcedText | undefined {
  try {
    return options.makeKeys ? ensureKey(generated!, dataDir) : findKey(generated!, dataDir);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'it cannot be used';
    problem(`no key can be kept in the folder DATA_DIR=${JSON.stringify(dataDir)} (${why}).`);
    return undefined;
  }
}

function read(name: SettingName, text: string): unknown {
  const row: Setting = SETTINGS[name];
  return row.kind.read(text);
}

function findWrongValues(entries: readonly FoundSetting[], values: { readonly [name: string]: unknown }): string[] {
  return entries.flatMap(({ name, text, source }) => {
    if (text === undefined) return [];
    const row: Setting = SETTINGS[name];
    const fault = row.kind.findFault(values[name]);
    const place = row.generated && source !== 'environment' ? ` (in ${source})` : '';
    return fault ? [problemLine(name, text, `${describeFault(row, text, fault)}${place}`)] : [];
  });
}

function describeFault({ kind }: Setting, text: string, { items }: Fault): string {
  const which = items.length ? ` (wrong: number ${items.join(', ')})` : '';
  const near = kind.names ? suggest(text, kind.names) : '';
  return `must be ${kind.words}${which}${near && `.${near}`}`;
}

// Node reads `_` in its options as `-`.
const DEBUGGER = /--(?:inspect|debug[-_]port)[^\s'"]*/g;
const OPERATOR_TOKEN_CHARS = 24;

function findContradictions(values: Partial<SettingValues>, env: NodeJS.ProcessEnv): string[] {
  const found: string[] = [];
  const { CORS_ORIGIN: origins, PORT, METRICS_PORT } = values;
  if (Array.isArray(origins) && origins.length > 1 && origins.includes('*'))
    found.push(problemLine('CORS_ORIGIN', origins.join(','), '* stands alone: it allows every origin already'));
  if (typeof PORT === 'number' && PORT > 0 && PORT === METRICS_PORT)
    found.push(problemLine('METRICS_PORT', String(METRICS_PORT), 'is the same as PORT'));
  if (values.MODEL_BASE_URL !== undefined && values.MODEL_NAME === undefined)
    found.push(problemLine('MODEL_NAME', undefined, 'is not set, and MODEL_BASE_URL is: which model is to be asked?'));
  for (const name of ['MODEL_BASE_URL', 'MODEL_LIST', 'MODEL_API_KEY'] as const)
    if (values.MODEL !== undefined && values[name] !== undefined)
      found.push(problemLine('MODEL', values.MODEL, `and ${name} are both set: a module, or an endpoint?`));
  const { USSD_GATEWAYS: gateways } = values;
  if (Array.isArray(gateways) && gateways.length > 1 && gateways.includes('*'))
    found.push(problemLine('USSD_GATEWAYS', gateways.join(','), '* stands alone: it admits everybody already'));
  const { CREDITS_HELD_PER_RUN: held, CREDITS_PER_RUN: cost } = values;
  if (typeof held === 'number' && typeof cost === 'number' && held < cost)
    found.push(
      problemLine(
        'CREDITS_HELD_PER_RUN',
        String(held),
        `is less than CREDITS_PER_RUN=${cost}: replies at once would cost more than an account has`,
      ),
    );
  if (values.NODE_ENV !== 'production') return found;
  if (values.PUBLIC_URL === undefined)
    found.push(
      problemLine('PUBLIC_URL', undefined, 'is not set: credentials would name an address that nobody else reaches'),
    );
  if (gateways === undefined)
    found.push(
      problemLine(
        'USSD_GATEWAYS',
        undefined,
        'is not set: every client that reaches the server could speak for any phone',
      ),
    );
  const { OPERATOR_TOKEN: tokens } = values;
  if (Array.isArray(tokens) && tokens.some(({ length }) => length < OPERATOR_TOKEN_CHARS))
    found.push(problemLine('OPERATOR_TOKEN', tokens.join(','), `must have ${OPERATOR_TOKEN_CHARS} characters or more`));
  const nodeOptions = [`NODE_OPTIONS=${env.NODE_OPTIONS ?? ''}`, ...process.execArgv].join(' ');
  for (const [option] of nodeOptions.matchAll(DEBUGGER))
    found.push(`${option}: a debugger can read every key. Start node without it in production, and NODE_OPTIONS too.`);
  return found;
}
