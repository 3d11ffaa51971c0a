// A server's life as a process: what it prints at its start, which signals it handles, and the codes it ends with.

import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { TwinlineError } from '../../lib/errors.ts';
import { problemLine } from '../../lib/flow/format/problem.ts';
import { FLOW_TEST_FILE } from '../../lib/flow/testing/file.ts';
import { failureText } from '../../lib/flow/testing/run.ts';
import { type Config, readConfig, readNamed } from '../config/config.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { findPlugin } from '../config/modules.ts';
import { environmentRedactor } from '../config/secrets.ts';
import { findNamedProblems } from '../doctor/named.ts';
import { EXIT_CONFIG, isConfigError } from '../http/errors.ts';
import { checkMenus } from '../menus/check.ts';
import { type Log, pluginLog } from '../telemetry/log.ts';
import { welcome } from './notices.ts';
import { type RunningServer, startServer } from './start.ts';

/** A second signal within this time is the first one again: shells send it to the whole process group. */
const SAME_SIGNAL_MS = 2_000;

/** For the stores to close, after all else has ended. */
const GRACE_MS = 3_000;

/** From a signal to the end of the process, at most: supervisors have to wait longer before they kill it. */
export const longestStopMs = ({ drainDelayMs }: Pick<Config, 'drainDelayMs'>): number =>
  drainDelayMs + SERVER_LIMITS.drainMs + GRACE_MS;

/** Runs a server until a signal or a fatal error ends the process. */
export async function runServer(env: NodeJS.ProcessEnv): Promise<void> {
  // What lives on after a turn is little: four threads that help to collect the rest spend 4 µs per request on being
  // woken, and the pauses are as short without them (measured).
  setFlagsFromString('--no-parallel-scavenge');
  const { config, problems } = readConfig(env, { makeKeys: true });
  if (!config) {
    const lines = [...problems, ...(await findNamedProblems(readNamed(env), { alsoMenus: true }))];
    return quit(EXIT_CONFIG, environmentRedactor(env).text(lines.join('\n')).split('\n'));
  }
  // Without a listener, Node opens its debugger, which can read every key.
  if (config.production) process.on('SIGUSR1', () => {});
  const server = await start(config);
  if (!server) return;
  stopOnSignals(server, config);
  stopOnTrouble(server, config);
  process.on('SIGHUP', () => void server.refresh());
  // Last: a reader of this line may send a signal at once.
  if (config.production) server.log.info({ url: server.url, host: config.host }, 'listening');
  else {
    console.log(welcome(config, server).join('\n'));
    await warnOfTests(config, server.log).catch((err) => server.log.error({ err }, 'the tests of menus were not run'));
  }
}

// A start serves what compiles: an edit that was refused while a server ran is served after a restart.
async function warnOfTests({ menusDir }: Config, log: Log): Promise<void> {
  const { problems, reports } = await checkMenus({ folder: menusDir });
  for (const problem of problems) if (problem.file.endsWith(FLOW_TEST_FILE)) log.warn(problemLine(problem));
  for (const { flow, tests } of reports)
    for (const { name, failures } of tests)
      for (const failure of failures)
        log.warn(`flow "${flow}" is served, but its test "${name}" fails: ${failureText(failure)}`);
}

async function start(config: Config): Promise<RunningServer | undefined> {
  try {
    return await startServer(config);
  } catch (error) {
    const words = error instanceof TwinlineError ? error.message : inspect(error);
    const code = error instanceof TwinlineError && isConfigError(error) ? EXIT_CONFIG : 1;
    quit(code, config.redact.text(words).split('\n'));
    return undefined;
  }
}

function quit(code: number, lines: readonly string[]): void {
  for (const line of lines) console.error(line);
  process.exitCode = code;
}

// close-with-grace ends at once on any second signal, also when a group's signal comes twice.
function stopOnSignals(server: RunningServer, config: Config): void {
  let first: number | undefined;
  const giveUp = () => {
    server.log.error('stopping takes too long');
    process.exit(1);
  };
  const handleSignal = (signal: NodeJS.Signals) => {
    if (first !== undefined) {
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    first = performance.now();
    server.log.info({ signal }, 'stopping');
    setTimeout(giveUp, longestStopMs(config)).unref();
    void server.close().then(
      () => process.exit(0),
      (error) => {
        server.log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', handleSignal);
  process.on('SIGINT', handleSignal);
}

// After an uncaught error the state is unknown: requests in progress are answered, then the process ends.
function stopOnTrouble(server: RunningServer, config: Config): void {
  let stopping = false;
  const stop = (kind: string) => (error: unknown) => {
    tellTrouble(error, { kind, log: server.log, config });
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), longestStopMs({ drainDelayMs: 0 })).unref();
    void server.close({ drainDelayMs: 0 }).finally(() => process.exit(1));
  };
  process.on('uncaughtException', stop('an error was not caught'));
  process.on('unhandledRejection', stop('a rejection was not handled'));
}

// It never throws: what was thrown may be anything, and an error here would end the process in the middle of its requests.
function tellTrouble(error: unknown, { kind, log, config }: { kind: string; log: Log; config: Config }): void {
  try {
    const plugin = findPlugin(error);
    (plugin === undefined ? log : pluginLog(log, plugin, config)).fatal({ err: error }, kind);
  } catch {
    log.fatal(kind);
  }
}
