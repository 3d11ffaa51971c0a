// GATEWAY_FILE: what one deployment of the gateway serves and how, read and checked as a whole.

import { parse as parseText } from '@humanwhocodes/momoa';
import { checkFields, type ReportProblem, readConfigFile } from '../config-file.ts';
import { isObject, requireGiven } from '../given.ts';
import { readJson } from '../json/reader.ts';
import type { JsonForm } from './json/field.ts';
import { GATEWAY_LIMITS } from './limits.ts';
import type { LegacyName, Rewrite } from './route/rewrites.ts';
import { CHECKS } from './settings-checks.ts';

/** What GATEWAY_FILE holds, checked. */
export interface GatewaySettings {
  /** `host:port` of the node. */
  readonly upstream: string;
  /** `ca`: path of a PEM file, relative to the GATEWAY_FILE. */
  readonly tls: boolean | { readonly ca: string };
  /**
   * `grpc-js` of the gRPC project balances over all addresses of a name and takes compressed answers. `http2` is our own
   * client: a whole request costs less than half the CPU.
   */
  readonly channel: 'grpc-js' | 'http2';
  /** Where descriptors come from: a file, relative to the GATEWAY_FILE, or the node itself. */
  readonly descriptors: { readonly kind: 'file'; readonly path: string } | { readonly kind: 'reflection' };
  readonly json: JsonForm;
  /** Path of the deployment → path of the descriptors. Empty: paths are those of the descriptors. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly rewrites: readonly Rewrite[];
  /** Route sets of earlier versions that are served too. */
  readonly legacy: readonly LegacyName[];
  /** Patterns of methods that are answered with 501. */
  readonly disabled: readonly string[];
  /** Status for a path that no route has. */
  readonly unknownRoute: 404 | 501;
  readonly gate:
    | {
        /** Bearer keys, or `sha256:` and the 64 hex digits of the SHA-256 of one. Secret. */
        readonly keys: readonly string[];
        /** Patterns of methods that holders of keys may not call. */
        readonly forbid: readonly string[];
      }
    | undefined;
  /** Names in lower case of headers that go to the node. */
  readonly forwardHeaders: readonly string[];
  readonly deadlineMs: number;
  readonly cache: { readonly ttlMs: number; readonly maxBytes: number } | undefined;
}

const DEFAULTS = {
  tls: false,
  channel: 'grpc-js',
  json: 'cosmos',
  prefixes: {},
  rewrites: [],
  legacy: [],
  disabled: [],
  unknownRoute: 404,
  gate: undefined,
  forwardHeaders: [],
  deadlineMs: GATEWAY_LIMITS.grpcDeadlineMs,
  cache: undefined,
} as const satisfies Partial<GatewaySettings>;

/**
 * The settings that this text (JSON) gives. Throws ERR_CONFIG with every problem at once: `details` names each by its
 * JSON pointer, and no message quotes a key. `source` is the file's name for the message.
 * @example
 * parseGatewayFile('{"upstream":"node:9090","reflection":true}').json; // → 'cosmos'
 * parseGatewayFile('{"upstream":"node:9090"}'); // throws ERR_CONFIG
 */
export function parseGatewayFile(text: string, source = 'The gateway file'): GatewaySettings {
  requireGiven('read settings of the gateway', { text }, { text: 'text' });
  return readConfigFile(source, (report) => read(text, report));
}

function read(text: string, report: ReportProblem): GatewaySettings | undefined {
  const given = parseJson(text, report);
  if (given === undefined) return undefined;
  if (!isObject(given)) {
    report('', 'it must be one JSON object, such as {"upstream":"node:9090","reflection":true}');
    return undefined;
  }
  const { reflection, ...values } = checkFields(given, CHECKS, report);
  if (!Object.hasOwn(given, 'upstream')) report('/upstream', 'missing; give the host:port of the node');
  const path = given.descriptors;
  if ((path === undefined) === (reflection !== true))
    report('/descriptors', 'give either "descriptors" (the path of a FileDescriptorSet) or "reflection": true');
  const descriptors = path === undefined ? { kind: 'reflection' } : { kind: 'file', path };
  const settings = { ...DEFAULTS, ...values, descriptors } as unknown as GatewaySettings;
  if (settings.gate && settings.forwardHeaders.includes('authorization'))
    report('/forwardHeaders', 'authorization cannot go to the node when there is a gate: it holds the key of the gate');
  return settings;
}

function parseJson(text: string, report: ReportProblem): unknown {
  const bytes = Buffer.byteLength(text);
  if (bytes > GATEWAY_LIMITS.gatewayFileBytes) {
    report('', `it has ${bytes} bytes; ${GATEWAY_LIMITS.gatewayFileBytes} are allowed`);
    return undefined;
  }
  const reading = readJson(text);
  if ('value' in reading) return reading.value;
  const { kind, pointer, words } = reading.flaw;
  if (kind === 'syntax') report('', `it is not JSON${placeOfFault(text)}. Check commas, quotes and brackets.`);
  else report(pointer, `it ${words}.`);
  return undefined;
}

function placeOfFault(text: string): string {
  try {
    parseText(text);
  } catch (error) {
    const { line, column } = error as { line?: number; column?: number };
    if (line !== undefined) return ` from line ${line}, column ${column}`;
  }
  return '';
}
