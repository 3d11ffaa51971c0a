// The commands, in the order of the help. Each is imported on demand, because loading the dependencies of all takes longer than running
// most of them.

import type { LoadedVerb, Verb } from './verb.ts';

export interface ListedVerb {
  /** One sentence without a full stop. */
  readonly summary: string;
  load(): Promise<Verb>;
}

export const VERBS: Readonly<Record<string, ListedVerb>> = {
  new: {
    summary: 'Begin a project from a template, with tests that pass',
    load: async () => (await import('./verbs/new.ts')).newVerb,
  },
  start: {
    summary: 'Start the server; every flag is also an environment variable',
    load: async () => (await import('./verbs/start.ts')).startVerb,
  },
  chat: {
    summary: 'Dial with a phone in the terminal; without --url nothing is kept',
    load: async () => (await import('./phone/chat.ts')).chatVerb,
  },
  lint: {
    summary: 'Check the menus: 0 without errors, 1 with',
    load: async () => (await import('./menus/lint.ts')).lintVerb,
  },
  test: {
    summary: 'Run the tests beside the flows: 0 when all pass and there is one, else 1',
    load: async () => (await import('./menus/test.ts')).testVerb,
  },
  graph: {
    summary: 'Draw flows and machines: SVG, Mermaid, or a machine for XState and Stately',
    load: async () => (await import('./menus/graph.ts')).graphVerb,
  },
  convert: {
    summary: 'Make flows of the menus that RapidPro or TextIt exported',
    load: async () => (await import('./menus/convert.ts')).convertVerb,
  },
  inspect: {
    summary: 'Watch the sessions of a running server: states as they light up, events, time travel',
    load: async () => (await import('./verbs/inspect.ts')).inspectVerb,
  },
  replay: {
    summary: 'Type recorded dialogues again on the flows of today: 0 when callers see the same, 1 otherwise',
    load: async () => (await import('./phone/replay.ts')).replayVerb,
  },
  routes: {
    summary: 'List every route: who may ask, how often, and how large bodies may be',
    load: async () => (await import('./verbs/routes.ts')).routesVerb,
  },
  gateway: {
    summary: 'List the routes of the query gateway with their methods and query parameters',
    load: async () => (await import('./verbs/routes.ts')).gatewayVerb,
  },
  config: {
    summary: 'Show every setting, its value here, and where it came from',
    load: async () => (await import('./verbs/config.ts')).configVerb,
  },
  doctor: {
    summary: 'Check settings, stores, keys, clocks, limits and menus: 0 when nothing is broken, 1 otherwise',
    load: async () => (await import('./verbs/config.ts')).doctorVerb,
  },
  upgrade: {
    summary:
      'Say what the stores hold, in which formats, and whether this version reads it: 0 when it does, 1 otherwise',
    load: async () => (await import('./verbs/upgrade.ts')).upgradeVerb,
  },
  audit: {
    summary: 'Show what operators and votes have done, and check that the log of it is whole',
    load: async () => (await import('./verbs/audit.ts')).auditVerb,
  },
  account: {
    summary: 'Show how the account of a phone number stands, or unlock it',
    load: async () => (await import('./verbs/account.ts')).accountVerb,
  },
  caller: {
    summary: 'Tell what happened to the caller with a phone number: turns, failures and living sessions',
    load: async () => (await import('./verbs/caller.ts')).callerVerb,
  },
  import: {
    summary: 'Bring domains, entities and protocols into a running server: 0 when every line was taken, 1 otherwise',
    load: async () => (await import('./verbs/import.ts')).importVerb,
  },
  export: {
    summary: 'Take everything of a tenant out of a running server, as lines that import takes back',
    load: async () => (await import('./verbs/export.ts')).exportVerb,
  },
  move: {
    summary: 'Move all that the stores hold: from one machine to Redis and MongoDB, and back',
    load: async () => (await import('./verbs/move.ts')).moveVerb,
  },
  backup: {
    summary: 'Copy DATA_DIR into a folder while servers run, with hashes',
    load: async () => (await import('./verbs/backup.ts')).backupVerb,
  },
  restore: {
    summary: 'Check a backup, or put it into an empty DATA_DIR',
    load: async () => (await import('./verbs/backup.ts')).restoreVerb,
  },
  token: {
    summary: 'Make a token to talk to the agent with, or say what a token holds',
    load: async () => (await import('./verbs/token.ts')).tokenVerb,
  },
  completion: {
    summary: 'Print a script that completes verbs and flags in a shell',
    load: async () => (await import('./verbs/completion.ts')).completionVerb(loadVerbs),
  },
};

/** The command with this name. */
export async function findVerb(name: string): Promise<LoadedVerb | undefined> {
  const listed = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  return listed && { ...(await listed.load()), summary: listed.summary };
}

/** All commands by name, for completions and documentation of their flags. */
export async function loadVerbs(): Promise<Readonly<Record<string, LoadedVerb>>> {
  const entries = Object.keys(VERBS).map(async (name) => [name, (await findVerb(name))!] as const);
  return Object.fromEntries(await Promise.all(entries));
}
