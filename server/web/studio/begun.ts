// New flows from a text: a copy of a flow under another name, or all flows of an export of RapidPro or TextIt with what has no counterpart.

import { TwinlineError } from '../../../lib/errors.ts';
import { convertFlows, isNothing } from '../../../lib/flow/convert/convert.ts';
import { reportLine } from '../../../lib/flow/convert/report.ts';
import { SourceText } from '../../../lib/flow/editing/source-text.ts';
import { formatFile } from '../../../lib/flow/format/write.ts';
import { isObject } from '../../../lib/given.ts';
import type { Json } from '../../../lib/json/json.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { nameFlow } from './manage/renaming.ts';

export interface BegunFlows {
  readonly flows: readonly { readonly flow: string; readonly text: string; readonly tests: string }[];
  /** What an export has that has no counterpart, one line each. */
  readonly report: readonly string[];
}

/** Throws ERR_INPUT for a text that is neither. */
export function beginFlows(
  { flow, text }: { readonly flow: string; readonly text: string },
  tests: string,
): BegunFlows {
  const value = new SourceText(text).value();
  if (isObject(value) && isObject(value.screens))
    return {
      flows: [{ flow, text: nameFlow(text, flow), tests: tests === '' ? '' : nameFlow(tests, flow) }],
      report: [],
    };
  const converted = convertFlows(text, { file: `${flow}.json`, contracts: CONTRACTS });
  if (isNothing(converted))
    throw new TwinlineError(
      'ERR_INPUT',
      'The file is neither a flow nor an export of RapidPro or TextIt with a screen that says anything.',
    );
  return {
    flows: converted.flows.map((one) => ({ flow: one.flow, text: formatFile(one as unknown as Json), tests: '' })),
    report: converted.report.map(reportLine),
  };
}
