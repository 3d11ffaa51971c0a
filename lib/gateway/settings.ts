// GATEWAY_FILE: what a deployment of the gateway serves and how; parsed and validated as a whole.

import { parse as parseText } from '@humanwhocodes/momoa';
import { checkFields, type ReportProblem, readConfigFile } from '../config-file.ts';
import { isObject, requireGiven } from '../given.ts';
import { readJson } from '../json/reader.ts';
import type { JsonForm } from './json/field.ts';
import { GATEWAY_LIMITS } from './limits.ts';
import type { LegacyName, Rewrite } from './route/rewrites.ts';
import { CHECKS } from './settings-checks.ts';

/** The validated GATEWAY_FILE. */
export interface GatewaySettings {
  /** `host:port` of the node. */
  readonly upstream: string;
  /** `ca`: path of a PEM file, relative to the GATEWAY_FILE. */
  readonly tls: boolean | { readonly ca: string };
  /**
   * `grpc-js`, the gRPC project's client, balances over all addresses of a name and accepts compressed replies. `http2` is
   * our own client: a request costs less than half the CPU.
   */
  readonly channel: 'grpc-js' | 'http2';
  /** The source of descriptors: a file, relative to the GATEWAY_FILE, or the node itself. */
  readonly descriptors: { readonly kind: 'file'; readonly path: string } | { readonly kind: 'reflection' };
  readonly json: JsonForm;
  /** Deployment path → descriptor path. Empty: paths are those of the descriptors. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly rewrites: readonly Rewrite[];
  /** Route sets of earlier versions to serve as well. */
  readonly legacy: readonly LegacyName[];
  /** Patterns of methods to answer with 501. */
  readonly disabled: readonly string[];
  /** Status for an unknown path. */
  readonly unknownRoute: 404 | 501;
  readonly gate:
    | {
        /** Bearer keys, or `sha256:` with the hex SHA-256 of one. Secret. */
        readonly keys: readonly string[];
        /** Patterns of methods that key holders may not call. */
        readonly forbid: readonly string[];
      }
    | undefined;
  /** Lower-case names of headers forwarded to the node. */
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
 * Parses the settings from JSON text. Throws ERR_CONFIG with all problems at once: `details` gives each by JSON pointer, and
 * no message quotes a key. `source` names the file in messages.
 * @example
 * parseGatewayFile('{"upstream":"node:9090","reflection":true}').json; // → 'cosmos'
 * parseGatewayFile('{"upstream":"node:9090"}'); // throws ERR_CONFIG
 */
export function parseGatewayFile(text: string, source = 'The gateway file'): GatewaySettings {
  requireGiven('read settings of the gateway', { text }, { text: 'text' });
  return readConfigFile(source, (report) => read(text, report));
}

function read(text: string, report: ReportProblem): GatewaySettings | undefined {
  const file = parseJson(text, report);
  if (file === undefined) return undefined;
  if (!isObject(file)) {
    report('', 'it must be one JSON object, such as {"upstream":"node:9090","reflection":true}');
    return undefined;
  }
  const { reflection, ...values } = checkFields(file, CHECKS, report);
  if (!Object.hasOwn(file, 'upstream')) report('/upstream', 'missing; give the host:port of the node');
  const path = file.descriptors;
  if ((path === undefined) === (reflection !== true))
    report('/descriptors', 'give either "descriptors" (the path of a FileDescriptorSet) or "reflection": true');
  const descriptors = path === undefined ? { kind: 'reflection' } : { kind: 'file', path };
  const settings = { ...DEFAULTS, ...values, descriptors } as unknown as GatewaySettings;
  if (settings.gate && settings.forwardHeaders.includes('authorization'))
    report('/forwardHeaders', "authorization cannot be forwarded when there is a gate: it carries the gate's key");
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
