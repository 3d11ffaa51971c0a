// A dialogue on the engine in this process, written down as it goes on: for `twinline replay` on a later version.

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Services } from '../../../lib/engine/service.ts';
import { type ErrorCode, TwinlineError } from '../../../lib/errors.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { type Masks, masks } from '../../../lib/flow/testing/mask.ts';
import type { RecordedCall, RecordedTurn } from '../../../lib/flow/testing/recording.ts';
import type { Host } from '../../boot/host.ts';
import { codeOf } from '../remote.ts';
import type { Call, Line, Phone } from './line.ts';

export interface Recorder {
  /** Notes what services answer. */
  readonly services: (services: Services) => Services;
  /** The same line; what it carries is written down. */
  line(line: Line, on: RecordedLine): Line;
  close(): void;
}

export interface RecordedLine {
  readonly host: Host;
  readonly phone: Phone;
  readonly flow: string;
}

/** Writes into a file, behind what is there. Throws ERR_INPUT when it cannot be written. */
export function recorder(file: string): Recorder {
  const handle = opened(file);
  let calls: RecordedCall[] = [];
  return {
    services: (services) => noted(services, (call) => calls.push(call)),
    line: (line, { host, phone, flow }) => {
      const compiled = host.menus.compiled.get(flow)!;
      const hidden = secretServices(compiled);
      return () => {
        const session = randomUUID();
        const numbers: Masks = masks();
        const call = line();
        let turn = 0;
        let state: string | undefined;
        const type: Call['type'] = async (answer) => {
          const typed = numbers.mask(answer, state === undefined ? undefined : compiled.screens.get(state));
          const shown = await call.type(answer);
          state = (await host.gateway.inspect(call.sessionId))?.state;
          const first = turn++ === 0;
          const said: RecordedTurn = {
            ...{ session, turn, flow, version: compiled.version },
            ...(first && { phone: phone.phoneNumber }),
            ...{ in: typed, text: shown.text, end: shown.kind === 'end' },
            ...(state !== undefined && { state }),
            calls: calls.map((one) => (hidden.has(one.service) && 'return' in one ? { ...one, return: null } : one)),
          };
          calls = [];
          writeSync(handle, `${JSON.stringify(said)}\n`);
          return shown;
        };
        return { ...call, type };
      };
    },
    close: () => closeSync(handle),
  };
}

function opened(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw new TwinlineError('ERR_INPUT', `Cannot write ${file} (${codeOf(error)}). Give another file.`);
  }
}

function noted(services: Services, note: (call: RecordedCall) => void): Services {
  const entries = Object.entries(services).map(([service, serve]): [string, Services[string]] => [
    service,
    async (input, call) => {
      try {
        const answer = await serve(input, call);
        note({ service, return: answer });
        return answer;
      } catch (error) {
        const fail: ErrorCode = error instanceof TwinlineError ? error.code : 'ERR_SERVICE';
        note({ service, fail });
        throw error;
      }
    },
  ]);
  return Object.fromEntries(entries);
}

// What is kept as a secret is no less one in a recording.
function secretServices({ screens }: CompiledFlow): Set<string> {
  const found = [...screens.values()].flatMap(({ screen, scope }) => {
    const isSecret = screen.type === 'call' && screen.save !== undefined && scope.flow.vars?.[screen.save]?.secret;
    return isSecret ? [screen.service] : [];
  });
  return new Set(found);
}
