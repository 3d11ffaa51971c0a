// The options of DID resolution and their values, and the errors of W3C DID Resolution.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { cutText } from '../../errors.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { parseMoment } from '../moment.ts';

/** Options as clients give them: names and texts. */
export type GivenOptions = readonly (readonly [string, string])[];

export interface ResolutionOptions {
  /** A revision. */
  readonly versionId?: string;
  /** Milliseconds since 1970, and of which moment the client spoke: a whole second lasts until the next. */
  readonly versionTime?: { readonly from: number; readonly to: number };
  readonly service?: string;
  readonly serviceType?: string;
  readonly relativeRef?: string;
}

// What is read every time anew and always absolute needs neither of these two.
const SWITCHES = new Set(['noCache', 'expandRelativeUrls']);
const TEXTS = ['versionId', 'service', 'serviceType', 'relativeRef'] as const;
const KNOWN = new Set<string>([...SWITCHES, ...TEXTS, 'versionTime']);

/** Reads the options; one that is given twice is refused. */
export function readOptions(options: GivenOptions): ResolutionOptions | Failed {
  const values = new Map<string, string>();
  for (const [name, value] of options) {
    if (!KNOWN.has(name)) return makeFailure('FEATURE_NOT_SUPPORTED', `There is no option ${quote(name)} here.`);
    if (values.has(name)) return makeFailure('INVALID_OPTIONS', `${name} is given more than once.`);
    if (value.length > DOMAIN_LIMITS.resolutionOptionChars)
      return makeFailure(
        'INVALID_OPTIONS',
        `${name} has ${value.length} characters; ${DOMAIN_LIMITS.resolutionOptionChars} are allowed.`,
      );
    values.set(name, value);
  }
  const wrong = [...values].find(([name, value]) => !isValid(name, value));
  if (wrong) return makeFailure('INVALID_OPTIONS', `${wrong[0]}=${quote(wrong[1])} is not one of its values.`);
  if (values.has('versionId') && values.has('versionTime'))
    return makeFailure('INVALID_OPTIONS', 'versionId and versionTime exclude each other.');
  if (values.has('relativeRef') && !values.has('service') && !values.has('serviceType'))
    return makeFailure('INVALID_OPTIONS', 'relativeRef needs service or serviceType.');
  const time = values.get('versionTime');
  const texts = TEXTS.flatMap((name) => (values.has(name) ? [[name, values.get(name)!]] : []));
  return { ...Object.fromEntries(texts), ...(time !== undefined && { versionTime: readSecond(time) }) };
}

const quote = (text: string) => JSON.stringify(cutText(text, COMMON_LIMITS.quotedChars));

function isValid(name: string, value: string): boolean {
  if (SWITCHES.has(name)) return value === 'true' || value === 'false';
  if (name === 'versionTime') return !Number.isNaN(parseMoment(value));
  return value !== '';
}

// `updated` of a document has no fractions: the version that it names was written within that second.
function readSecond(text: string): { from: number; to: number } {
  const from = parseMoment(text);
  return { from, to: text.includes('.') ? from : from + 999 };
}

export const RESOLUTION_ERRORS = {
  INVALID_DID: { title: 'This is no DID' },
  INVALID_DID_URL: { title: 'This is no DID URL that can be followed' },
  INVALID_OPTIONS: { title: 'An option has a value that it cannot have' },
  NOT_FOUND: { title: 'Nothing is known under this DID' },
  REPRESENTATION_NOT_SUPPORTED: { title: 'No form that the client accepts' },
  INTERNAL_ERROR: { title: 'The resolution failed' },
  METHOD_NOT_SUPPORTED: { title: 'DIDs of this method are not resolved here' },
  FEATURE_NOT_SUPPORTED: { title: 'This option is not supported' },
} as const;

export type ResolutionCode = keyof typeof RESOLUTION_ERRORS;

/** A resolution that did not succeed; `detail` says why. */
export interface Failed {
  readonly kind: 'failed';
  readonly code: ResolutionCode;
  readonly detail: string;
}

export function makeFailure(code: ResolutionCode, detail: string): Failed {
  return { kind: 'failed', code, detail };
}
